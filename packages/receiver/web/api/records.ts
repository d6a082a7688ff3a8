import { recordTimeMs } from '../../src/storage/records/record-times.js'

/** A log record as the reading API gives it. */
export interface LogRecord {
  readonly id: number
  readonly receivedAt: string
  readonly timeStamp: number
  readonly level: string
  readonly message: string
  readonly appName: string
  readonly machineName?: string
  readonly eventId?: number
  readonly env?: string
  readonly appVersion?: string
  readonly runtimeVersion?: string
  readonly runtime?: number
}

/** A value record as the reading API gives it. */
export interface ValueRecord {
  readonly id: number
  readonly receivedAt: string
  readonly timeStamp: number
  readonly eventId: number
  readonly appName: string
  readonly env?: string
}

/** One page of records, newest first. */
export interface RecordPage<T> {
  readonly total: number
  readonly list: readonly T[]
  /** Where the next page starts, if its size ended this one. */
  readonly next?: number
  /** The reason for an empty answer, where the receiver knows one. */
  readonly hint?: string
}

/** The time of a record, in ms. */
export function timeOf({ timeStamp }: { readonly timeStamp: number }): number {
  return recordTimeMs(timeStamp)
}
