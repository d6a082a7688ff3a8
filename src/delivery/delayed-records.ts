import type { Clock, Timer } from './clock.js'
import { type Pending, RecordQueue } from './record-queue.js'

interface Slot {
  readonly records: Map<Pending, { readonly notBefore: number }>
  readonly timer: Timer
}

/** Width of a slot: a record waits at most this much longer than it was told to. */
const slotMs = 20

/**
 * Records that failed among successes, each waiting for its own next attempt. Waits are rounded up to slots, one timer
 * each, so that the number of timers is bounded by the longest wait and not by the number of records.
 */
export class DelayedRecords {
  /** The same records by severity and age, for shedding. */
  readonly queue = new RecordQueue()
  readonly #slots = new Map<number, Slot>()
  readonly #clock: Clock
  readonly #due: (records: readonly Pending[]) => void

  constructor(clock: Clock, due: (records: readonly Pending[]) => void) {
    this.#clock = clock
    this.#due = due
  }

  /** Hold a record for `waitMs`; `notBefore` (on the clock) is a moment that not even a drain may ignore. */
  add(record: Pending, { waitMs, notBefore }: { waitMs: number; notBefore: number }): void {
    const number = Math.ceil((this.#clock.now() + waitMs) / slotMs)
    let slot = this.#slots.get(number)
    if (slot === undefined) {
      const timer = this.#clock.schedule(() => this.#release(number), number * slotMs - this.#clock.now())
      slot = { records: new Map(), timer }
      this.#slots.set(number, slot)
    }
    record.slot = number
    slot.records.set(record, { notBefore })
    this.queue.putBack(record)
  }

  remove(record: Pending): void {
    const slot = this.#slots.get(record.slot!)
    slot?.records.delete(record)
    if (slot?.records.size === 0) {
      slot.timer.cancel()
      this.#slots.delete(record.slot!)
    }
    record.slot = undefined
    this.queue.remove(record)
  }

  /** Take out every record that no Retry-After holds back. */
  releaseNow(): void {
    const now = this.#clock.now()
    const free = [...this.#slots.values()].flatMap(({ records }) =>
      [...records].filter(([, { notBefore }]) => notBefore <= now).map(([record]) => record),
    )
    for (const record of free) this.remove(record)
    if (free.length > 0) this.#due(free)
  }

  /** Take out everything and stop every timer; with each record the moment before which it must not be sent. */
  clear(): { readonly record: Pending; readonly notBefore: number }[] {
    const all = [...this.#slots.values()].flatMap(({ records }) =>
      [...records].map(([record, { notBefore }]) => ({ record, notBefore })),
    )
    for (const { record } of all) this.remove(record)
    return all
  }

  #release(number: number): void {
    const records = [...(this.#slots.get(number)?.records.keys() ?? [])]
    for (const record of records) this.remove(record)
    this.#due(records)
  }
}
