import type { Facets, RecordCounts, RecordFilter, StoredRecord } from '../../dist/storage/record-storage.js'

/** Groups of levels, the least important first. */
const severities = [
  ['silly', 'trace'],
  ['debug', 'verbose'],
  ['http', 'data', 'info', 'notice', 'help', 'prompt'],
  ['warn', 'warning'],
  ['error'],
  ['crit', 'critical', 'alert', 'emerg', 'fatal'],
]
const earliestMs = Date.parse('0000-01-01T00:00:00.000Z')
const latestMs = Date.parse('9999-12-31T23:59:59.999Z')

/** Says in plain JavaScript which records a filter means. */
export function matches(record: StoredRecord, filter: RecordFilter): boolean {
  const { levels, minLevel, notLevels, text, notText, since = -Infinity, until = Infinity } = filter
  const level = String(record.level)
  if (levels !== undefined && !levels.includes(level)) return false
  if (notLevels?.includes(level)) return false
  if (minLevel !== undefined && !isAtLeast(level, minLevel)) return false
  for (const field of ['eventId', 'appName', 'env', 'machineName', 'appVersion'] as const) {
    if (filter[field] !== undefined && record[field] !== filter[field]) return false
  }
  const timeMs = timeOf(record)
  if (timeMs < since || timeMs >= until) return false
  const words = runsOf(String(record.message))
  if (text !== undefined) {
    const wanted = phrasesOf(text)
    if (wanted.length === 0 || !wanted.every((phrase) => hasPhrase(words, phrase))) return false
  }
  return notText === undefined || !phrasesOf(notText).some((phrase) => hasPhrase(words, phrase))
}

/** Counts records by level or event, and in steps. */
export function countsOf(
  records: readonly StoredRecord[],
  { kind, stepMs }: Pick<RecordFilter, 'kind'> & { readonly stepMs?: number | undefined },
): RecordCounts {
  const values = new Map<string, { records: number; lastMs: number }>()
  const steps = new Map<number, Map<string, number>>()
  for (const record of records) {
    const value = String(kind === 'logs' ? record.level : record.eventId)
    const ms = Math.min(Math.max(timeOf(record), earliestMs), latestMs)
    const counted = values.get(value) ?? { records: 0, lastMs: ms }
    values.set(value, { records: counted.records + 1, lastMs: Math.max(counted.lastMs, ms) })
    if (stepMs === undefined) continue
    const minute = Math.floor(ms / 60_000) * 60_000
    const atMs = Math.floor(minute / stepMs) * stepMs
    const step = steps.get(atMs) ?? new Map<string, number>()
    steps.set(atMs, step.set(value, (step.get(value) ?? 0) + 1))
  }
  return {
    total: records.length,
    values: [...values].map(([value, counted]) => ({ value, ...counted })),
    steps: [...steps].sort(([a], [b]) => a - b).map(([atMs, counts]) => ({ atMs, counts })),
  }
}

/** Values with equal counts may come in any order. */
export function inOrder(counts: RecordCounts): RecordCounts {
  const byName = (a: { value: string }, b: { value: string }) => (a.value < b.value ? -1 : 1)
  return { ...counts, values: [...counts.values].sort((a, b) => b.records - a.records || byName(a, b)) }
}

export function facetsOf(records: readonly StoredRecord[]): Facets {
  const count = (field: string) => {
    const values = new Map<string, number>()
    for (const { [field]: value } of records) {
      if (value !== undefined) values.set(String(value), (values.get(String(value)) ?? 0) + 1)
    }
    return Object.fromEntries(values)
  }
  return {
    levels: count('level'),
    apps: count('appName'),
    machines: count('machineName'),
    envs: count('env'),
    versions: count('appVersion'),
    eventIds: count('eventId'),
  }
}

/** The size of a time tells its unit: s, ms, µs or ns. */
export function timeOf({ timeStamp }: Readonly<Record<string, unknown>>): number {
  const time = Number(timeStamp)
  const inUnits = [time * 1000, time, time / 1000, time / 1_000_000]
  return inUnits.find((ms) => Math.abs(ms) < 1e14)!
}

/** A level is written in small or capital letters, or with one capital letter. */
function isAtLeast(level: string, least: string): boolean {
  const rank = (name: string) => severities.findIndex((names) => names.includes(name))
  const small = level.toLowerCase()
  const isWritten = [small, small.toUpperCase(), small.charAt(0).toUpperCase() + small.slice(1)].includes(level)
  return isWritten && rank(small) >= rank(least)
}

/** Words are runs of letters, digits and characters of private use. Case and accents do not count. */
function runsOf(text: string): string[] {
  const letters = [...text.normalize('NFD').replaceAll(/\p{M}/gu, '')].map((letter) => {
    const capital = letter.toUpperCase()
    return [...capital].length === 1 ? capital.toLowerCase() : letter.toLowerCase()
  })
  return letters.join('').match(/[\p{L}\p{N}\p{Co}]+/gu) ?? []
}

/** A word with punctuation inside is a phrase. */
function phrasesOf(text: string): string[][] {
  return text
    .split(/\s+/)
    .map(runsOf)
    .filter(({ length }) => length > 0)
}

function hasPhrase(words: readonly string[], phrase: readonly string[]): boolean {
  return words.some((_, at) => phrase.every((word, offset) => words[at + offset] === word))
}
