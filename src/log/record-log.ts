import type { DropReason } from '../delivery/ledger.js'
import type { Head, LedgerBook, Origin } from '../delivery/ledger-book.js'
import type { Severity } from '../records/level.js'
import type { Backing } from './backing.js'
import type { BoundedLog, MemoryBounds } from './memory-bounds.js'
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
  suspect,
  waiting,
} from './segment.js'
import {
  compact,
  dispose,
  firstBytes,
  isWasteful,
  moveBodies,
  release,
  reserve,
  restMemory,
  trim,
} from './segment-memory.js'

/** Where a new record comes from. `unneeded`: it was suppressed, and kept in case an error came. */
export type Newcomer = Origin | 'unneeded'

interface RecordLogPlan {
  readonly lane: number
  readonly severity: Severity
  readonly ledger: LedgerBook
  readonly bounds: MemoryBounds
  readonly backing: Backing
}

/** Sequences of a segment are stored above its base in 32 bits. */
const mostAbove = 2 ** 32 - 1

/**
 * The records of a lane of one severity, from their acceptance until they are settled, in order of acceptance.
 *
 *     oldest ─ │ segment │ segment │ segment │ ─ newest, room
 *
 * A record never leaves its place: what becomes of it is its state there, and changes in {@link mark}. Positions that only move forward
 * find the next record, so that to append and to take cost the same however many records there are; a record that becomes ready again
 * moves them back.
 */
export class RecordLog implements SegmentLog, BoundedLog {
  readonly lane: number
  readonly severity: Severity
  readonly spare = { records: 0, bytes: 0 }
  readonly #ledger: LedgerBook
  readonly #bounds: MemoryBounds
  readonly #backing: Backing
  /** Records by state. */
  readonly #tally: [number, number, number, number] = [0, 0, 0, 0]
  #first: Segment | undefined
  #last: Segment | undefined
  /** The segment that takes new records: the last one, unless it is sealed. */
  #open: Segment | undefined
  /** Bytes behind its last record that belong to a body which is written now. */
  #staged = 0
  /** Bytes of memory that a segment begins with: as many as one before has needed. */
  #size = firstBytes
  /** No segment before it has a record that is ready. Undefined where none has. */
  #readyIn: Segment | undefined
  /** No segment before it has a suspect that waits. Undefined where none has. */
  #suspectIn: Segment | undefined

  constructor({ lane, severity, ledger, bounds, backing }: RecordLogPlan) {
    this.lane = lane
    this.severity = severity
    this.#ledger = ledger
    this.#bounds = bounds
    this.#backing = backing
    bounds.watch(this)
  }

  get ready(): number {
    return this.#tally[ready]
  }

  get inFlight(): number {
    return this.#tally[inFlight]
  }

  get waiting(): number {
    return this.#tally[waiting]
  }

  /** Records that are not gone. */
  get length(): number {
    return this.ready + this.inFlight + this.waiting
  }

  /** Sequence of the oldest record that is ready; infinity without one. */
  get oldest(): number {
    const segment = this.#seekReady()
    return segment === undefined ? Number.POSITIVE_INFINITY : segment.sequenceOf(segment.cursor)
  }

  /** Sequence of the oldest record that is not gone; infinity without one. A drain for the records before it is over. */
  get lowest(): number {
    for (let segment = this.#first; segment !== undefined; segment = segment.next) {
      if (segment.head < segment.count) return segment.sequenceOf(segment.head)
    }
    return Number.POSITIVE_INFINITY
  }

