import type { DropReason } from '../delivery/ledger.js'
import type { LedgerBook } from '../delivery/ledger-book.js'
import type { Backing } from './backing.js'
import type { MemoryBounds } from './memory-bounds.js'
import type { RecordStates } from './record-states.js'
import { gone, inFlight, Segment, type SegmentLog, type State } from './segment.js'
import { isQueued, type SegmentChain } from './segment-chain.js'
import { compact, moveBodies, release } from './segment-memory.js'

interface EvictionPlan {
  readonly log: SegmentLog
  readonly ledger: LedgerBook
  readonly bounds: MemoryBounds
  readonly backing: Backing
  readonly chain: SegmentChain
  readonly states: RecordStates
}

/** Moves the records of a log from memory to files, and knows what is lost when a file goes away. */
export class Eviction {
  readonly #plan: EvictionPlan

  constructor(plan: EvictionPlan) {
    this.#plan = plan
  }

  openFile(segment: Segment): void {
    segment.file = this.#plan.backing.open(segment)
    segment.isFileFull = false
    // None of its records is in flight any more that was in the file before.
    segment.lostBy = undefined
  }

  /** The records before `to` are on disk now. */
  written(segment: Segment, to: number): void {
    const { log, ledger, states } = this.#plan
    let records = 0
    for (let index = segment.committed; index < to; index++) {
      const state = segment.states[index]!
      if (state === gone) continue
      records++
      if (isQueued(state)) states.addSpare(-1, -segment.spanOf(index, 1))
    }
    segment.committed = to
    ledger.count(log.lane, 'onDisk', records)
  }

  /** Records of a segment leave memory, where none of them is in flight and the disk has them or takes them. Returns how many. */
  evict(segment: Segment): number {
    const { backing } = this.#plan
    if (segment.tally[inFlight] > 0 || segment.held === 0) return 0
    if (segment.file === undefined) this.openFile(segment)
    if (segment.committed < segment.count) backing.commit()
    const evicted = segment.committed > segment.resident ? this.#forgetBytes(segment) : 0
    // The others need another file.
    const isLeft = segment.isFileFull && segment.file !== undefined && segment.held > 0
    return isLeft && backing.takes ? evicted + this.evict(this.#split(segment)) : evicted
  }

  /** The file went away. Its records that are on disk alone are lost. Records in flight are lost when they come back. */
  forgetFile(segment: Segment, reason: DropReason): void {
    if (segment.file === undefined) return
    const { log, ledger, states } = this.#plan
    const { resident, committed } = segment
    let onDisk = 0
    for (let index = 0; index < committed; index++) {
      const state = segment.states[index]!
      if (state === inFlight || (state !== gone && index >= resident)) onDisk++
      if (isQueued(state) && index >= resident) states.addSpare(1, segment.spanOf(index, 1))
    }
    ledger.count(log.lane, 'onDisk', -onDisk)
    segment.file = undefined
    segment.lostBy = reason
    segment.committed = 0
    states.loseQueued(segment, resident, reason)
  }

  /** Records before `committed` leave memory. Returns how many. */
  #forgetBytes(segment: Segment): number {
    const { log, ledger, bounds, chain } = this.#plan
    let records = 0
    let bytes = 0
    let span = 0
    for (let index = segment.resident; index < segment.committed; index++) {
      if (segment.states[index] === gone) continue
      records++
      bytes += segment.bytesOf(index)
      span += segment.spanOf(index, 1)
    }
    release(segment, segment.committed)
    segment.held -= span
    ledger.move(log.lane, 'queued', 'spooled', records, bytes, records)
    bounds.release(span, records)
    chain.tidy(segment)
    return records
  }

  /** Move the records that are in memory alone to a segment of their own. */
  #split(segment: Segment): Segment {
    const { log, chain } = this.#plan
    const rest = new Segment(log)
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
    chain.link(rest, segment)
    chain.tidy(segment)
    return rest
  }
}
