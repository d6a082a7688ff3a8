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

/** Words that stand next to each other in a message. */
export type Phrase = readonly string[]

/** The words of each run of characters between spaces: a run of several words must be found as it is. */
export function phrasesIn(text = ''): Phrase[] {
  return text
    .split(/\s+/)
    .map(wordsIn)
    .filter((words) => words.length > 0)
}
