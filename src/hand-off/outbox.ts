import type { DropReason } from '../delivery/ledger.js'
import type { AcceptanceWatch } from '../engine/ports.js'
import { errorSeverity, type Severity } from '../records/level.js'
import type { RecordKind } from '../records/wire.js'
import { type Clock, queueMicrotask } from '../runtime/clock.js'
import type { HandOffAccount } from './account.js'
import { FrameWriter } from './frames.js'

/** Text of this length is handed over at once, before the code that logs has returned. */
const longTextBytes = 32_768
/** Time between two hand-overs in a process that is about to end, in case it lives on. */
const endingMs = 50
/**
 * Shares of the room that lines below error may fill, and lines from error on. Records in transit cannot be taken back: this keeps room
 * for errors when there is a flood of other lines, and for value records when there is a flood of errors.
 */
const shareOfLogs = 0.8
const shareOfErrors = 0.9
/** Characters of a value's frame, at most: two whole numbers and three signs. */
const maxValueFrame = 40

export interface OutboxPlan extends AcceptanceWatch {
  readonly clock: Clock
  readonly account: HandOffAccount
  /** Bound of the outbox and of the bytes in transit together. */
  readonly maxBytes: number
  /** Bytes in transit. Between two hand-overs they only shrink. */
  readonly inTransit: () => number
  /** Why there is no room. */
  readonly fullReason: () => DropReason
  /** Called with all that was gathered since the last hand-over. */
  readonly send: (text: Buffer, records: number) => void
}

/**
 * The records that the application has logged and tracked since the last hand-over: lines as text, values in a ring. Hands over in the
 * microtask after the code that logs.
 */
export class Outbox {
  /** Writes the lines for {@link append}. */
  readonly frames = new FrameWriter((frame) => this.#text.append(frame))
  readonly #plan: OutboxPlan
  readonly #account: HandOffAccount
  readonly #text = new OutgoingText()
  readonly #ring = new ValueRing()
  /** As of the last question: too high at worst, until the next hand-over. */
  #inTransit = 0
  #isScheduled = false
  /** True while a record needs neither a hand-over nor a word to the watch. */
  #isSettled = false
  #isEnding = false
  /** Made once: a closure for each hand-over would cost memory even when nothing is left to schedule. */
  readonly #scheduledHandOver = () => {
    this.#isScheduled = false
    this.#isSettled = false
    // A process that still turns lives on.
    this.#isEnding = false
    this.handOver()
  }

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
    if (!this.#isSettled) this.#accepted()
  }

  /** Append the frame of a value with a key, behind the values that came before it. */
  keyedValue(text: string): void {
    this.#drainRing()
    this.#append(text, 'values', 1)
  }

  /** Append the frame of a log record, or drop the record where there is no room. */
  append(text: string, severity: Severity): void {
    this.#append(text, 'logs', severity >= errorSeverity ? shareOfErrors : shareOfLogs)
  }

