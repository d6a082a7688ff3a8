import type { QueuedEvent } from '../queued-event.js'
import type { SimulatedThread } from '../simulated-thread.js'
import type { World } from '../world.js'

/** The end that reads a byte stream. */
export interface Reader {
  readonly thread: SimulatedThread | undefined
  /** Returns false when it wants no more bytes until it calls {@link ByteStream.resume}. */
  takeBytes(bytes: Buffer): boolean
  takeEnd(): void
  takeReset(): void
}

/** How bytes travel now. */
export interface Terms {
  latencyMs: number
  jitterMs: number
  bytesPerMs: number
  segmentBytes: number
  bufferBytes: number
}

export interface ByteStreamPlan {
  readonly world: World
  /** Shared by both directions of a connection. */
  readonly terms: Terms
  readonly random: () => number
  readonly reader: Reader
  readonly writer: SimulatedThread | undefined
  /** Bytes have come to a reader that is gone: its system answers with a reset. */
  readonly unwanted: () => void
}

type Arrival =
  | { at: number; readonly type: 'bytes'; readonly pieces: Buffer[]; length: number }
  | { readonly at: number; readonly type: 'end' | 'reset' }

/** One direction of a connection. It has one event in the world's queue at most: that of the next arrival. */
export class ByteStream {
  readonly #plan: ByteStreamPlan
  #coming: Arrival[] = []
  #next = 0
  #event: QueuedEvent | undefined
  /** The time until which bytes are put on the line, and at which the last of them arrives. */
  #busyUntil = 0
  #lastAt = 0
  #unread = 0
  #blocked: (() => void) | undefined
  #paused = false
  /** `cut`: the network lets nothing more through. */
  #state: 'open' | 'cut' | 'ended' | 'reset' = 'open'
  #silent = false
  #abandoned = false
  #cut: { readonly left: number; readonly then: () => void } | undefined

  constructor(plan: ByteStreamPlan) {
    this.#plan = plan
  }

  /** Nothing arrives before `at`. */
  notBefore(at: number): void {
    this.#lastAt = Math.max(this.#lastAt, at)
  }

  /** Call `then` when so many more bytes have arrived; none arrives after them. */
  cutAfter(bytes: number, then: () => void): void {
    this.#cut = { left: bytes, then }
  }

  /** The cut does not happen. */
  mend(): void {
    this.#cut = undefined
  }

