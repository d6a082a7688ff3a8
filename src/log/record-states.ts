import type { DropReason } from '../delivery/ledger.js'
import type { Head, LedgerBook } from '../delivery/ledger-book.js'
import type { MemoryBounds } from './memory-bounds.js'
import { gone, inFlight, ready, type Segment, type State, waiting } from './segment.js'
import { isQueued, type SegmentChain } from './segment-chain.js'

const mostAttempts = 255

interface RecordStatesPlan {
  readonly lane: number
  readonly ledger: LedgerBook
  readonly bounds: MemoryBounds
  readonly chain: SegmentChain
}

/** The states of the records of a log, and with them their place in the ledger and in the bounds: the only place where they change. */
export class RecordStates {
  /** Records in memory alone that are not in flight, and their bytes. */
  readonly spare = { records: 0, bytes: 0 }
  readonly #lane: number
  readonly #ledger: LedgerBook
  readonly #bounds: MemoryBounds
  readonly #chain: SegmentChain

  constructor({ lane, ledger, bounds, chain }: RecordStatesPlan) {
    this.#lane = lane
    this.#ledger = ledger
    this.#bounds = bounds
    this.#chain = chain
  }

  /** @param head where records go that are gone */
  mark(segment: Segment, from: number, count: number, to: State, head?: Head): void {
    const end = from + count
    for (let index = from; index < end; ) index = this.#markRun(segment, index, end, to, head)
    if (to === ready || to === waiting) this.#chain.moveBack(segment, from, to)
    this.#chain.tidy(segment)
  }

  lose(segment: Segment, from: number, count: number, reason: DropReason): void {
    const before = segment.tally[gone]
    this.mark(segment, from, count, gone, reason)
    this.#bounds.lost(this.#lane, reason, segment.tally[gone] - before)
  }

  /** Lose the records before `to` that are not in flight. */
  loseQueued(segment: Segment, to: number, reason: DropReason): void {
    const before = segment.tally[gone]
    for (let index = segment.head; index < to; index++) {
      if (isQueued(segment.states[index]!)) this.#markRun(segment, index, index + 1, gone, reason)
    }
    this.#bounds.lost(this.#lane, reason, segment.tally[gone] - before)
    this.#chain.tidy(segment)
  }

  /** Other records are in memory alone and not in flight. */
  addSpare(records: number, bytes: number): void {
    this.spare.records += records
    this.spare.bytes += bytes
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
    if (state === gone) return behind
    const count = behind - from
    if (!isResident && to !== gone && segment.lostBy !== undefined) {
      // It was on disk alone, and its file went away while it was in flight.
      this.#markRun(segment, from, behind, gone, segment.lostBy)
      this.#bounds.lost(this.#lane, segment.lostBy, count)
      return behind
    }
    const span = segment.spanOf(from, count)
    const bytes = span - segment.keyBytesOf(from, count)
    const { tally } = this.#chain
    states.fill(to, from, behind)
    segment.tally[state] -= count
    segment.tally[to] += count
    tally[state] -= count
    tally[to] += count
    if (isResident && !isOnDisk) {
      const change = queued(to) - queued(state)
      this.addSpare(count * change, span * change)
    }
    const source = headOf(state, isResident)
    const target = to === gone ? head! : headOf(to, isResident)
    this.#ledger.move(this.#lane, source, target, count, bytes, isOnDisk ? count : 0)
    if (to === inFlight) this.#countAttempts(segment, from, behind)
    else if (to === gone) forget(segment, from, count, span)
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
    this.#ledger.count(this.#lane, 'retries', retries)
  }
}

/** Records are gone. */
function forget(segment: Segment, from: number, count: number, span: number): void {
  if (segment.isResident(from)) segment.held -= span
  if (from < segment.committed) segment.file!.settled(from, count)
  if (segment.trials !== undefined) for (let index = from; index < from + count; index++) segment.trials.delete(index)
  segment.advanceHead()
}

/** 1 for a record that waits to be sent. */
function queued(state: State): number {
  return Number(isQueued(state))
}

function headOf(state: State, isResident: boolean): Head {
  if (state === inFlight) return 'inFlight'
  return isResident ? 'queued' : 'spooled'
}
