const isAscii = /^[\0-\x7f]*$/

/** The words of a text, in their order: runs of letters and digits, without case and accents. */
export function wordsIn(text: string): readonly string[] {
  const plain = isAscii.test(text)
    ? text.toLowerCase()
    : withoutAccents(text)
        .replace(/\P{ASCII}/gu, smallLetter)
        .toLowerCase()
  return plain.match(/[\p{L}\p{N}\p{Co}]+/gu) ?? []
}

/**
 * The words of a message as a person sees it. In strings of JSON, escapes are what they stand for, also where the JSON is within a string of other
 * JSON; codes that colour a terminal are nothing, and its other codes stand between words.
 */
export function messageWords(message = ''): readonly string[] {
  return wordsIn(seen(message))
}

function seen(text: string): string {
  const read = text.includes('\\')
    ? text.replace(jsonString, (all, before, inner, end) => {
        return end === undefined || !inner.includes('\\')
          ? all
          : `${before}"${seen(inner.replace(jsonEscape, signOf))}"`
      })
    : text
  return codeBegin.test(read) ? read.replace(colourCode, '').replace(terminalCode, ' ') : read
}

/**
 * A string of JSON: it follows a bracket, a comma or a colon, and one of these follows it. Other texts in quotation marks are no JSON, such as a path
 * of Windows. A match without an end is passed over as a whole, so that the time is in proportion to the text.
 */
const jsonString = /([{[:,]\s*)"((?:[^"\\\n]|\\.)*)("(?=\s*[\]}:,]))?/g
const jsonEscape = /\\(?:u([\da-fA-F]{4})|(.))/g

function signOf(_: string, code: string | undefined, sign: string): string {
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16))
  return 'nrtbf'.includes(sign) ? ' ' : sign
}

const [esc, csi, bell] = [0x1b, 0x9b, 0x07].map((code) => String.fromCharCode(code))
/** A code of a terminal begins with one of these. */
const codeBegin = new RegExp(`[${esc}${csi}]`)
const colourCode = new RegExp(`(?:${esc}\\[|${csi})[\\d;:]*m`, 'g')
/** A sequence for the cursor and the screen, or a text for the terminal itself, such as a link. */
const terminalCode = new RegExp(
  `(?:${esc}\\[|${csi})[0-?]*[ -/]*[@-~]|${esc}\\][^${bell}${esc}]*(?:${bell}|${esc}\\\\)?`,
  'g',
)

function withoutAccents(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '')
}

/** The same for all small forms of a letter: two of sigma, and the micro sign, which is mu. ß has no capital letter of its own. */
function smallLetter(letter: string): string {
  const capital = letter.toUpperCase()
  return capital.length === letter.length ? capital.toLowerCase() : letter
}

/** Words that stand next to each other in a message. */
export type Phrase = readonly string[]

/** The words of each run of characters between spaces: a run of several words must be found as it is. */
export function phrasesIn(text = ''): Phrase[] {
  return text
    .split(/\s+/)
    .map(wordsIn)
    .filter((words) => words.length > 0)
}
