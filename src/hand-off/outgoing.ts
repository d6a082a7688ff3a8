import type { DropReason } from '../delivery/ledger.js'
import type { AcceptanceWatch, KeyedValue, Line, LineSink } from '../engine/ports.js'
import { textAt as headBytes, valueBytes } from '../pipe/frame.js'
import type { PipeBells, PipeMemory, TakenCount } from '../pipe/pipe-memory.js'
import { type FrameSink, PipeReader } from '../pipe/pipe-reader.js'
import { PipeWriter } from '../pipe/pipe-writer.js'
import { errorSeverity, type Severity } from '../records/level.js'
import type { LineStyle } from '../records/line-style.js'
import type { RecordKind } from '../records/wire.js'
import { type Clock, queueMicrotask } from '../runtime/clock.js'
import type { HandOffAccount } from './account.js'
import { marks } from './frames.js'

/** Time between two hand-overs in a process that is about to end, in case it lives on. */
const endingMs = 50
/**
 * Shares of the room that lines below error may fill, and lines from error on. Records in the pipe cannot be taken back: this keeps room for
 * errors when there is a flood of other lines, and for value records when there is a flood of errors.
 */
const shareOfLogs = 0.8
const shareOfErrors = 0.9
/** Bytes of UTF-8 for a UTF-16 code unit, at most. */
const mostBytesPerUnit = 3

export interface OutgoingPlan extends AcceptanceWatch {
  readonly clock: Clock
  readonly pipe: PipeMemory
  /** @default those of the pipe */
  readonly bells?: PipeBells
  readonly account: HandOffAccount
  /** Bound of the bytes that no worker has taken. */
  readonly maxBytes: number
  /** This much may wait until the worker looks by itself. More is rung for. */
  readonly mostQuiet: { readonly records: number; readonly bytes: number }
  /** Records that no worker has taken. */
  readonly untaken: () => number
  /** Why there is no room. */
  readonly fullReason: () => DropReason
  /** Called when records have been handed over. */
  readonly handedOver: () => void
}

/**
 * Writes the records that the application logs and tracks into the pipe to the worker, and hands them over in the microtask after the code
 * that logs. It rings for a worker that rests. One that does not will look by itself, unless much waits.
 */
export class Outgoing implements LineSink {
  /** Styles of loggers as JSON, by number. */
  readonly styles: string[] = []
  readonly #plan: OutgoingPlan
  readonly #account: HandOffAccount
  readonly #writer: PipeWriter
  readonly #knownStyles: LineStyle[] = []
  /** Bytes that no worker had taken at the last question, plus the bytes since: too high at worst. */
  #bytes = 0
  #isScheduled = false
  /** True while a record needs neither a hand-over nor a word to the watch. */
  #isSettled = false
  #isEnding = false
  #isOver = false
  /** Stops to listen for room in the ring. */
  #stopFollowing: (() => void) | undefined
  /** Made once: a closure for each hand-over would cost memory even when nothing is left to schedule. */
  readonly #scheduledHandOver = () => {
    this.#isScheduled = false
    this.#isSettled = false
    // A process that still turns lives on.
    this.#isEnding = false
    const { mostQuiet, untaken } = this.#plan
    if (this.#writer.bytes > mostQuiet.bytes || untaken() > mostQuiet.records) this.#writer.publish()
    else this.#writer.offer()
    this.#handedOver()
  }

  constructor(plan: OutgoingPlan) {
    this.#plan = plan
    this.#account = plan.account
    this.#writer = new PipeWriter(plan.pipe, plan.bells)
  }

  /** Bytes that no worker has taken. */
  get bytes(): number {
    return this.#writer.bytes
  }

