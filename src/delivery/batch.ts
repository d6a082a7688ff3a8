import type { KeyWriter } from '../log/idempotency-key.js'
import { type BatchSpace, inFlight, type Segment } from '../log/segment.js'
import type { RecordKind } from '../records/wire.js'
import type { Outcome, Outgoing, OutgoingBatch, UsableConnection } from './sender.js'

/** Most records in one batch on one connection. The number in use adapts to the service. */
export const maxBatch = 256
/** Most bytes of bodies in one batch. A single record may be longer. */
const maxBatchBytes = 262_144

/** What becomes of the records of a batch. */
export interface BatchOwner {
  onSettle(batch: Batch, index: number, outcome: Outcome, count: number): void
  onDone(batch: Batch): void
}

/** A record of a batch that is detached. */
interface Copy {
  readonly body: Buffer
  readonly key: string
}

const settledCopy: Copy = { body: Buffer.alloc(0), key: '' }

/**
 * Records of one lane in flight: each is named by its segment and its index there, and none is copied. A batch serves again, so that sending
 * allocates nothing.
 */
export class Batch implements OutgoingBatch, BatchSpace {
  readonly kind: RecordKind
  readonly bucket: string
  readonly segments: Segment[] = []
  readonly indexes = new Uint32Array(maxBatch)
  probe = false
  connection: UsableConnection = 'any'
  /** It went out on a connection that had been idle. */
  wasWoken = false
  /** A request of it has begun to be written. */
  hasBegun = false
  /** Its records go another way: it must not begin any more. */
  isGivenUp = false
  /** Some records waited until others were answered. The time between answers then says nothing about the server. */
  wasParted = false
  /** Lowest sequence of its records; infinity without one. */
  lowest = Number.POSITIVE_INFINITY
  /** Bytes that were read from disk, for the records that are not in memory. Undefined while there are none. */
  loaded: Buffer | undefined
  readonly #keys: KeyWriter
  readonly #owner: BatchOwner
  #length = 0
  #bytes = 0
  #mostOwnKeyBytes = 0
  /** By index, of records that were read from disk: where they stand in `loaded`. */
  #positions: Uint32Array | undefined
  /** By index, of a batch that is detached. */
  #copies: readonly Copy[] | undefined

  constructor(plan: {
    readonly kind: RecordKind
    readonly bucket: string
    readonly keys: KeyWriter
    readonly owner: BatchOwner
  }) {
    this.kind = plan.kind
    this.bucket = plan.bucket
    this.#keys = plan.keys
    this.#owner = plan.owner
  }

  get length(): number {
    return this.#length
  }

  /** Bytes of all bodies. */
  get bytes(): number {
    return this.#bytes
  }

