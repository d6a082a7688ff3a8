import type { LaneName, Ledger } from '../delivery/ledger.js'
import type { ResolvedOptions } from '../options/options.js'
import type { MappedLog, ValueFields } from '../records/encode.js'
import type { RecordKind } from '../records/wire.js'

export interface DrainTime {
  /** Deadline in milliseconds. @default the option `shutdownTimeoutMs` */
  readonly timeoutMs?: number | undefined
}

/** Where loggers and `track` put their records: an engine in this thread, or the hand-off to one in a worker. */
export interface RecordPort {
  readonly id: string
  readonly lanes: readonly LaneName[]
  readonly options: ResolvedOptions
  /** Memory of the ledger, readable from every thread of the process. */
  readonly memory: SharedArrayBuffer
  readonly closed: boolean
  /** Accept a log record. */
  log(mapped: MappedLog): void
  /** Accept a value record; its time in milliseconds. */
  value(fields: ValueFields): void
  /** A line that could not be read leaves a mark where it would have been. */
  unmapped(error: unknown): void
  /** A record for somebody who has closed his hold on this port. */
  refuse(kind: RecordKind): void
  /** Count a `track` call with a bad number. */
  invalid(): void
  /** Tell of a mistake that concerns no record. */
  misused(code: string, text: string): void
  stats(): Ledger
  flush(time?: DrainTime): Promise<Ledger>
  close(time?: DrainTime): Promise<Ledger>
  /** The process has nothing more to do: what comes from now on must not keep it alive. */
  ending(): void
  /** The process ends now: deliver while it is held, as far as that is possible. */
  endSync(): void
}
