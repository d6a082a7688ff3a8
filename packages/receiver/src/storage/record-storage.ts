import type { Query } from '../query/query.js'
import type { Paged } from '../schemas/envelopes.js'
import type { Facets } from '../schemas/facets.js'
import type { LevelName } from '../schemas/levels.js'

export type { Facets }

/** The two kinds of record that a bucket holds. */
export type RecordKind = 'logs' | 'values'

/** A record as it arrived. */
export interface NewRecord {
  readonly kind: RecordKind
  readonly bucket: string
  /** The sender repeats it in each attempt. A record whose key is known is accepted and not stored again. */
  readonly idempotencyKey: string | undefined
  readonly record: RecordFields
}

export interface RecordFields extends Readonly<Record<string, unknown>> {
  readonly timeStamp: number
  readonly appName: string
  readonly level?: string
  readonly eventId?: number
  readonly env?: string
  readonly message?: string
  readonly machineName?: string
  readonly appVersion?: string
}

/** A record as it is read back: its own fields and the receiver's two. */
export interface StoredRecord extends Readonly<Record<string, unknown>> {
  readonly id: number
  /** ISO 8601 UTC. */
  readonly receivedAt: string
}

/** Records of one lane. All conditions must hold. */
export interface RecordFilter {
  readonly kind: RecordKind
  readonly bucket: string
  /** Any of these. */
  readonly levels?: readonly string[] | undefined
  /** This level and above. */
  readonly minLevel?: LevelName | undefined
  /** None of these. */
  readonly notLevels?: readonly string[] | undefined
  /** A level of each of these ranges. No record needs to have any of them, so that none is missed. */
  readonly levelRanges?: readonly (readonly string[])[] | undefined
  readonly eventId?: number | undefined
  readonly appName?: string | undefined
  readonly env?: string | undefined
  readonly machineName?: string | undefined
  readonly appVersion?: string | undefined
  /** Only records whose message has all these words. */
  readonly text?: string | undefined
  /** Only records whose message has none of these words. */
  readonly notText?: string | undefined
  /** Only records that it means. */
  readonly query?: Query | undefined
  /** Only records with `since` <= time < `until`, in ms since 1970, whatever unit the record has. */
  readonly since?: number | undefined
  readonly until?: number | undefined
}

export interface RecordQuery extends RecordFilter {
  readonly limit: number
  /** Only records with a smaller id: the next page. */
  readonly before?: number | undefined
  /** Only records with a larger id: without `before`, those that follow it. */
  readonly after?: number | undefined
  /** After this time, in ms, the search is cut and has what it has found. @default it looks at all records */
  readonly patienceMs?: number | undefined
}

export interface RecordPage extends Paged<StoredRecord> {
  /** Counting stopped at `total`; there may be more records. Only for queries with filters. */
  readonly totalIsAtLeast?: true
  /** The search was cut: records with a smaller id than `next` were not looked at. */
  readonly incomplete?: true
}

export interface CountQuery extends RecordFilter {
  /** Length of a step, in ms: whole minutes. Without it only totals are counted. */
  readonly stepMs?: number | undefined
}

/** Counts of records by level (logs) or event (values), by the records' own times. */
export interface RecordCounts {
  readonly total: number
  /** The most frequent values, at most 1,000. */
  readonly values: readonly ValueCount[]
  /** Steps that have records, oldest first, with the counts of `values`. */
  readonly steps: readonly StepCount[]
  /** Number of steps, where there are more than 10,000. Then `steps` is empty. */
  readonly tooManySteps?: number
  /** Only the newest records were counted, none before this time. */
  readonly countedSinceMs?: number
}

export interface ValueCount {
  readonly value: string
  readonly records: number
  readonly lastMs: number
}

export interface StepCount {
  readonly atMs: number
  readonly counts: ReadonlyMap<string, number>
}

/** What the records of one error have in common, whatever machine, version or request they are of. */
export interface ErrorKind {
  /** 16 hexadecimal digits, the same for the same three texts. */
  readonly id: string
  /** Name of the error's class; null where the record has no stack. */
  readonly type: string | null
  /** The first line, with placeholders for numbers, times, ids and addresses. */
  readonly message: string
  /** The first frame that is the application's own: function and file, without line. Null where there is none. */
  readonly frame: string | null
}

/** Kinds of error of one bucket. All conditions must hold. */
export interface ErrorQuery {
  readonly bucket: string
  /** Only records since this time, in ms since 1970, rounded down to a whole minute. */
  readonly since?: number | undefined
  readonly appName?: string | undefined
  readonly env?: string | undefined
  /** Most kinds in the answer. */
  readonly limit: number
  /** Time at which the steps of the answer end. */
  readonly nowMs: number
}

