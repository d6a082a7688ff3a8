import { wordsIn } from '../storage/records/words.js'

/** The words of a text as the receiver's index knows them, each between spaces. */
export function wordsOf(text: string): string {
  const words = wordsIn(text)
  return words.length === 0 ? '' : ` ${words.join(' ')} `
}

/**
 * A test for texts that have all words of a search, in any order. A word such as `a-b` stands for `a b`, side by side. Undefined for a search
 * without words.
 */
export function wordSearch(search: string): ((text: string) => boolean) | undefined {
  const wanted = phrasesOf(search)
  if (wanted.length === 0) return undefined
  return (text) => {
    const words = wordsOf(text)
    return wanted.every((phrase) => words.includes(phrase))
  }
}

/** A test for texts that have none of the words of a search. Undefined for a search without words. */
export function wordExclusion(search: string): ((text: string) => boolean) | undefined {
  const unwanted = phrasesOf(search)
  if (unwanted.length === 0) return undefined
  return (text) => {
    const words = wordsOf(text)
    return !unwanted.some((phrase) => words.includes(phrase))
  }
}

function phrasesOf(search: string): string[] {
  return search
    .split(/\s+/)
    .map(wordsOf)
    .filter((words) => words !== '')
}
