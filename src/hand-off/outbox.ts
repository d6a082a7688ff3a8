import { type Severity, severityOfNumber } from '../records/level.js'
import type { HandOffAccount } from './account.js'
import { FrameWriter } from './frames.js'

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

/** Text that is gathered before it is encoded: short enough to be in the processor's cache still, long enough to be worth a call. */
const gatheredLength = 4096
/** Memory that is taken at a time, for many texts: the pieces handed over are parts of it. The first slab is small, each next one larger. */
const maxSlabBytes = 65_536
const firstSlabBytes = 4096
/** Of UTF-8, for a UTF-16 code unit. */
const maxBytesPerUnit = 3

/**
 * Text on its way to another thread, gathered between one hand-over and the next, and kept as bytes outside the heap: text that
 * waits would be moved about by the garbage collector. A slab of memory lives as long as the last piece that was taken from it.
 */
export class OutgoingText {
  #gathered = ''
  #slabBytes = firstSlabBytes
  #slab = Buffer.alloc(0)
  #start = 0
  #end = 0

  /** Bytes, as far as it is encoded; else characters. */
  get length(): number {
    return this.#end - this.#start + this.#gathered.length
  }

  append(text: string): void {
    this.#gathered += text
    if (this.#gathered.length > gatheredLength) this.#encode()
  }

  /** All that has come, in one piece, and be empty. */
  take(): Buffer {
    this.#encode()
    const piece = this.#slab.subarray(this.#start, this.#end)
    this.#start = this.#end
    return piece
  }

  /** Give the memory back; more is taken when something is appended. */
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

  /** A slab with room for so many bytes after those that wait. */
  #renew(room: number): void {
    const waiting = this.#slab.subarray(this.#start, this.#end)
    this.#slab = Buffer.allocUnsafeSlow(Math.max(this.#slabBytes, waiting.length + room))
    this.#slabBytes = Math.min(maxSlabBytes, this.#slabBytes * 2)
    this.#end = waiting.copy(this.#slab)
    this.#start = 0
  }
}

/** Values that fit, a megabyte in all; drained when half full, in a few milliseconds, or when the code that tracks has returned. */
const maxCapacity = 65_536
/** Most engines never track so many values in one turn. */
const firstCapacity = 256

/** Numbers and times of `track` calls, in memory that grows with the longest turn so far and is allocated no more after that. */
export class ValueRing {
  #capacity = 0
  #events = new Float64Array(0)
  #times = new Float64Array(0)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Whether it is time to drain. */
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

  /** Give the memory back; more is taken when something is pushed. */
  release(): void {
    this.#capacity = 0
    this.#events = new Float64Array(0)
    this.#times = new Float64Array(0)
  }

  /** False when it cannot. */
  #grow(): boolean {
    if (this.#capacity === maxCapacity) return false
    this.#capacity = Math.min(maxCapacity, Math.max(firstCapacity, this.#capacity * 4))
    this.#events = grown(this.#events, this.#capacity)
    this.#times = grown(this.#times, this.#capacity)
    return true
  }

  /** Visit every value in order, and be empty. */
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