/** The most frequent kinds of error first. */
export interface ErrorList {
  /** Number of all kinds, also of those that the list does not have. */
  readonly total: number
  readonly list: readonly ErrorSummary[]
  /** When the first step begins, and the length of each. */
  readonly fromMs: number
  readonly stepMs: number
}

/** One kind of error: its records in the time that was asked for. */
export interface ErrorSummary extends ErrorKind {
  readonly count: number
  /** Of all records that are kept, not only of those since the time that was asked for. */
  readonly firstMs: number
  readonly lastMs: number
  readonly apps: readonly string[]
  /** The newest last. */
  readonly versions: readonly string[]
  /** Id of the newest record. */
  readonly sample: number
  /** It came with the newest version. */
  readonly isNew: boolean
  /** Counts of at most 24 steps. */
  readonly steps: readonly number[]
}

/** The newest id of each kind that a reader knows, in one store. */
export interface Position extends Readonly<Record<RecordKind, number>> {
  /** Identity of the store: the ids of another store mean other records. */
  readonly store: string
}

export interface ArrivalsQuery {
  readonly kind: RecordKind
  readonly bucket: string
  /** Only records with a larger id. */
  readonly after: number
  readonly limit: number
}

/** Records in the order in which they arrived. */
export interface Arrivals {
  readonly count: number
  /** A JSON array of the records as they are read back. */
  readonly json: string
  /** The largest id among them; the `after` of the query if there are none. */
  readonly last: number
  readonly hasMore: boolean
}

export interface MissedQuery {
  readonly bucket: string
  readonly since: Position
}

export interface Missed {
  readonly counts: Readonly<Record<RecordKind, number>>
  /** The newest position, up to which `counts` counts. */
  readonly position: Position
}

/** The receipts next to a time, in ms since 1970; undefined where there are none. */
export interface Receipts {
  /** The last one before the time. */
  readonly before: number | undefined
  /** The first one at the time or later. */
  readonly since: number | undefined
}

/** Reads records. A signal ends a question that may take long, also at the database; it then rejects with the reason of the signal. */
export interface RecordReading {
  /** Reads newest first. `total` counts all matches, not only those of the page. */
  read(query: RecordQuery, signal?: AbortSignal): Promise<RecordPage>
  /** Counts the values in the newest matching records: at most `limit` of them, and at most 16 MiB. */
  facets(query: RecordQuery, signal?: AbortSignal): Promise<Facets>
  /** Counts the matching records: all of them, or the newest 100,000 where no table has their counts. */
  counts(query: CountQuery, signal?: AbortSignal): Promise<RecordCounts>
  /** Counts the logs with an error by kind. */
  errors(query: ErrorQuery, signal?: AbortSignal): Promise<ErrorList>
  /** The newest position of a bucket. */
  position(query: { readonly bucket: string }): Promise<Position>
  /** Reads oldest first: at most 1 MiB, but at least one record if there is any. */
  arrivals(query: ArrivalsQuery): Promise<Arrivals>
  /** Counts the records after a position. */
  missed(query: MissedQuery): Promise<Missed>
  /** When the record that was received first was received, in ms since 1970; undefined without records. */
  oldest(): Promise<number | undefined>
  /** The receipts next to a time in ms since 1970. */
  receiptsAround(ms: number): Promise<Receipts>
}

/** One commit of records. */
export interface Commit {
  /** Records in it, those that came again included. */
  readonly records: number
  /** Records that were stored. */
  readonly stored: Readonly<Record<RecordKind, number>>
  /** Time from the request of the commit until it was on disk. */
  readonly ms: number
}

/** Learns that records were committed. It must not throw. */
export type CommitListener = (commit: Commit) => void

export interface RecordStorage extends RecordReading {
  /** Resolves when the record is on disk. */
  append(record: NewRecord): Promise<void>
  /**
   * Deletes some of the records that were received before a time in ms since 1970, the oldest first: few enough that writing goes on. Resolves
   * with their number; 0 means that none is left. Their idempotency keys stay known.
   */
  forget(receivedBeforeMs: number): Promise<number>
  /** Counts the records since the start whose key was known, so that they were not stored again. */
  repeated(bucket: string): Readonly<Record<RecordKind, number>>
  /** Calls the listener after each commit of records, until the returned function is called. */
  onCommit(listener: CommitListener): () => void
  /** Other processes may store records, too: whoever follows a bucket looks for them this often, in ms. Undefined where only this process writes. */
  readonly othersMs?: number
}