  value(eventId: number, milliseconds: number): void {
    if (!this.#hasRoom(valueBytes, 1)) this.#drop('values')
    else {
      this.#writer.value(eventId, milliseconds)
      this.#written('values')
    }
  }

  keyedValue({ eventId, milliseconds, key }: KeyedValue): void {
    if (!this.#hasRoom(valueBytes + key.length, 1)) this.#drop('values')
    else {
      this.#writer.keyed(eventId, milliseconds, key)
      this.#written('values')
    }
  }

  line(text: string, { style, severity = 2, arrivedAt, below, redacted, errors }: Line): void {
    let number = this.#knownStyles.indexOf(style)
    if (number === -1) number = this.#newStyle(style)
    const marked =
      (below ? marks.below : 0) | (redacted ? marks.redacted : 0) | (errors === undefined ? 0 : marks.errors)
    const whole = errors === undefined ? text : `${errors}\n${text}`
    if (!this.#hasRoom(headBytes + whole.length, shareOf(severity))) this.#drop('logs')
    else {
      this.#writer.text({ kind: 'line', severity, marks: marked, time: arrivedAt, style: number }, whole)
      this.#written('logs')
    }
  }

  /** Hand over next by a timer, which does not keep the process alive. */
  ending(): void {
    this.#isEnding = true
  }

  /** Show the worker at once what was written. */
  handOver(): void {
    this.#writer.publish()
    this.#handedOver()
  }

  #handedOver(): void {
    if (this.#writer.waits) this.#follow()
    this.#plan.handedOver()
  }

  /** Hold this thread until all is in the pipe's shared memory, for `waitMs` at most. */
  push(waitMs: number): boolean {
    return this.#writer.push(waitMs)
  }

  /** The place in the pipe of the record that a worker takes; undefined while it takes none. */
  get taking(): number | undefined {
    const { pipe } = this.#plan
    return pipe.busyWith === undefined ? undefined : pipe.get('read')
  }

  /** The worker is gone: give up the record that it was taking. Returns its kind; undefined where there was none. */
  giveUpLine(count: TakenCount): RecordKind | undefined {
    const { pipe } = this.#plan
    pipe.settle(count)
    const kind = pipe.busyWith === undefined ? undefined : pipe.skip()?.kind
    // The next worker gets the styles again. Of a long line the end is counted.
    if (kind === undefined || kind === 'style' || kind === 'part') return undefined
    return kind === 'value' || kind === 'keyed' ? 'values' : 'logs'
  }

  /** No worker takes anything any more: give everything to a sink in this thread. */
  takeAll(sink: FrameSink): void {
    const reader = new PipeReader(this.#plan.pipe)
    // The ring has no room for all of them at once.
    do reader.take(sink, Number.POSITIVE_INFINITY)
    while (!this.push(0) || this.bytes > 0)
    this.end()
  }

  /** No record comes any more, and nobody takes the records that wait. */
  end(): void {
    this.#isOver = true
    this.#unfollow()
  }

  #newStyle(style: LineStyle): number {
    const number = this.#knownStyles.push(style) - 1
    const text = JSON.stringify(style)
    this.styles[number] = text
    this.#writer.text({ kind: 'style', severity: 0, marks: 0, time: 0, style: number }, text)
    return number
  }

  #drop(kind: RecordKind): void {
    this.#account.drop(kind, this.#plan.fullReason())
  }

  #written(kind: RecordKind): void {
    this.#account.accept(kind)
    if (!this.#isSettled) this.#accepted()
  }

  #accepted(): void {
    if (!this.#isScheduled) this.#schedule()
    const isSettled = this.#plan.accepted?.() ?? true
    // At the end a hand-over is not the end of the turn.
    this.#isSettled = isSettled && !this.#isEnding
  }

  #schedule(): void {
    this.#isScheduled = true
    if (this.#isEnding) this.#plan.clock.schedule(this.#scheduledHandOver, endingMs)
    else queueMicrotask(this.#scheduledHandOver)
  }

  #hasRoom(bytes: number, share: number): boolean {
    const most = this.#plan.maxBytes * share
    if (this.#bytes + bytes > most) {
      this.#bytes = this.#writer.bytes
      if (this.#bytes + bytes > most) return false
    }
    this.#bytes += bytes * mostBytesPerUnit
    return true
  }

  /** Records wait in this thread's memory: move them into the ring as the worker makes room. Holds no process. */
  #follow(): void {
    const { pipe, bells = pipe.bells } = this.#plan
    if (this.#isOver || this.#stopFollowing !== undefined) return
    this.#stopFollowing = bells.room.heard(() => {
      this.#writer.publish()
      if (!this.#writer.waits) this.#unfollow()
    })
    // The room may have come before.
    this.#writer.publish()
  }

  #unfollow(): void {
    this.#stopFollowing?.()
    this.#stopFollowing = undefined
  }
}

function shareOf(severity: Severity): number {
  return severity >= errorSeverity ? shareOfErrors : shareOfLogs
}

/** Takes no record. @param refuse counts it */
export function refusal(refuse: (kind: RecordKind) => void): LineSink {
  const value = () => refuse('values')
  return { line: () => refuse('logs'), value, keyedValue: value }
}
