import type { LaneName, Ledger } from '../delivery/ledger.js'
import type { ResolvedOptions } from '../options/options.js'
import type { MappedLog } from '../records/encode.js'
import type { Severity } from '../records/level.js'
import type { PinoStyle } from '../records/pino-line.js'
import type { WinstonLine } from '../records/winston-line.js'
import type { RecordKind } from '../records/wire.js'

/** How long a flush or close may take. */
export interface DrainOptions {
  /** Deadline in milliseconds. @default the option `shutdownTimeoutMs` */
  readonly timeoutMs?: number | undefined
}

/** A time that is none (no number, or NaN) is as good as not given; one that is negative is over. */
export function drainTime(time: DrainOptions | undefined): DrainOptions {
  const timeoutMs: unknown = time?.timeoutMs
  return typeof timeoutMs === 'number' && !Number.isNaN(timeoutMs) ? { timeoutMs: Math.max(0, timeoutMs) } : {}
}

/** What is known of a line of pino without reading it. */
export interface PinoLine {
  readonly style: PinoStyle
  readonly severity: Severity
  /** Milliseconds since 1970. */
  readonly arrivedAt: number
}

/**
 * Goes on with the delivery at the end of the process, holding this thread for `waitMs` at most; true when it is done, or its deadline
 * has come. Step by step, so that several engines can be at it side by side.
 */
export type EndStep = (waitMs: number) => boolean

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
  /**
   * Accept a line that winston's json format has made, to be mapped where it is delivered. `line` has no line end in it; `level` is
   * the clean name.
   */
  winstonLine(line: string, about: WinstonLine): void
  /** Accept a line as pino has written it, without its line end, to be mapped where it is delivered. */
  pinoLine(line: string, about: PinoLine): void
  /** Accept a value record: two numbers and no object, for this is the hottest path. */
  value(eventId: number, milliseconds: number): void
  /** A line that could not be read leaves a mark where it would have been. */
  unmapped(error: unknown): void
  /** A record for somebody who has closed his hold on this port. */
  refuse(kind: RecordKind): void
  /** Count a `track` call with a bad number. */
  invalid(): void
  /** Tell of a mistake that concerns no record; mistakes of one kind are told together. */
  misused(code: string, text: string, kind?: string): void
  stats(): Ledger
  flush(time?: DrainOptions): Promise<Ledger>
  /** Flush, and leave the rest to the spool, if there is one: a signal may end the process. */
  park(time?: DrainOptions): Promise<Ledger>
  close(time?: DrainOptions): Promise<Ledger>
  /** The process has nothing more to do: what comes from now on waits a moment, for the exit may be next, and must not keep it alive. */
  ending(): void
  /** The process is about to end, and others hold this thread first: begin what another thread can do meanwhile, if one can. */
  beforeEnd(): boolean
  /** The process ends now, and its event loop turns no more: begin to deliver what is left. */
  endSync(time?: DrainOptions): EndStep
}