  /**
   * Room for a record of at most so many bytes, its own key included. Write the key and behind it the body to `memory` at `at`, then
   * {@link append} it. Whatever leaves memory meanwhile, these bytes stay; but look for them in {@link staged} then.
   */
  room(most: number): Segment {
    if (this.#open === undefined || !this.#takes(this.#open, most)) this.#begin()
    const segment = this.#open!
    this.#reserve(segment, most)
    this.#staged = most
    return segment
  }

  /** The segment with the room that was given last. */
  get staged(): Segment {
    return this.#open!
  }

  /** Copy a record of so many bytes that was written into the room of another log. */
  stageFrom(other: RecordLog, bytes: number): void {
    const to = this.room(bytes)
    const { memory, at } = other.staged
    memory.copy(to.memory, to.at, at, at + bytes)
    other.#unstage()
  }

  /**
   * Add the record that was written into the room, after the bounds have made room for it. Where they could not, because records in flight
   * fill the memory, it goes to the disk; it is lost if it cannot.
   *
   * @param bytes of its body
   * @param keyLength bytes of its own key, at most 255; 0 where it has none
   */
  append(bytes: number, sequence: number, keyLength: number, from: Newcomer): void {
    const span = bytes + keyLength
    this.#staged = span
    if (sequence - this.#open!.base > mostAbove) this.#moveStaged()
    const segment = this.#open!
    segment.add(bytes, sequence, keyLength)
    segment.held += span
    this.#tally[ready]++
    this.#spare(1, span)
    this.#unstage()
    this.#ledger.move(this.lane, from, 'queued', 1, bytes)
    this.#bounds.take(span)
    this.#readyIn ??= segment
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
      const segment = this.#seekReady()!
      const from = segment.cursor
      if (segment.sequenceOf(from) >= before) return
      const count = this.#runAt(segment, from, { batch, most: most - batch.length, before })
      if (count === 0) return
      batch.addRun(segment, from, count)
      this.mark(segment, from, count, inFlight)
    }
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

  /** The oldest record that is ready. */
  first(): Ref | undefined {
    const segment = this.#seekReady()
    return segment && { segment, index: segment.cursor }
  }

  /** The newest record that is ready. The cost grows with the number of records behind it. */
  newest(): Ref | undefined {
    for (let segment = this.#last; segment !== undefined; segment = segment.previous) {
      if (segment.tally[ready] > 0) return { segment, index: segment.states.lastIndexOf(ready, segment.count - 1) }
    }
    return undefined
  }

  /** The oldest suspect that waits. */
  oldestSuspect(): Ref | undefined {
    for (const suspect of this.suspects()) return suspect
    return undefined
  }

  *suspects(): Iterable<Ref> {
    let segment = this.#seekSuspect()
    let index = segment?.suspectCursor ?? 0
    for (; segment !== undefined; segment = segment.next, index = segment?.suspectCursor ?? 0) {
      for (; index < segment.count; index++) if (isSuspect(segment, index)) yield { segment, index }
    }
  }

  oldestSpare(): Ref | undefined {
    if (this.spare.records === 0) return undefined
    for (let segment = this.#first; segment !== undefined; segment = segment.next) {
      if (segment.tally[ready] + segment.tally[waiting] === 0) continue
      for (let index = Math.max(segment.head, segment.committed, segment.resident); index < segment.count; index++) {
        if (isQueued(segment.states[index]!)) return { segment, index }
      }
    }
    return undefined
  }

  *segments(): Iterable<Segment> {
    for (let segment = this.#first; segment !== undefined; ) {
      const { next } = segment
      yield segment
      segment = next
    }
  }

  /**
   * Records get another state, and with it another place in the ledger: the only place where that happens. A record that fails again and
   * becomes a suspect while it waits is marked as waiting once more.
   *
   * @param head where records go that are gone
   */
  mark(segment: Segment, from: number, count: number, to: State, head?: Head): void {
    const end = from + count
    for (let index = from; index < end; ) index = this.#markRun(segment, index, end, to, head)
    if (to === ready || to === waiting) this.#moveBack(segment, from, to)
    this.#tidy(segment)
  }

  lose(segment: Segment, from: number, count: number, reason: DropReason): void {
    const before = segment.tally[gone]
    this.mark(segment, from, count, gone, reason)
    this.#bounds.lost(this, reason, segment.tally[gone] - before)
  }

  written(segment: Segment, to: number): void {
    let records = 0
    for (let index = segment.committed; index < to; index++) {
      const state = segment.states[index]!
      if (state === gone) continue
      records++
      if (isQueued(state)) this.#spare(-1, -segment.spanOf(index, 1))
    }
    segment.committed = to
    this.#ledger.count(this.lane, 'onDisk', records)
  }

  seal(segment: Segment): void {
    segment.isFileFull = true
    if (segment.committed === 0) {
      segment.file?.remove()
      segment.file = undefined
    }
    if (segment !== this.#open) return
    if (this.#staged > 0) this.#moveStaged()
    else this.#close()
  }

  /**
   * Records of a segment leave memory, where none of them is in flight and the disk has them or takes them. Returns how many.
   */
  evict(segment: Segment): number {
    if (segment.tally[inFlight] > 0 || segment.held === 0) return 0
    if (segment.file === undefined) this.#openFile(segment)
    if (segment.committed < segment.count) this.#backing.commit()
    const evicted = segment.committed > segment.resident ? this.#forgetBytes(segment) : 0
    // The others need another file.
    const isLeft = segment.isFileFull && segment.file !== undefined && segment.held > 0
    return isLeft && this.#backing.takes ? evicted + this.evict(this.#split(segment)) : evicted
  }

  forgetFile(segment: Segment, reason: DropReason): void {
    if (segment.file === undefined) return
    const { resident, committed } = segment
    let onDisk = 0
    for (let index = 0; index < committed; index++) {
      const state = segment.states[index]!
      if (state === inFlight || (state !== gone && index >= resident)) onDisk++
      if (isQueued(state) && index >= resident) this.#spare(1, segment.spanOf(index, 1))
    }
    this.#ledger.count(this.lane, 'onDisk', -onDisk)
    segment.file = undefined
    segment.lostBy = reason
    segment.committed = 0
    const before = segment.tally[gone]
    for (let index = segment.head; index < resident; index++) {
      if (isQueued(segment.states[index]!)) this.#markRun(segment, index, index + 1, gone, reason)
    }
    this.#bounds.lost(this, reason, segment.tally[gone] - before)
    this.#tidy(segment)
  }

  /** Add a segment that was found on disk, with all its records there alone. Its sequences are above all that are here. */
  adopt(segment: Segment): void {
    const records = segment.tally[ready]
    segment.advanceHead()
    segment.resident = segment.count
    segment.committed = segment.count
    segment.origin = segment.end
    this.#tally[ready] += records
    this.#link(segment, this.#last)
    this.#ledger.move(this.lane, 'adopted', 'spooled', records, 0)
    this.#readyIn ??= segment
    this.#tidy(segment)
  }

  #takes(segment: Segment, most: number): boolean {
    if (segment.count === 0) return true
    // Records that are in flight would keep a new one in memory that has no room there.
    const isPinned = segment.file !== undefined && segment.tally[inFlight] > 0 && !this.#bounds.fits(most)
    return segment.count < fullRecords && segment.end + most <= fullBytes && !isPinned
  }

  /** Open a segment for new records. */
  #begin(): void {
    const before = this.#open
    const segment = new Segment(this, before?.count)
    this.#open = segment
    this.#link(segment, this.#last)
    if (before !== undefined) this.#end(before)
    this.#openFile(segment)
  }

  /** Nothing is appended to the open segment any more. */
  #close(): void {
    const segment = this.#open!
    this.#open = undefined
    this.#end(segment)
  }

  #end(segment: Segment): void {
    if (segment.tally[gone] < segment.count) trim(segment)
    this.#tidy(segment)
  }

