import { contextName, fieldNamed, withValue } from '../../src/query/written-query.js'
import { messageWords, wordsIn } from '../../src/storage/records/words.js'
import { contextCounts, type Facets } from '../logs/facets.js'
import { partsOf } from '../text/message-parts.js'
import type { Occurring } from './occurring.js'

/** A part of a query that a person may mean. */
export interface Completion {
  /** The part of it that the list shows: a key, a value or a word. */
  readonly text: string
  /** What stands in the query then. */
  readonly written: string
  /** True for a key: its value follows. */
  readonly isKey: boolean
  /** The number of records with it, where it is known. */
  readonly count?: number | undefined
}

/** The completions of the word that begins at a place. */
export interface Completions {
  readonly start: number
  readonly list: readonly Completion[]
}

type Counts = Iterable<readonly [text: string, count: number]>

const facetNames: Readonly<Record<string, keyof Facets>> = {
  level: 'levels',
  appName: 'apps',
  env: 'envs',
  machineName: 'machines',
  appVersion: 'versions',
  eventId: 'eventIds',
}
const ownKeys = ['level', 'app', 'env', 'host', 'version', 'event', 'since', 'until']
const ages = ['15m', '1h', '24h', '7d']
const maxKeys = 12
const maxValues = 8
const maxWords = 4
/** A list is made when this many letters of a key or a word are written. */
const fewestLetters = 2

interface Written {
  /** The query as far as the cursor. */
  readonly before: string
  readonly occurring: Occurring
  /** True if the person has asked for a list. */
  readonly isAsked: boolean
}

/** The keys, values and words that occur and go on as the query does. */
export function completionsOf({ before, occurring, isAsked }: Written): Completions {
  let start = wordStart(before)
  if (before[start] === '-') start++
  const word = before.slice(start)
  const [, head = '', name = '', written = ''] =
    /^(("(?:[^"\\]|\\.)*"|[\p{L}_$@][^\s:<>"()=~|!]*)(?::(?!\/\/)|!?=|[<>]=?))(.*)$/su.exec(word) ?? []
  if (head !== '') return { start, list: isClosed(written) ? [] : valuesFor({ head, name, written, occurring }) }
  if (!isAsked && word.length < fewestLetters) return { start, list: [] }
  return { start, list: [...keysLike(word, occurring), ...wordsLike(word, occurring)] }
}

/** Where the last word of a query begins. Spaces in quotation marks end none. */
function wordStart(query: string): number {
  let start = 0
  let isQuoted = false
  for (let at = 0; at < query.length; at++) {
    const sign = query[at]!
    if (isQuoted && sign === '\\') at++
    else if (sign === '"') isQuoted = !isQuoted
    else if (!isQuoted && /[\s(]/.test(sign)) start = at + 1
  }
  return start
}

function keysLike(word: string, { records }: Occurring): Completion[] {
  const wanted = plain(word)
  const keyOf = (name: string): Completion => ({ text: `${name}:`, written: `${name}:`, isKey: true })
  const own = ownKeys.filter((key) => key.startsWith(wanted)).map(keyOf)
  const paths = [...contextCounts(records).keys()]
  const ofContext = bestOf(
    paths.map((path) => [path, 0]),
    wanted,
  ).map(([path]) => keyOf(contextName(path)))
  return [...own, ...ofContext].slice(0, maxKeys)
}

interface Head {
  readonly head: string
  readonly name: string
  readonly written: string
  readonly occurring: Occurring
}

function valuesFor({ head, name, written, occurring }: Head): Completion[] {
  const isTime = name === 'since' || name === 'until'
  const found: Completion[] = []
  for (const [text, count] of bestOf(
    isTime ? ages.map((age) => [age, 0]) : countsOf(name, occurring),
    plain(written),
  )) {
    const whole = withValue(head, text)
    if (whole === undefined || whole === head + written) continue
    found.push({ text: whole.slice(head.length), written: whole, isKey: false, count: isTime ? undefined : count })
    if (found.length === maxValues) break
  }
  return found
}

function countsOf(name: string, { facets, records }: Occurring): Counts {
  const field = fieldNamed(name)
  if (field === undefined) return []
  if (field.startsWith('.')) return contextCounts(records).get(field.slice(1)) ?? []
  return Object.entries(facets[facetNames[field]!] ?? {})
}

function wordsLike(written: string, { records }: Occurring): Completion[] {
  const [word, ...others] = wordsIn(written)
  if (word === undefined || others.length > 0 || !/^[\p{L}\p{N}\p{M}]+$/u.test(written)) return []
  const counts = new Map<string, number>()
  for (const record of records) {
    const { text, error } = partsOf(record)
    for (const each of new Set(messageWords(`${text} ${error.split('\n', 1)[0]}`)))
      if (each !== word && each.startsWith(word)) counts.set(each, (counts.get(each) ?? 0) + 1)
  }
  return bestOf(counts, word)
    .slice(0, maxWords)
    .map(([text, count]) => ({ text, written: text, isKey: false, count }))
}

/** Texts that begin with the wanted one, then those that have it in them; frequent ones first, then in the order of letters. A line end cannot stand in the box. */
function bestOf(counts: Counts, wanted: string): (readonly [text: string, count: number])[] {
  const place = (text: string) => Number(!text.toLowerCase().startsWith(wanted))
  return [...counts]
    .filter(([text]) => text.toLowerCase().includes(wanted) && !/[\r\n]/.test(text))
    .sort(([a, countA], [b, countB]) => place(a) - place(b) || countB - countA || (a < b ? -1 : 1))
}

/** The beginning of a text as it is compared, without its quotation mark. */
function plain(written: string): string {
  return written
    .replace(/^"/, '')
    .replaceAll(/\\(["\\])/g, '$1')
    .toLowerCase()
}

function isClosed(written: string): boolean {
  return /^"(?:[^"\\]|\\.)*"/s.test(written)
}
