import type { Clock, Timer } from '../runtime/clock.js'
import { type Pending, RecordQueue } from './record-queue.js'
import type { Wait } from './rules.js'

interface Slot {
  readonly records: Map<Pending, Wait>
  readonly timer: Timer
}

/** Width of a slot: a record waits at most this much longer than it has to. */
const slotMs = 20

/**
 * Records that each wait for their own next attempt. Waits are rounded up to slots with one timer each, so that the number of timers is
 * bounded by the longest wait and not by the number of records.
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

  /** Add a record that waits for `waitMs`. Only {@link releaseNow} looks at the wait that the service asked for. */
  add(record: Pending, { waitMs, ...wait }: Wait & { readonly waitMs: number }): void {
    const number = Math.ceil((this.#clock.now() + waitMs) / slotMs)
    let slot = this.#slots.get(number)
    if (slot === undefined) {
      const timer = this.#clock.schedule(() => this.#release(number), number * slotMs - this.#clock.now())
      slot = { records: new Map(), timer }
      this.#slots.set(number, slot)
    }
    record.slot = number
    slot.records.set(record, wait)
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

  /** Make due every record that no Retry-After holds back. With `last`, a wait that is too long to honour holds none back either. */
  releaseNow({ last }: { readonly last: boolean }): void {
    const now = this.#clock.now()
    const free = this.#list().filter(({ notBefore, excessive }) => notBefore <= now || (last && excessive))
    for (const { record } of free) this.remove(record)
    if (free.length > 0) this.#due(free.map(({ record }) => record))
  }

  /** Take the record that is due first, of those that no Retry-After holds back. */
  takeEarliest(): Pending | undefined {
    const now = this.#clock.now()
    let earliest: Pending | undefined
    for (const { record, notBefore } of this.#list()) {
      if (notBefore <= now && (earliest === undefined || record.slot! < earliest.slot!)) earliest = record
    }
    if (earliest !== undefined) this.remove(earliest)
    return earliest
  }

  /** Take out everything and stop every timer. */
  clear(): ({ readonly record: Pending } & Wait)[] {
    const all = this.#list()
    for (const { record } of all) this.remove(record)
    return all
  }

  #list(): ({ readonly record: Pending } & Wait)[] {
    return [...this.#slots.values()].flatMap(({ records }) =>
      [...records].map(([record, wait]) => ({ record, ...wait })),
    )
  }

  #release(number: number): void {
    const records = [...(this.#slots.get(number)?.records.keys() ?? [])]
    for (const record of records) this.remove(record)
    this.#due(records)
  }
}
