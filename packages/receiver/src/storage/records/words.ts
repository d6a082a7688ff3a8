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

function withoutAccents(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '')
}

/** The same for all small forms of a letter: two of sigma, and the micro sign, which is mu. ß has no capital letter of its own. */
function smallLetter(letter: string): string {
  const capital = letter.toUpperCase()
  return capital.length === letter.length ? capital.toLowerCase() : letter
}
