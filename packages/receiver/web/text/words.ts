import { wordExclusion, wordSearch, wordsOf } from '../../src/commands/word-search.js'

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

/** A test for texts that have all the wanted words and none of the others. */
export function textTest({ wanted, unwanted }: Search): (text: string) => boolean {
  const hasAll = wordSearch(wanted.join(' '))
  const hasNone = wordExclusion(unwanted.join(' '))
  return (text) => hasAll?.(text) !== false && hasNone?.(text) !== false
}
