import { phrasesIn, wordsIn } from '../storage/records/words.js'

/** The words of a text as the receiver's index knows them, each between spaces. */
export function wordsOf(text: string): string {
  return inSpaces(wordsIn(text))
}

/**
 * A test for texts that have all words of a search, in any order. A word such as `a-b` stands for `a b`, side by side. Undefined for a search
 * without words.
 */
export function wordSearch(search: string) {
  return testOf(search, (wanted, isThere) => wanted.every(isThere))
}

/** A test for texts that have none of the words of a search. Undefined for a search without words. */
export function wordExclusion(search: string) {
  return testOf(search, (unwanted, isThere) => !unwanted.some(isThere))
}

function testOf(
  search: string,
  meets: (phrases: readonly string[], isThere: (phrase: string) => boolean) => boolean,
): ((text: string) => boolean) | undefined {
  const phrases = phrasesIn(search).map(inSpaces)
  if (phrases.length === 0) return undefined
  return (text) => {
    const words = wordsOf(text)
    return meets(phrases, (phrase) => words.includes(phrase))
  }
}

function inSpaces(words: readonly string[]): string {
  return words.length === 0 ? '' : ` ${words.join(' ')} `
}