  #append(text: string, kind: RecordKind, share: number): void {
    if (!this.#hasRoom(text.length, share)) {
      this.#account.drop(kind, this.#plan.fullReason())
      return
    }
    this.#text.append(text)
    this.#account.accept(this.#account.laneOf(kind))
    if (this.#text.length > longTextBytes) this.handOver()
    if (!this.#isSettled) this.#accepted()
  }

  /** Hand over next by a timer, which does not keep the process alive. */
  ending(): void {
    this.#isEnding = true
  }

  handOver(): void {
    this.#drainRing()
    this.#send()
  }

  /** Give the memory back. No record may come any more. */
  release(): void {
    this.#ring.release()
    this.#text.release()
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
    if (this.#inTransit + this.#text.length + bytes <= most) return true
    this.#inTransit = this.#plan.inTransit()
    return this.#inTransit + this.#text.length + bytes <= most
  }

  #drainRing(): void {
    if (this.#ring.length === 0) return
    const lane = this.#account.laneOf('values')
    const isRoomy = this.#hasRoom(this.#ring.length * maxValueFrame, 1)
    this.#ring.drain((eventId, milliseconds) => {
      const text = this.frames.value(eventId, milliseconds)
      if (!isRoomy && !this.#hasRoom(text.length, 1)) this.#account.drop('values', this.#plan.fullReason())
      else {
        this.#text.append(text)
        this.#account.accept(lane)
        if (this.#text.length > longTextBytes) this.#send()
      }
    })
  }

  #send(): void {
    if (this.#text.length === 0) return
    this.#plan.send(this.#text.take(), this.#account.handOver())
    this.#inTransit = this.#plan.inTransit()
  }
}

/** Characters that are gathered before they are encoded: few enough for the processor's cache, enough to be worth a call. */
const gatheredLength = 4096
/** Size of a slab, the memory of many pieces. The first slab is small, each next one is twice as large. */
const maxSlabBytes = 65_536
const firstSlabBytes = 4096
/** Bytes of UTF-8 for a UTF-16 code unit, at most. */
const maxBytesPerUnit = 3

/**
 * The text of one hand-over, gathered as bytes outside the heap: the garbage collector would copy strings that live for a while. A slab
 * lives as long as the last piece that was taken from it.
 */
export class OutgoingText {
  #gathered = ''
  #slabBytes = firstSlabBytes
  #slab = Buffer.alloc(0)
  #start = 0
  #end = 0

  /** Bytes of the encoded part plus characters of the rest. */
  get length(): number {
    return this.#end - this.#start + this.#gathered.length
  }

  append(text: string): void {
    this.#gathered += text
    if (this.#gathered.length > gatheredLength) this.#encode()
  }

  /** Remove the whole text and return it. */
  take(): Buffer {
    this.#encode()
    const piece = this.#slab.subarray(this.#start, this.#end)
    this.#start = this.#end
    return piece
  }

  /** Give the memory back. The next append takes new memory. */
  release(): void {
    this.#slab = Buffer.alloc(0)
    this.#start = 0
    this.#end = 0
  }

  #encode(): void {
    const text = this.#gathered
    this.#gathered = ''
    const most = text.length > gatheredLength * 2 ? Buffer.byteLength(text) : text.length * maxBytesPerUnit
    if (this.#end + most > this.#slab.length) this.#renew(most)
    this.#end += this.#slab.write(text, this.#end)
  }

  /** Take a new slab with `room` bytes behind the bytes of the current text. */
  #renew(room: number): void {
    const waiting = this.#slab.subarray(this.#start, this.#end)
    this.#slab = Buffer.allocUnsafeSlow(Math.max(this.#slabBytes, waiting.length + room))
    this.#slabBytes = Math.min(maxSlabBytes, this.#slabBytes * 2)
    this.#end = waiting.copy(this.#slab)
    this.#start = 0
  }
}

/** Values that fit: a megabyte in all. */
const maxCapacity = 65_536
/** Few engines track more values in one turn. */
const firstCapacity = 256

/** Numbers and times of `track` calls. The memory grows with the longest turn so far; no call allocates after that. */
export class ValueRing {
  #capacity = 0
  #events = new Float64Array(0)
  #times = new Float64Array(0)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** True when it is time to drain: a full ring takes a few milliseconds. */
  get halfFull(): boolean {
    return this.#length >= maxCapacity / 2
  }

  /** False when it is full. */
  push(eventId: number, milliseconds: number): boolean {
    if (this.#length === this.#capacity && !this.#grow()) return false
    this.#events[this.#length] = eventId
    this.#times[this.#length++] = milliseconds
    return true
  }

  /** Give the memory back. The next push takes new memory. */
  release(): void {
    this.#capacity = 0
    this.#events = new Float64Array(0)
    this.#times = new Float64Array(0)
  }

  /** False at the maximum. */
  #grow(): boolean {
    if (this.#capacity === maxCapacity) return false
    this.#capacity = Math.min(maxCapacity, Math.max(firstCapacity, this.#capacity * 4))
    this.#events = grown(this.#events, this.#capacity)
    this.#times = grown(this.#times, this.#capacity)
    return true
  }

  /** Remove every value and visit it, in order. */
  drain(visit: (eventId: number, milliseconds: number) => void): void {
    const length = this.#length
    this.#length = 0
    for (let index = 0; index < length; index++) visit(this.#events[index]!, this.#times[index]!)
  }
}

function grown(numbers: Float64Array, capacity: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(capacity)
  larger.set(numbers)
  return larger
}
