import type { LaneName, Ledger } from '../delivery/ledger.js'
import type { FlushTime } from '../delivery/plan.js'
import type { SluiceErrorCode } from '../errors/sluice-error.js'
import type { ResolvedOptions } from '../options/options.js'
import type { LineAbout, LineStyle } from '../records/line-style.js'
import type { RecordKind } from '../records/wire.js'
import { ownFields } from '../runtime/own-fields.js'

/** How long a flush or close may take. */
export interface DrainOptions {
  /** Deadline in milliseconds. @default the option `shutdownTimeoutMs` */
  readonly timeoutMs?: number | undefined
}

/** How a drain is made that the application has not asked for itself, or without a time. */
export interface EndOptions extends DrainOptions {
  /**
   * True where a service is not waited for at whose address nothing has ever listened; see `Reach` of delivery.
   *
   * @default true without a time, else false
   */
  readonly brief?: boolean | undefined
}

/** How a flush is made that the application has not asked for itself. */
export interface FlushOptions extends EndOptions {
  /** False where the process may end before the flush does. @default true */
  readonly holdsProcess?: boolean | undefined
}

/** The time of a drain that an application or the end of its process asks for. */
export function timeOf(
  { timeoutMs, brief = timeoutMs === undefined, holdsProcess }: FlushOptions = {},
  { shutdownTimeoutMs }: Pick<ResolvedOptions, 'shutdownTimeoutMs'>,
): FlushTime {
  return { timeoutMs: timeoutMs ?? shutdownTimeoutMs, brief, holdsProcess }
}

/** Clean up a time that an application gave: no number and NaN count as not given, a negative time as 0. */
export function drainTime(time: DrainOptions | undefined): DrainOptions {
  const { timeoutMs }: { readonly timeoutMs?: unknown } = ownFields(time)
  return typeof timeoutMs === 'number' && !Number.isNaN(timeoutMs) ? { timeoutMs: Math.max(0, timeoutMs) } : {}
}

/** What is known of a line beside its text. */
export interface Line extends LineAbout {
  readonly style: LineStyle
}

/** The name, the options and the ledger of an engine. */
export interface EngineIdentity {
  readonly id: string
  readonly lanes: readonly LaneName[]
  readonly options: ResolvedOptions
  /** Memory of the ledger. Every thread of the process can read it. */
  readonly memory: SharedArrayBuffer
}

/** An occurrence of an event with a key of the application, which `isEventKey` knows. */
export interface KeyedValue {
  readonly eventId: number
  /** Since 1970. */
  readonly milliseconds: number
  readonly key: string
}

/** Takes records from loggers and from `track`. */
export interface RecordSink {
  /** Accept a line of a logger. The delivering thread makes a record of it. */
  line(text: string, line: Line): void
  /** Accept a value record. It takes two numbers and no object: this is the hottest path. */
  value(eventId: number, milliseconds: number): void
  /** Accept a value record with a key of the application. */
  keyedValue(value: KeyedValue): void
  /** Replace a line that could not be read by a log record that says so. */
  unmapped(error: unknown): void
  /** Count a record that came after the close of its lease. */
  refuse(kind: RecordKind): void
  /** Count a `track` call with a bad number, time or key. */
  invalid(): void
  /** Report a mistake that concerns no record. Mistakes of one kind are reported together. */
  misused(code: SluiceErrorCode, text: string, kind?: string): void
}

/** The part of a {@link RecordSink} that takes records. */
export type LineSink = Pick<RecordSink, 'line' | 'value' | 'keyedValue'>

/** Watches the records that a port accepts, from `track` and loggers. */
export interface AcceptanceWatch {
  /**
   * Called during the call that logs, when its record has been accepted. Must not throw.
   *
   * @returns true if it need not be called again before that code has returned
   */
  readonly accepted?: (() => boolean) | undefined
}

/** Delivers what it has accepted, within a time. */
export interface Drainable {
  readonly closed: boolean
  stats(): Ledger
  flush(options?: FlushOptions): Promise<Ledger>
  /** Flush, and leave the rest to the spool, if there is one: a signal may end the process next. */
  park(options?: EndOptions): Promise<Ledger>
  close(options?: EndOptions): Promise<Ledger>
}

/**
 * Continues the delivery at the end of the process and blocks this thread for `waitMs` at most. True when it is done or its deadline has
 * passed. Several engines take turns, step by step.
 */
export type EndStep = (waitMs: number) => boolean

/** Takes part in the end of the process. The methods are called in this order. */
export interface EndParticipant {
  /** True where another thread delivers, which has started within this time: this one may be held at the end. @default false */
  deliversElsewhere?(withinMs: number): boolean
  /** The process has no work left. Let records wait for a moment from now on: the exit may be next, and work of ours would delay it. */
  ending?(): void
  /**
   * The process exits soon, and other code blocks this thread first. True when another thread delivers meanwhile.
   *
   * @param withinMs the longest time to hand over what that thread does not have yet
   */
  beforeEnd(withinMs?: number): boolean
  /** The process exits now and its event loop has stopped. Begin to deliver what is left. */
  endSync(options?: EndOptions): EndStep
}

/** An engine in this thread, or the hand-off to one in the delivery worker. */
export interface RecordPort extends EngineIdentity, RecordSink, Drainable, EndParticipant {}
