import { type Severity, severityOfNumber } from '../records/level.js'
import type { HandOffAccount } from './account.js'
import { FrameWriter } from './frame-writer.js'
import { OutgoingText } from './outgoing-text.js'
import { ValueRing } from './value-ring.js'

/** What is handed over at once, though the code that logs has not returned. */
const longTextBytes = 32_768
/**
 * What is on the way cannot be taken back: the shares of the room that lines below error may fill, and lines from error on, so that
 * a flood of the first costs none of the second, and logs cost no value record.
 */
const shareOfLogs = 0.8
const shareOfErrors = 0.9
const errorSeverity = severityOfNumber(50)
/** Characters of a value's frame, at most: two whole numbers and three signs. */
const maxValueFrame = 40

export interface OutboxPlan {
  readonly account: HandOffAccount
  /** Bound of all that is on the way, handed over or not. */
  readonly maxBytes: number
  /** Bytes that were handed over and not taken yet. It only shrinks between two hand-overs. */
  readonly waitingBytes: () => number
  /** Hears of a value for which there is no room. */
  readonly dropValue: () => void
  /** Takes what has come, `records` in number. */
  readonly send: (text: Buffer, records: number) => void
}

/** What the application has logged and tracked since the last hand-over: lines as text, values in a ring, and the bound of both. */
export class Outbox {
  /** Writes the lines for {@link append}. */
  readonly frames = new FrameWriter((frame) => this.#text.append(frame))
  readonly #plan: OutboxPlan
  readonly #account: HandOffAccount
  readonly #text = new OutgoingText()
  readonly #ring = new ValueRing()
  /** When it was last asked for: it only shrinks until the next hand-over. */
  #waitingBytes = 0

  constructor(plan: OutboxPlan) {
    this.#plan = plan
    this.#account = plan.account
  }

  /** Values that are in no text yet. */
  get values(): number {
    return this.#ring.length
  }

  value(eventId: number, milliseconds: number): void {
    if (this.#ring.halfFull) this.handOver()
    this.#ring.push(eventId, milliseconds)
  }

  /** Take in a frame of a log record; false when there is no room for it. */
  append(text: string, severity: Severity): boolean {
    if (!this.#hasRoom(text.length, severity >= errorSeverity ? shareOfErrors : shareOfLogs)) return false
    this.#text.append(text)
    this.#account.took(this.#account.laneOf('logs'))
    if (this.#text.length > longTextBytes) this.handOver()
    return true
  }

  handOver(): void {
    this.#drainRing()
    this.#send()
  }

  /** Give the memory back; nothing may come any more. */
  release(): void {
    this.#ring.release()
    this.#text.release()
  }

  #hasRoom(bytes: number, share: number): boolean {
    const most = this.#plan.maxBytes * share
    if (this.#waitingBytes + this.#text.length + bytes <= most) return true
    this.#waitingBytes = this.#plan.waitingBytes()
    return this.#waitingBytes + this.#text.length + bytes <= most
  }

  #drainRing(): void {
    if (this.#ring.length === 0) return
    const lane = this.#account.laneOf('values')
    const roomy = this.#hasRoom(this.#ring.length * maxValueFrame, 1)
    this.#ring.drain((eventId, milliseconds) => {
      const text = this.frames.value(eventId, milliseconds)
      if (!roomy && !this.#hasRoom(text.length, 1)) this.#plan.dropValue()
      else {
        this.#text.append(text)
        this.#account.took(lane)
        if (this.#text.length > longTextBytes) this.#send()
      }
    })
  }

  #send(): void {
    if (this.#text.length === 0) return
    this.#plan.send(this.#text.take(), this.#account.handOver())
    this.#waitingBytes = this.#plan.waitingBytes()
  }
}
