/** Parses JSON. A whole number whose digits JavaScript cannot hold becomes a text of them, as a BigInt does. */
export function parseJson(text: string): unknown {
  return JSON.parse(longNumber.test(text) ? withQuotedNumbers(text) : text)
}

const longNumber = /\d{16}/
const longNumbers = /(?<![\d.eE+-])-?[1-9]\d{15,}(?![\d.eE])/g

function withQuotedNumbers(text: string): string {
  let quoted = ''
  for (let at = 0; at < text.length; ) {
    const start = indexOrEnd(text, '"', at)
    const end = endOfText(text, start)
    const between = text.slice(at, start)
    quoted += between.replace(longNumbers, (digits) => (String(Number(digits)) === digits ? digits : `"${digits}"`))
    quoted += text.slice(start, end)
    at = end
  }
  return quoted
}

/** The position behind the text of JSON that begins here. */
function endOfText(text: string, start: number): number {
  for (let end = start + 1; ; end++) {
    end = indexOrEnd(text, '"', end)
    let escapes = 0
    while (text[end - 1 - escapes] === '\\') escapes++
    if (escapes % 2 === 0 || end === text.length) return end + 1
  }
}

function indexOrEnd(text: string, sign: string, from: number): number {
  const index = text.indexOf(sign, from)
  return index === -1 ? text.length : index
}
