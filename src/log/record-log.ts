import type { DropReason } from '../delivery/ledger.js'
import type { Head, LedgerBook, Origin } from '../delivery/ledger-book.js'
import type { Severity } from '../records/level.js'
import type { Backing } from './backing.js'
import { Eviction } from './eviction.js'
import type { BoundedLog, MemoryBounds } from './memory-bounds.js'
import { RecordStates } from './record-states.js'
import {
  type BatchSpace,
  fullBytes,
  fullRecords,
  gone,
  inFlight,
  type Ref,
  ready,
  Segment,
  type SegmentLog,
  type State,
  waiting,
} from './segment.js'
import { SegmentChain } from './segment-chain.js'
import { firstBytes, reserve, trim } from './segment-memory.js'

/** Where a new record comes from. `unneeded`: it was suppressed, and kept in case an error came. */
export type Newcomer = Origin | 'unneeded'

/** A record as it is added to a log. */
export interface NewRecord {
  readonly body: string
  /** Bytes of the body in UTF-8. */
  readonly bytes: number
  /** A key of its own, of at most 255 characters of ASCII. @default none */
  readonly key?: string | undefined
}

interface RecordLogPlan {
  readonly lane: number
  readonly severity: Severity
  readonly ledger: LedgerBook
  readonly bounds: MemoryBounds
  readonly backing: Backing
}

/**
 * The records of a lane of one severity, from their acceptance until they are settled, in order of acceptance. A record never leaves
 * its place: what becomes of it is its state there, and changes in {@link mark}.
 */
export class RecordLog implements SegmentLog, BoundedLog {
  readonly lane: number
  readonly severity: Severity
  readonly #ledger: LedgerBook
  readonly #bounds: MemoryBounds
  readonly #backing: Backing
  readonly #chain = new SegmentChain()
  readonly #states: RecordStates
  readonly #eviction: Eviction
  /** Bytes of memory that a segment begins with: as many as one before has needed. */
  #size = firstBytes

