import { gone, inFlight, type Ref, ready, type Segment, type State, suspect, waiting } from './segment.js'
import { compact, dispose, isWasteful, restMemory } from './segment-memory.js'

/**
 * The segments of a log, and where to look in them.
 *
 *     oldest ─ │ segment │ segment │ segment │ ─ newest
 *
 * Positions that only move forward find the next record, so that to find it costs the same however many records there are; a record that
 * becomes ready again moves them back.
 */
export class SegmentChain {
  /** Records by state. */
  readonly tally: [number, number, number, number] = [0, 0, 0, 0]
  /** The segment that takes new records: the last one, unless it is sealed. */
  open: Segment | undefined
  last: Segment | undefined
  #first: Segment | undefined
  /** No segment before it has a record that is ready. Undefined where none has. */
  #readyIn: Segment | undefined
  /** No segment before it has a suspect that waits. Undefined where none has. */
  #suspectIn: Segment | undefined;

  *[Symbol.iterator](): Iterator<Segment> {
    for (let segment = this.#first; segment !== undefined; ) {
      const { next } = segment
      yield segment
      segment = next
    }
  }

  /** The segment with the oldest record that is ready, at its cursor. */
  seekReady(): Segment | undefined {
    if (this.tally[ready] === 0) return undefined
    let segment = this.#readyIn!
    while (segment.tally[ready] === 0) segment = segment.next!
    this.#readyIn = segment
    segment.cursor = segment.states.indexOf(ready, segment.cursor)
    return segment
  }

  /** The newest record that is ready. The cost grows with the number of records behind it. */
  newest(): Ref | undefined {
    for (let segment = this.last; segment !== undefined; segment = segment.previous) {
      if (segment.tally[ready] > 0) return { segment, index: segment.states.lastIndexOf(ready, segment.count - 1) }
    }
    return undefined
  }

  /** The oldest record that is ready and in memory. The cost grows with the number of segments. */
  firstResident(): Ref | undefined {
    for (let segment = this.#first; segment !== undefined; segment = segment.next) {
      if (segment.tally[ready] === 0) continue
      const index = segment.states.indexOf(ready, segment.resident)
      if (index !== -1 && index < segment.count) return { segment, index }
    }
    return undefined
  }

  /** Suspects that wait, the oldest first. */
  *suspects(): Iterable<Ref> {
    let segment = this.#seekSuspect()
    let index = segment?.suspectCursor ?? 0
    for (; segment !== undefined; segment = segment.next, index = segment?.suspectCursor ?? 0) {
      for (; index < segment.count; index++) if (isSuspect(segment, index)) yield { segment, index }
    }
  }

  /** The oldest record in memory alone that is not in flight. */
  oldestSpare(): Ref | undefined {
    for (let segment = this.#first; segment !== undefined; segment = segment.next) {
      if (segment.tally[ready] + segment.tally[waiting] === 0) continue
      for (let index = Math.max(segment.head, segment.committed, segment.resident); index < segment.count; index++) {
        if (isQueued(segment.states[index]!)) return { segment, index }
      }
    }
    return undefined
  }

  /** The newest segment of all has a record that is ready. */
  addedReady(segment: Segment): void {
    this.#readyIn ??= segment
  }

  /** Records are ready or wait again: look for them from there on. */
  moveBack(segment: Segment, from: number, to: State): void {
    if (to === ready) {
      segment.cursor = Math.min(segment.cursor, from)
      const later = this.#readyIn
      if (later !== undefined && later.base <= segment.base) return
      this.#readyIn = segment
      if (later !== undefined) this.tidy(later)
    } else {
      segment.suspectCursor = Math.min(segment.suspectCursor, from)
      if (this.#suspectIn === undefined || segment.base < this.#suspectIn.base) this.#suspectIn = segment
    }
  }

  /** Give up a segment whose records are all gone, and memory that is not needed. */
  tidy(segment: Segment): void {
    const { tally } = segment
    if (segment === this.open) {
      if (tally[gone] === segment.count) restMemory(segment)
    } else if (tally[gone] === segment.count) this.#remove(segment)
    else if (tally[inFlight] === 0 && isWasteful(segment.memory.length, segment.held)) {
      // What goes out next need not be copied before.
      if (segment !== this.#readyIn || tally[ready] === 0) compact(segment)
    }
  }

  /** Add a segment behind another one. */
  link(segment: Segment, previous: Segment | undefined): void {
    const next = previous?.next
    segment.previous = previous
    segment.next = next
    if (previous === undefined) this.#first = segment
    else previous.next = segment
    if (next === undefined) this.last = segment
    else next.previous = segment
  }

  #remove(segment: Segment): void {
    const { previous, next } = segment
    if (previous === undefined && this.#first !== segment) return
    if (previous === undefined) this.#first = next
    else previous.next = next
    if (next === undefined) this.last = previous
    else next.previous = previous
    if (this.#readyIn === segment) this.#readyIn = next
    if (this.#suspectIn === segment) this.#suspectIn = next
    segment.previous = undefined
    segment.next = undefined
    dispose(segment)
    segment.file?.remove()
    segment.file = undefined
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
}

/** True for a record that waits to be sent. */
export function isQueued(state: number): boolean {
  return state === ready || state === waiting
}

function isSuspect(segment: Segment, index: number): boolean {
  return segment.states[index] === waiting && segment.trials?.get(index)?.blame === suspect
}