  get mostKeyBytes(): number {
    return Math.max(this.#keys.mostBytes, this.#mostOwnKeyBytes)
  }

  /** True where bodies of `bytes` bytes may be added, behind `records` others that are about to be added with them. */
  fits(bytes: number, records = 0): boolean {
    const length = this.#length + records
    return length < maxBatch && (this.#bytes + bytes <= maxBatchBytes || length === 0)
  }

  add(segment: Segment, index: number): void {
    this.addRun(segment, index, 1)
  }

  /** Add `count` records of a segment. */
  addRun(segment: Segment, from: number, count: number): void {
    for (let offset = 0; offset < count; offset++) {
      this.segments[this.#length] = segment
      this.indexes[this.#length++] = from + offset
    }
    this.#bytes += segment.spanOf(from, count) - segment.keyBytesOf(from, count)
    this.lowest = Math.min(this.lowest, segment.sequenceOf(from))
    if (segment.keyLengths === undefined) return
    for (let index = from; index < from + count; index++) {
      this.#mostOwnKeyBytes = Math.max(this.#mostOwnKeyBytes, segment.keyLengths[index]!)
    }
  }

  /** Remove all records. */
  clear(): void {
    this.segments.length = 0
    this.#length = 0
    this.#bytes = 0
    this.#mostOwnKeyBytes = 0
    this.#positions = undefined
    this.loaded = undefined
    this.lowest = Number.POSITIVE_INFINITY
    this.probe = false
    this.connection = 'any'
    this.wasWoken = false
    this.hasBegun = false
    this.isGivenUp = false
    this.wasParted = false
  }

  /**
   * Read the records that are on disk alone, before the batch goes out. Records whose lines are damaged leave the batch, so that it may be empty
   * then. `later`: the disk does not answer, and nothing has changed.
   */
  load(): 'loaded' | 'later' {
    let bytes = 0
    for (let index = 0; index < this.#length; index++) if (!this.#isResident(index)) bytes += this.#spanOf(index)
    if (bytes === 0) return 'loaded'
    const memory = Buffer.allocUnsafeSlow(bytes)
    const positions = new Uint32Array(maxBatch)
    let at = 0
    for (let from = 0; from < this.#length; ) {
      const segment = this.segments[from]!
      let to = from + 1
      while (to < this.#length && this.#continues(to)) to++
      if (!segment.isResident(this.indexes[from]!)) {
        const indexes = this.indexes.subarray(from, to)
        // Where its file went away after they were taken, nothing can be read any more.
        if (segment.file === undefined) for (const each of indexes) segment.log.lose(segment, each, 1, segment.lostBy!)
        else if (segment.file.load(indexes, memory, at) === 'later') return 'later'
        for (let index = from; index < to; index++) {
          positions[index] = at
          at += this.#spanOf(index)
        }
      }
      from = to
    }
    this.loaded = memory
    this.#positions = positions
    this.#removeLost()
    return 'loaded'
  }

  /**
   * Copy the records out of their segments: they may leave while the sender has this batch still. It may go out after that, but it names no
   * record any more that could be settled.
   */
  detach(): void {
    const copies: Copy[] = []
    for (let index = 0; index < this.#length; index++) {
      // A record that is settled may have no bytes any more, and no sender needs them.
      if (this.segments[index]!.states[this.indexes[index]!] !== inFlight) {
        copies.push(settledCopy)
        continue
      }
      const [source, start] = this.#bodyAt(index)
      const body = Buffer.from(source.subarray(start, start + this.bytesOf(index)))
      copies.push({ body, key: this.#keyOf(index) })
    }
    this.#copies = copies
  }

  bytesOf(index: number): number {
    if (this.#copies !== undefined) return this.#copies[index]!.body.length
    return this.segments[index]!.bytesOf(this.indexes[index]!)
  }

  copyRun(index: number, count: number, memory: Buffer, at: number): number {
    const end = index + count
    let behind = at
    if (this.#copies !== undefined) {
      for (const { body } of this.#copies.slice(index, end)) behind += body.copy(memory, behind)
      return behind
    }
    for (let from = index; from < end; ) {
      if (!this.#isResident(from)) {
        const start = this.#loadedAt(from)
        behind += this.loaded!.copy(memory, behind, start, start + this.bytesOf(from))
        from++
        continue
      }
      let to = from + 1
      while (to < end && this.#continues(to) && this.indexes[to] === this.indexes[to - 1]! + 1) to++
      behind = this.segments[from]!.copyRun(this.indexes[from]!, to - from, memory, behind)
      from = to
    }
    return behind
  }

  writeKey(index: number, memory: Buffer, at: number): number {
    if (this.#copies !== undefined) return at + memory.write(this.#copies[index]!.key, at, 'latin1')
    const length = this.#ownKeyLength(index)
    if (length === 0) return this.#keys.write(this.#sequenceOf(index), memory, at)
    const [source, start] = this.#bodyAt(index)
    return at + source.copy(memory, at, start - length, start)
  }

  isKey(index: number, text: string): boolean {
    if (this.#copies !== undefined) return this.#copies[index]!.key === text
    return this.#ownKeyLength(index) === 0
      ? this.#keys.isKey(this.#sequenceOf(index), text)
      : this.#keyOf(index) === text
  }

  textOf(index: number): Outgoing {
    if (this.#copies !== undefined) {
      const { body, key } = this.#copies[index]!
      return { body: body.toString(), bytes: body.length, idempotencyKey: key }
    }
    const bytes = this.bytesOf(index)
    const [source, start] = this.#bodyAt(index)
    return { body: source.toString('utf8', start, start + bytes), bytes, idempotencyKey: this.#keyOf(index) }
  }

  woken(): void {
    this.wasWoken = true
  }

  begin(): boolean {
    this.hasBegun ||= !this.isGivenUp
    return !this.isGivenUp
  }

  parted(): void {
    this.wasParted = true
  }

  settle(index: number, outcome: Outcome, count = 1): void {
    this.#owner.onSettle(this, index, outcome, count)
  }

  done(): void {
    this.#owner.onDone(this)
  }

  #sequenceOf(index: number): number {
    return this.segments[index]!.sequenceOf(this.indexes[index]!)
  }

  #ownKeyLength(index: number): number {
    return this.segments[index]!.keyLengthOf(this.indexes[index]!)
  }

  /** Bytes of the body and of its own key. */
  #spanOf(index: number): number {
    return this.segments[index]!.spanOf(this.indexes[index]!, 1)
  }

  #isResident(index: number): boolean {
    return this.segments[index]!.isResident(this.indexes[index]!)
  }

  /** True where the record belongs to the segment of the one before it, and both or none of them are in memory. */
  #continues(index: number): boolean {
    return this.segments[index] === this.segments[index - 1] && this.#isResident(index) === this.#isResident(index - 1)
  }

  #loadedAt(index: number): number {
    return this.#positions![index]! + this.#ownKeyLength(index)
  }

  /** The memory with the body, and where it stands there. */
  #bodyAt(index: number): readonly [memory: Buffer, start: number] {
    if (!this.#isResident(index)) return [this.loaded!, this.#loadedAt(index)]
    const segment = this.segments[index]!
    return [segment.memory, segment.startOf(this.indexes[index]!)]
  }

  #keyOf(index: number): string {
    const length = this.#ownKeyLength(index)
    if (length === 0) return this.#keys.textOf(this.#sequenceOf(index))
    const [source, start] = this.#bodyAt(index)
    return source.toString('latin1', start - length, start)
  }

  /** Remove the records that turned out to be lost. */
  #removeLost(): void {
    let kept = 0
    this.lowest = Number.POSITIVE_INFINITY
    for (let index = 0; index < this.#length; index++) {
      const segment = this.segments[index]!
      if (segment.states[this.indexes[index]!] !== inFlight) {
        this.#bytes -= this.bytesOf(index)
        continue
      }
      this.lowest = Math.min(this.lowest, this.#sequenceOf(index))
      this.segments[kept] = segment
      this.indexes[kept] = this.indexes[index]!
      this.#positions![kept++] = this.#positions![index]!
    }
    this.#length = kept
    this.segments.length = kept
  }
}
