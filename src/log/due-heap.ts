import { type Trial, waiting } from './segment.js'

/** Width of a slot, in ms: a record waits at most this much longer than it has to, and records that wait as long share a timer. */
const slotMs = 20

/**
 * Records that wait for their own next attempt, the soonest first. Each operation costs O(log n). A record that has left, or that waits for
 * another moment now, stays in the heap until its old moment comes.
 */
export class DueHeap {
  readonly #entries: { readonly at: number; readonly trial: Trial }[] = []

  /** The moment at which the next record is due, on the clock; infinity when none waits. */
  get next(): number {
    for (;;) {
      const first = this.#entries[0]
      if (first === undefined) return Number.POSITIVE_INFINITY
      if (holds(first.trial, first.at)) return first.at
      this.#removeFirst()
    }
  }

  /** The records that wait, in no order. */
  *[Symbol.iterator](): Iterator<Trial> {
    for (const { at, trial } of this.#entries) if (holds(trial, at)) yield trial
  }

  /** The record waits until `at`, on the clock. */
  add(trial: Trial, at: number): void {
    const entry = { at: Math.ceil(at / slotMs) * slotMs, trial }
    trial.dueAt = entry.at
    let index = this.#entries.push(entry) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (this.#entries[parent]!.at <= entry.at) break
      this.#entries[index] = this.#entries[parent]!
      index = parent
    }
    this.#entries[index] = entry
  }

  /** Take the next record that is due by `now`. */
  take(now: number): Trial | undefined {
    if (this.next > now) return undefined
    const { trial } = this.#removeFirst()
    trial.dueAt = Number.POSITIVE_INFINITY
    return trial
  }

  #removeFirst(): { readonly at: number; readonly trial: Trial } {
    const first = this.#entries[0]!
    const last = this.#entries.pop()!
    if (last === first) return first
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      if (child >= this.#entries.length) break
      if (child + 1 < this.#entries.length && this.#entries[child + 1]!.at < this.#entries[child]!.at) child++
      if (this.#entries[child]!.at >= last.at) break
      this.#entries[index] = this.#entries[child]!
      index = child
    }
    this.#entries[index] = last
    return first
  }
}

/** True while the record waits for this moment. */
function holds(trial: Trial, at: number): boolean {
  return trial.dueAt === at && isWaiting(trial)
}

/** True while the trial says how its record stands: the record waits, for its own attempt or to be asked again. */
export function isWaiting(trial: Trial): boolean {
  const { segment, index } = trial
  return segment.states[index] === waiting && segment.trials?.get(index) === trial
}
