import type { RecordFields } from '../record-storage.js'
import { type ErrorKind, errorKindOf, mayHaveError } from './error-kind.js'
import { dayMs, earliestMs, hourMs, latestMs, minuteMs } from './record-times.js'
import type { CountedRecord } from './tallies.js'
import type { Labels } from './written-records.js'

/** Stands for the logs of every kind, with an error or without: it tells which versions there are. */
export const anyKind = ''

/** Kinds that one application can have in a lane, as many as an answer lists. With more, those that came least recently are counted as one. */
export const maxKinds = 1000
/** Combinations of kind, application, environment and version that one lane can have. With more, those that came least recently go. */
export const maxErrors = 100_000
/** So many go at once: to find them takes a look at all. */
export const goneAtOnce = { kinds: 100, errors: 1000 } as const

/** Stands for the kinds that had to go, by application and environment. No hash is so short. */
export const otherKinds: ErrorKind = { id: 'other', type: null, message: 'errors of further kinds', frame: null }

/** What the records of an error are counted by when it goes; undefined for an error that is forgotten. */
export function otherOf({ kind, app, env }: ErrorNames): ErrorNames | undefined {
  if (kind === anyKind) return undefined
  // The applications themselves are too many.
  const of = kind === otherKinds.id ? { app: '', env: '' } : { app, env }
  return { kind: otherKinds.id, ...of, version: '' }
}

/** A longer name, as JSON, is cut. */
const maxName = 200
/** The cache is cleared when it reaches this size. */
const maxParsed = 10_000
/** Longer labels are not kept: records with large ones would fill the memory. */
const maxParsedLength = 2000

/** A log as its error is counted. */
export interface ErrorRecord extends CountedRecord {
  readonly id: number
  readonly json: string
}

/** What logs with one kind of error are counted by. Names are JSON, and empty where the records have none. */
export interface ErrorNames {
  /** Id of the kind, or `anyKind`. */
  readonly kind: string
  readonly app: string
  readonly env: string
  readonly version: string
}

/** The logs of one transaction that are counted together. */
export interface ErrorTally extends ErrorNames {
  /** Undefined for `anyKind`. */
  readonly texts: ErrorKind | undefined
  readonly records: readonly TalliedRecord[]
}

interface TalliedRecord {
  readonly id: number
  /** Within the years that are counted. */
  readonly timeMs: number
}

/** The row of a table to which the records are added. */
export interface ErrorSum {
  readonly records: number
  readonly firstId: number
  readonly lastId: number
  readonly firstMs: number
  readonly lastMs: number
}

/** The number of records in one minute, hour or day. */
export interface ErrorStep {
  readonly stepMs: number
  readonly atMs: number
  readonly records: number
}

interface ParsedLabels {
  /** Undefined for a value. */
  readonly level: string | undefined
  readonly app: string
  readonly env: string
  readonly version: string
}

/** Counts logs by their kind of error, application, environment and version. */
export class ErrorTallies {
  readonly #parsed = new Map<string, ParsedLabels>()

  /** All records are of one lane. Values have no errors. */
  of(records: readonly ErrorRecord[]): ErrorTally[] {
    const tallies = new Map<string, ErrorTally & { records: TalliedRecord[] }>()
    for (const { id, timeMs, labels, json } of records) {
      const { level, app, env, version } = this.#labels(labels)
      if (level === undefined) continue
      const texts = mayHaveError({ level, json }) ? errorKindOf(JSON.parse(json) as RecordFields) : undefined
      const record = { id, timeMs: Math.min(Math.max(timeMs, earliestMs), latestMs) }
      for (const kind of texts === undefined ? [anyKind] : [anyKind, texts.id]) {
        const names = { kind, app, env, version }
        const key = keyOfError(names)
        const tally = tallies.get(key)
        if (tally === undefined) {
          tallies.set(key, { ...names, texts: kind === anyKind ? undefined : texts, records: [record] })
        } else tally.records.push(record)
      }
    }
    return [...tallies.values()]
  }

  #labels(written: string): ParsedLabels {
    const known = this.#parsed.get(written)
    if (known !== undefined) return known
    const [level, app, env, , version] = JSON.parse(written) as Labels
    const parsed = {
      level: typeof level === 'string' ? level : undefined,
      app: errorName(app),
      env: errorName(env),
      version: errorName(version),
    }
    if (written.length > maxParsedLength) return parsed
    if (this.#parsed.size >= maxParsed) this.#parsed.clear()
    this.#parsed.set(written, parsed)
    return parsed
  }
}

/** A name as errors are counted by it. */
export function errorName(name: string | null | undefined): string {
  if (name === null || name === undefined) return ''
  const json = JSON.stringify(name)
  // A pair of code units may be cut. JSON keeps both halves apart.
  return json.length <= maxName ? json : JSON.stringify(`${name.slice(0, maxName / 2)}…`)
}

export function keyOfError({ kind, app, env, version }: ErrorNames): string {
  return `${kind} ${app} ${env} ${version}`
}

export function sumOf(records: readonly TalliedRecord[]): ErrorSum {
  const [first] = records
  const sum = { firstId: first!.id, lastId: first!.id, firstMs: first!.timeMs, lastMs: first!.timeMs }
  for (const { id, timeMs } of records) {
    sum.firstId = Math.min(sum.firstId, id)
    sum.lastId = Math.max(sum.lastId, id)
    sum.firstMs = Math.min(sum.firstMs, timeMs)
    sum.lastMs = Math.max(sum.lastMs, timeMs)
  }
  return { records: records.length, ...sum }
}

/** The records by minute, hour and day. */
export function stepsOf(records: readonly TalliedRecord[]): ErrorStep[] {
  return [minuteMs, hourMs, dayMs].flatMap((stepMs) => {
    const steps = new Map<number, number>()
    for (const { timeMs } of records) {
      const atMs = Math.floor(timeMs / stepMs) * stepMs
      steps.set(atMs, (steps.get(atMs) ?? 0) + 1)
    }
    return [...steps].map(([atMs, number]) => ({ stepMs, atMs, records: number }))
  })
}