  constructor({ lane, severity, ledger, bounds, backing }: RecordLogPlan) {
    this.lane = lane
    this.severity = severity
    this.#ledger = ledger
    this.#bounds = bounds
    this.#backing = backing
    const shared = { ledger, bounds, chain: this.#chain }
    this.#states = new RecordStates({ lane, ...shared })
    this.#eviction = new Eviction({ log: this, backing, states: this.#states, ...shared })
    bounds.watch(this)
  }

  get ready(): number {
    return this.#chain.tally[ready]
  }

  get waiting(): number {
    return this.#chain.tally[waiting]
  }

  /** Sequence of the oldest record that is ready; infinity without one. */
  get oldest(): number {
    const segment = this.#chain.seekReady()
    return segment === undefined ? Number.POSITIVE_INFINITY : segment.sequenceOf(segment.cursor)
  }

  get spare(): BoundedLog['spare'] {
    return this.#states.spare
  }

  /** The segment of the record that was added last. */
  get newestSegment(): Segment {
    return this.#chain.last!
  }

  /**
   * Add a record, after the bounds have made room for it. Where they could not, because records in flight fill the memory, it goes to the disk;
   * it is lost if it cannot.
   */
  append({ body, bytes, key = '' }: NewRecord, sequence: number, from: Newcomer): void {
    const span = bytes + key.length
    const segment = this.#openFor(span, sequence)
    const { memory, at } = segment
    if (key !== '') memory.write(key, at, 'latin1')
    // The characters are ASCII where there are as many as bytes.
    if (bytes === body.length) memory.write(body, at + key.length, 'latin1')
    else memory.write(body, at + key.length)
    segment.add(bytes, sequence, key.length)
    segment.held += span
    this.#chain.tally[ready]++
    this.#states.addSpare(1, span)
    this.#ledger.move(this.lane, from, 'queued', 1, bytes)
    this.#bounds.take(span)
    this.#chain.addedReady(segment)
    // The room for a large record may be larger than it is.
    if (segment.memory.length > fullBytes) trim(segment)
    if (this.#bounds.fits(0, 0)) return
    const index = segment.count - 1
    this.evict(segment)
    if (segment.isResident(index) && !this.#bounds.fits(0, 0)) this.lose(segment, index, 1, this.#backing.lossReason)
  }

  /**
   * Take the oldest records that are ready into a batch, until it has `most` or is full. None are taken from the sequence `before` on.
   */
  take(batch: BatchSpace, most: number, before: number): void {
    while (batch.length < most) {
      const first = this.first()
      if (first === undefined || !this.mayTake(first)) return
      // Where others have left memory for it, it may stand elsewhere now.
      const segment = this.#chain.seekReady()!
      const index = segment.cursor
      if (segment.sequenceOf(index) >= before || !this.#takeRun(batch, { segment, index }, { most, before })) return
    }
  }

  /** The same for the records that are in memory, although older ones are not. */
  takeResident(batch: BatchSpace, most: number): void {
    const all = { most, before: Number.POSITIVE_INFINITY }
    for (let first = this.firstResident(); first !== undefined && batch.length < most; first = this.firstResident())
      if (!this.#takeRun(batch, first, all)) return
  }

  /** True where the record is in memory, or may come back into it. Others leave for it, where they can. */
  mayTake({ segment, index }: Ref): boolean {
    if (segment.isResident(index)) return true
    const bytes = segment.spanOf(index, 1)
    if (!this.#bounds.admits(bytes)) this.#bounds.evict()
    return this.#bounds.admits(bytes)
  }

  /** Take one record that is ready or waits, and that {@link mayTake} allows. */
  takeOne(batch: BatchSpace, { segment, index }: Ref): void {
    batch.addRun(segment, index, 1)
    this.mark(segment, index, 1, inFlight)
  }

  first(): Ref | undefined {
    const segment = this.#chain.seekReady()
    return segment && { segment, index: segment.cursor }
  }

  newest(): Ref | undefined {
    return this.#chain.newest()
  }

  firstResident(): Ref | undefined {
    return this.#chain.firstResident()
  }

  suspects(): Iterable<Ref> {
    return this.#chain.suspects()
  }

  oldestSpare(): Ref | undefined {
    return this.#chain.oldestSpare()
  }

  segments(): Iterable<Segment> {
    return this.#chain
  }

  /**
   * Records get another state, and with it another place in the ledger. A record that fails again and becomes a suspect while it waits is
   * marked as waiting once more.
   */
  mark(segment: Segment, from: number, count: number, to: State, head?: Head): void {
    this.#states.mark(segment, from, count, to, head)
  }

  lose(segment: Segment, from: number, count: number, reason: DropReason): void {
    this.#states.lose(segment, from, count, reason)
  }

  written(segment: Segment, to: number): void {
    this.#eviction.written(segment, to)
  }

  seal(segment: Segment): void {
    segment.isFileFull = true
    if (segment.committed === 0) {
      segment.file?.remove()
      segment.file = undefined
    }
    if (segment !== this.#chain.open) return
    this.#chain.open = undefined
    this.#end(segment)
  }

  evict(segment: Segment): number {
    return this.#eviction.evict(segment)
  }

  forgetFile(segment: Segment, reason: DropReason): void {
    this.#eviction.forgetFile(segment, reason)
  }

  /** Add a segment that was found on disk, with all its records there alone. Its sequences are above all that are here. */
  adopt(segment: Segment): void {
    const records = segment.tally[ready]
    segment.advanceHead()
    segment.resident = segment.count
    segment.committed = segment.count
    segment.origin = segment.end
    this.#chain.tally[ready] += records
    this.#chain.link(segment, this.#chain.last)
    this.#ledger.move(this.lane, 'adopted', 'spooled', records, 0)
    this.#chain.addedReady(segment)
    this.#chain.tidy(segment)
  }

  /** The segment that takes the record, with room for it. */
  #openFor(span: number, sequence: number): Segment {
    const { open } = this.#chain
    // A segment stores sequences above its base in 32 bits.
    if (open === undefined || !this.#takes(open, span) || sequence - open.base >= 2 ** 32) this.#begin()
    const segment = this.#chain.open!
    reserve(segment, span, this.#size)
    this.#size = Math.min(fullBytes, Math.max(this.#size, segment.memory.length))
    return segment
  }

  #takes(segment: Segment, most: number): boolean {
    if (segment.count === 0) return true
    // Records that are in flight would keep a new one in memory that has no room there.
    const isPinned = segment.file !== undefined && segment.tally[inFlight] > 0 && !this.#bounds.fits(most)
    return segment.count < fullRecords && segment.end + most <= fullBytes && !isPinned
  }

  /** Open a segment for new records. */
  #begin(): void {
    const before = this.#chain.open
    const segment = new Segment(this, before?.count)
    this.#chain.open = segment
    this.#chain.link(segment, this.#chain.last)
    if (before !== undefined) this.#end(before)
    this.#eviction.openFile(segment)
  }

  /** Nothing is appended to the segment any more. */
  #end(segment: Segment): void {
    if (segment.tally[gone] < segment.count) trim(segment)
    this.#chain.tidy(segment)
  }

  /** Take the records from there on that can be taken in one go. False where the batch has no room for them. */
  #takeRun(
    batch: BatchSpace,
    { segment, index }: Ref,
    { most, before }: { readonly most: number; readonly before: number },
  ): boolean {
    const count = this.#runAt(segment, index, { batch, most: most - batch.length, before })
    if (count === 0) return false
    batch.addRun(segment, index, count)
    this.mark(segment, index, count, inFlight)
    return true
  }

  /** How many records from there on can be taken in one go. All of them are in memory, or none. */
  #runAt(
    segment: Segment,
    from: number,
    { batch, most, before }: { readonly batch: BatchSpace; readonly most: number; readonly before: number },
  ): number {
    const isResident = segment.isResident(from)
    const end = Math.min(isResident ? segment.count : segment.resident, from + most)
    let bytes = 0
    let to = from
    for (; to < end && segment.states[to] === ready && segment.sequenceOf(to) < before; to++) {
      bytes += segment.bytesOf(to)
      const others = to - from
      if (!batch.fits(bytes, others)) break
      if (!isResident && others > 0 && !this.#bounds.fits(segment.spanOf(from, others + 1), others + 1)) break
    }
    return to - from
  }
}