  /** Write bytes. `taken` is called, now or later, when the writer may go on. From then on it may use their memory again. */
  write(bytes: Buffer, taken: () => void): void {
    const { bufferBytes } = this.#plan.terms
    const lost = this.#state !== 'open' && !this.#silent
    if (!lost) this.#unread += bytes.length
    if (this.#state === 'open' && !this.#silent) this.#put(Buffer.from(bytes))
    if (lost || this.#unread <= bufferBytes) taken()
    else this.#blocked = taken
  }

  /** The writer writes no more. A reset may overtake what it has written. */
  finish(type: 'end' | 'reset', { overtakes = false }: { readonly overtakes?: boolean } = {}): void {
    const state = this.#state
    if (state === 'cut' || state === 'reset' || (state === 'ended' && type === 'end')) return
    if (overtakes) this.#forget()
    this.impose(type)
  }

  /** The network ends it, after what is on its way. */
  impose(type: 'end' | 'reset'): void {
    if (this.#state === 'reset') return
    this.#state = type === 'end' ? 'ended' : 'reset'
    if (!this.#silent) this.#add({ type, at: this.#arrivalAt() })
  }

  /** Nothing arrives any more, not even what is on its way. Writes succeed until the buffer is full. */
  silence(): void {
    this.#silent = true
    this.#forget()
  }

  get silent(): boolean {
    return this.#silent
  }

  /** The end of a silence: the reader learns that the connection is gone. */
  breakSilence(): void {
    this.#silent = false
    this.#state = 'open'
    this.impose('reset')
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#arm()
  }

  /** The reader is gone. Returns true when bytes had arrived that it did not read. */
  abandon(): boolean {
    this.#abandoned = true
    if (this.#event !== undefined) this.#event.cancelled = true
    this.#event = undefined
    const first = this.#coming[this.#next]
    const unread = first?.type === 'bytes' && first.at <= this.#plan.world.now
    this.#arm()
    return unread
  }

  #put(bytes: Buffer): void {
    const cut = this.#cut
    if (cut === undefined) {
      this.#send(bytes)
      return
    }
    const left = cut.left - bytes.length
    this.#cut = { ...cut, left }
    if (left > 0) {
      this.#send(bytes)
      return
    }
    this.#cut = undefined
    if (cut.left > 0) this.#send(bytes.subarray(0, cut.left))
    this.#state = 'cut'
    this.#plan.world.schedule(cut.then, this.#arrivalAt() - this.#plan.world.now)
  }

  /** Bytes that arrive at the same time arrive together, as far as a segment goes. */
  #send(bytes: Buffer): void {
    const { segmentBytes, bytesPerMs } = this.#plan.terms
    const at = this.#arrivalAt(bytes.length) - Math.max(0, bytes.length - segmentBytes) / bytesPerMs
    const last = this.#coming.at(-1)
    if (last?.type === 'bytes' && last.at === at && last.length + bytes.length <= segmentBytes) {
      last.pieces.push(bytes)
      last.length += bytes.length
    } else this.#add({ type: 'bytes', pieces: [bytes], length: bytes.length, at })
  }

  /** Time at which the last of so many bytes arrives that are written now. */
  #arrivalAt(bytes = 0): number {
    const { world, terms, random, writer } = this.#plan
    this.#busyUntil = Math.max(this.#busyUntil, writer?.clock.now() ?? world.now) + bytes / terms.bytesPerMs
    const jitterMs = terms.jitterMs === 0 ? 0 : terms.jitterMs * random()
    this.#lastAt = Math.max(this.#lastAt, this.#busyUntil + terms.latencyMs + jitterMs)
    return this.#lastAt
  }

  #add(arrival: Arrival): void {
    this.#coming.push(arrival)
    this.#arm()
  }

  #forget(): void {
    this.#coming = []
    this.#next = 0
    if (this.#event !== undefined) this.#event.cancelled = true
    this.#event = undefined
  }

  #arm(): void {
    const first = this.#coming[this.#next]
    if (this.#event !== undefined || first === undefined || (this.#paused && !this.#abandoned)) return
    const { world, reader } = this.#plan
    const thread = this.#abandoned ? undefined : reader.thread
    this.#event = world.schedule(() => this.#arrive(first), first.at - world.now, thread)
  }

  #arrive(first: Arrival): void {
    this.#event = undefined
    const { reader, unwanted } = this.#plan
    if (first.type !== 'bytes') {
      this.#next++
      if (this.#abandoned) return
      if (first.type === 'end') reader.takeEnd()
      else reader.takeReset()
      this.#arm()
      return
    }
    const bytes = this.#firstSegment(first)
    this.#unread -= bytes.length
    if (this.#abandoned) {
      this.#forget()
      unwanted()
      return
    }
    this.#unblock()
    if (!reader.takeBytes(bytes)) this.#paused = true
    this.#arm()
  }

  #firstSegment(first: Arrival & { type: 'bytes' }): Buffer {
    const { segmentBytes, bytesPerMs } = this.#plan.terms
    const [piece = Buffer.alloc(0)] = first.pieces
    if (first.length > segmentBytes) {
      const rest = piece.subarray(segmentBytes)
      first.pieces[0] = rest
      first.length = rest.length
      first.at += Math.min(segmentBytes, rest.length) / bytesPerMs
      return piece.subarray(0, segmentBytes)
    }
    this.#next++
    if (this.#next === this.#coming.length) {
      this.#coming.length = 0
      this.#next = 0
    }
    return first.pieces.length === 1 ? piece : Buffer.concat(first.pieces)
  }

  #unblock(): void {
    const { world, terms, writer } = this.#plan
    const taken = this.#blocked
    if (taken === undefined || this.#unread > terms.bufferBytes) return
    this.#blocked = undefined
    world.schedule(taken, terms.latencyMs, writer)
  }
}
