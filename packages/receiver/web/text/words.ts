import { wordsIn } from '../../src/storage/records/words.js'

/** The words of a text as the receiver's index knows them, each between spaces. */
function wordsOf(text: string): string {
  const words = wordsIn(text)
  return words.length === 0 ? '' : ` ${words.join(' ')} `
}

/** A search in two: words that a text must have, and those that it must not have, which stand after a minus. */
export interface Search {
  readonly wanted: readonly string[]
  readonly unwanted: readonly string[]
}

/** Signs without a letter or a digit are no words. */
export function searchOf(written: string): Search {
  const words = written.split(/\s+/).filter((word) => wordsOf(word) !== '')
  return {
    wanted: words.filter((word) => !word.startsWith('-')),
    unwanted: words.filter((word) => word.startsWith('-')).map((word) => word.slice(1)),
  }
}

/** A test for texts that have all the wanted words and none of the others. A word such as `a-b` stands for `a b`, side by side. */
export function wordSearch(search: Search): (text: string) => boolean {
  const wanted = search.wanted.map(wordsOf)
  const unwanted = search.unwanted.map(wordsOf)
  if (wanted.length + unwanted.length === 0) return () => true
  return (text) => {
    const words = wordsOf(text)
    const has = (phrase: string) => words.includes(phrase)
    return wanted.every(has) && !unwanted.some(has)
  }
}