  #openFile(segment: Segment): void {
    segment.file = this.#backing.open(segment)
    segment.isFileFull = false
    // None of its records is in flight any more that was in the file before.
    segment.lostBy = undefined
  }

  #reserve(segment: Segment, most: number): void {
    reserve(segment, most, this.#size)
    this.#size = Math.min(fullBytes, Math.max(this.#size, segment.memory.length))
  }

  /** The bytes in the room are a record, or not needed. */
  #unstage(): void {
    this.#staged = 0
    // The room for a large record may be larger than it is.
    if (this.#open!.memory.length > fullBytes) trim(this.#open!)
  }

  /** The body that is written now goes to a new segment. */
  #moveStaged(): void {
    const { memory, at } = this.#open!
    this.#begin()
    const segment = this.#open!
    this.#reserve(segment, this.#staged)
    memory.copy(segment.memory, segment.at, at, at + this.#staged)
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

  /** Marks records that have the same state and place. Returns the index behind them. */
  #markRun(segment: Segment, from: number, end: number, to: State, head: Head | undefined): number {
    const { states, resident, committed } = segment
    const state = states[from] as State
    const isResident = from >= resident
    const isOnDisk = from < committed
    const limit = Math.min(end, isResident ? (isOnDisk ? committed : end) : resident)
    let behind = from + 1
    while (behind < limit && states[behind] === state) behind++
    if (state === to || state === gone) return behind
    const count = behind - from
    if (!isResident && to !== gone && to !== inFlight && segment.lostBy !== undefined) {
      // It was on disk alone, and its file went away while it was in flight.
      this.#markRun(segment, from, behind, gone, segment.lostBy)
      this.#bounds.lost(this, segment.lostBy, count)
      return behind
    }
    const span = segment.spanOf(from, count)
    const bytes = span - segment.keyBytesOf(from, count)
    states.fill(to, from, behind)
    segment.tally[state] -= count
    segment.tally[to] += count
    this.#tally[state] -= count
    this.#tally[to] += count
    if (isResident && !isOnDisk) this.#spare(count * (queued(to) - queued(state)), span * (queued(to) - queued(state)))
    const source = headOf(state, isResident)
    const target = to === gone ? head! : headOf(to, isResident)
    if (source !== target) this.#ledger.move(this.lane, source, target, count, bytes, isOnDisk ? count : 0)
    if (to === inFlight) this.#countAttempts(segment, from, behind)
    else if (to === gone) this.#forget(segment, from, count, span)
    const wasHeld = isResident || state === inFlight
    const isHeld = to === inFlight || (isResident && to !== gone)
    if (wasHeld && !isHeld) this.#bounds.release(span, count)
    else if (!wasHeld && isHeld) this.#bounds.take(span, count)
    return behind
  }

  #countAttempts({ attempts }: Segment, from: number, end: number): void {
    let retries = 0
    for (let index = from; index < end; index++) {
      const before = attempts[index]!
      if (before > 0) retries++
      if (before < mostAttempts) attempts[index] = before + 1
    }
    if (retries > 0) this.#ledger.count(this.lane, 'retries', retries)
  }

  /** Records are gone. */
  #forget(segment: Segment, from: number, count: number, span: number): void {
    if (segment.isResident(from)) segment.held -= span
    if (from < segment.committed) segment.file!.settled(from, count)
    if (segment.trials !== undefined) for (let index = from; index < from + count; index++) segment.trials.delete(index)
    segment.advanceHead()
  }

  /** Records are ready or wait again: look for them from there on. */
  #moveBack(segment: Segment, from: number, to: State): void {
    if (to === ready) {
      segment.cursor = Math.min(segment.cursor, from)
      const later = this.#readyIn
      if (later !== undefined && later.base <= segment.base) return
      this.#readyIn = segment
      if (later !== undefined) this.#tidy(later)
    } else if (segment.trials !== undefined) {
      segment.suspectCursor = Math.min(segment.suspectCursor, from)
      if (this.#suspectIn === undefined || segment.base < this.#suspectIn.base) this.#suspectIn = segment
    }
  }

  /** The segment with the oldest record that is ready, at its cursor. */
  #seekReady(): Segment | undefined {
    if (this.#tally[ready] === 0) return undefined
    let segment = this.#readyIn!
    while (segment.tally[ready] === 0) segment = segment.next!
    this.#readyIn = segment
    segment.cursor = segment.states.indexOf(ready, segment.cursor)
    return segment
  }

  /** The segment with the oldest suspect that waits, at its suspect cursor. */
  #seekSuspect(): Segment | undefined {
    let segment = this.#suspectIn
    for (; segment !== undefined; segment = segment.next) {
      if (segment.tally[waiting] === 0) continue
      while (segment.suspectCursor < segment.count && !isSuspect(segment, segment.suspectCursor))
        segment.suspectCursor++
      if (segment.suspectCursor < segment.count) break
    }
    this.#suspectIn = segment
    return segment
  }

  /** Records before `committed` leave memory. Returns how many. */
  #forgetBytes(segment: Segment): number {
    let records = 0
    let bytes = 0
    let span = 0
    for (let index = segment.resident; index < segment.committed; index++) {
      if (segment.states[index] === gone) continue
      records++
      bytes += segment.bytesOf(index)
      span += segment.spanOf(index, 1)
    }
    release(segment, segment.committed, segment === this.#open ? this.#staged : 0)
    segment.held -= span
    if (records > 0) {
      this.#ledger.move(this.lane, 'queued', 'spooled', records, bytes, records)
      this.#bounds.release(span, records)
    }
    this.#tidy(segment)
    return records
  }

  /** Move the records that are in memory alone to a segment of their own. */
  #split(segment: Segment): Segment {
    const rest = new Segment(this)
    const { states, tally } = segment
    moveBodies(segment, rest)
    for (let index = segment.resident; index < segment.count; index++) {
      const state = states[index] as State
      if (state === gone) continue
      const trial = segment.trials?.get(index)
      if (trial !== undefined) {
        segment.trials!.delete(index)
        rest.trials ??= new Map()
        rest.trials.set(rest.count, trial)
        trial.segment = rest
        trial.index = rest.count
      }
      rest.attempts[rest.count] = segment.attempts[index]!
      rest.add(segment.bytesOf(index), segment.sequenceOf(index), segment.keyLengthOf(index), state)
      states[index] = gone
      tally[state]--
      tally[gone]++
    }
    rest.held = segment.held
    segment.held = 0
    compact(segment)
    segment.advanceHead()
    this.#link(rest, segment)
    this.#tidy(segment)
    return rest
  }

  #spare(records: number, bytes: number): void {
    this.spare.records += records
    this.spare.bytes += bytes
  }

  /** Give up a segment whose records are all gone, and memory that is not needed. */
  #tidy(segment: Segment): void {
    const { tally } = segment
    if (segment === this.#open) {
      if (tally[gone] === segment.count && this.#staged === 0) restMemory(segment)
    } else if (tally[gone] === segment.count) this.#remove(segment)
    else if (tally[inFlight] === 0 && isWasteful(segment.memory.length, segment.held)) {
      // What goes out next need not be copied before.
      if (segment !== this.#readyIn || tally[ready] === 0) compact(segment)
    }
  }

  /** Add a segment behind another one. */
  #link(segment: Segment, previous: Segment | undefined): void {
    const next = previous?.next
    segment.previous = previous
    segment.next = next
    if (previous === undefined) this.#first = segment
    else previous.next = segment
    if (next === undefined) this.#last = segment
    else next.previous = segment
  }

  #remove(segment: Segment): void {
    const { previous, next } = segment
    if (previous === undefined && this.#first !== segment) return
    if (previous === undefined) this.#first = next
    else previous.next = next
    if (next === undefined) this.#last = previous
    else next.previous = previous
    if (this.#readyIn === segment) this.#readyIn = next
    if (this.#suspectIn === segment) this.#suspectIn = next
    segment.previous = undefined
    segment.next = undefined
    dispose(segment)
    segment.file?.remove()
    segment.file = undefined
  }
}

const mostAttempts = 255

function isQueued(state: number): boolean {
  return state === ready || state === waiting
}

/** 1 for a record that waits to be sent. */
function queued(state: State): number {
  return Number(isQueued(state))
}

function headOf(state: State, isResident: boolean): Head {
  if (state === inFlight) return 'inFlight'
  return isResident ? 'queued' : 'spooled'
}

function isSuspect(segment: Segment, index: number): boolean {
  return segment.states[index] === waiting && segment.trials?.get(index)?.blame === suspect
}
