import type { Clock } from '../runtime/clock.js'
import type { BackoffBounds } from './backoff.js'
import type { Hold } from './breaker.js'
import { Concurrency, type ConcurrencyBounds } from './concurrency.js'
import { DelayedRecords } from './delayed-records.js'
import type { Drain } from './drain.js'
import type { LaneCondition, LaneName, LaneState } from './ledger.js'
import { LossTally } from './observer.js'
import { Probes } from './probes.js'
import { type Generation, type Pending, RecordQueue } from './record-queue.js'
import { Suspects } from './suspects.js'

export interface LanePlan {
  readonly name: LaneName
  readonly index: number
  readonly clock: Clock
  readonly random: () => number
  readonly retry: BackoffBounds
  readonly bounds: ConcurrencyBounds
  readonly drains: ReadonlySet<Drain>
  /** It has records to send. */
  readonly due: (lane: Lane) => void
}

/** A place in a lane from which a record can be taken out. */
export interface Shelf {
  readonly queue: RecordQueue
  /** Those here go first when memory is full. */
  readonly suspects: boolean
  remove(record: Pending): void
}

/** The pending records of one bucket and kind, and what is known of their way to the service. */
export class Lane {
  readonly name: LaneName
  /** Row in the ledger. */
  readonly index: number
  /** Records that may go out now. */
  readonly ready = new RecordQueue()
  /** Records that could not be sent, while others could: each waits for its own retry. */
  readonly delayed: DelayedRecords
  /** Records that failed where others succeeded: each goes out alone. */
  readonly suspects: Suspects
  /** Records that test the service while the lane is held. */
  readonly probes = new Probes()
  /** All places where its records are, but for those in flight. */
  readonly shelves: readonly Shelf[]
  readonly concurrency: Concurrency
  /** What keeps the lane from sending; undefined while it is open. */
  hold: Hold | undefined
  /** Status of the answer that paused it. */
  pauseStatus = 0
  closed = false
  /** A batch of one is under way that tests the service. */
  probing = false
  /** Records of it that are in the store alone, and were accepted by this process. */
  parked = 0
  /** Records that the service has taken; and those that it has taken or judged. */
  delivered = 0
  settled = 0
  /** On the clock; when the service last took or judged a record. */
  lastSuccessAt = Number.NEGATIVE_INFINITY
  /** Most severe first, for a process that is about to end. */
  severeFirst = false
  /** It may send once though the service asks for a longer wait than is honoured: nothing comes after this drain. */
  lastChance = false
  /** What the ledger says of it. */
  described: LaneCondition = { state: 'open', connections: 0, depth: 0, sender: 'undici' }
  readonly losses = new LossTally()
  readonly #generations: Generation[] = [{ number: 0, outstanding: 0 }]

  constructor({ name, index, bounds, due, ...plan }: LanePlan) {
    this.name = name
    this.index = index
    this.concurrency = new Concurrency(bounds)
    this.delayed = new DelayedRecords(plan.clock, (records) => {
      for (const record of records) this.ready.putBack(record)
      due(this)
    })
    this.suspects = new Suspects({ ...plan, lane: this, due: () => due(this) })
    const { delayed, suspects, ready, probes } = this
    const shelf = (queue: RecordQueue, about: Partial<Shelf> = {}): Shelf => ({
      queue,
      suspects: false,
      remove: (record) => queue.remove(record),
      ...about,
    })
    this.shelves = [
      shelf(ready),
      shelf(probes.tried),
      shelf(delayed.queue, { remove: (record) => delayed.remove(record) }),
      shelf(suspects.waiting.queue, { suspects: true, remove: (record) => suspects.waiting.remove(record) }),
      shelf(suspects.fresh, { suspects: true }),
      shelf(suspects.known, { suspects: true }),
    ]
  }

  get state(): LaneState {
    return this.closed ? 'closed' : (this.hold?.kind ?? 'open')
  }

  get generation(): Generation {
    return this.#generations.at(-1)!
  }

  /** The one that the next drain waits for first. What comes back from the store joins it: it was accepted long before. */
  get oldestGeneration(): Generation {
    return this.#generations[0]!
  }

  /** Begin a new generation; the answer is the number of the last one before it. */
  turnGeneration(): number {
    const { number, outstanding } = this.generation
    if (outstanding === 0 && this.parked === 0) return number - 1
    this.#generations.push({ number: number + 1, outstanding: 0 })
    return number
  }

  /** Records of the generations up to `number` that are not settled. */
  outstandingThrough(number: number): number {
    while (this.#generations.length > 1 && this.#generations[0]!.outstanding === 0) this.#generations.shift()
    let sum = this.parked
    for (const generation of this.#generations) if (generation.number <= number) sum += generation.outstanding
    return sum
  }

  /** The service has taken a record, or judged it. */
  succeeded(taken: boolean, now: number): void {
    if (taken) this.delivered++
    this.settled++
    this.lastSuccessAt = now
  }

  /** Take up to `size` records for a batch. */
  cut(size: number): Pending[] {
    const batch: Pending[] = []
    while (batch.length < size) {
      const record = this.severeFirst ? this.ready.takeMostSevere() : this.ready.takeOldest()
      if (record === undefined) break
      batch.push(record)
    }
    return batch
  }

  /**
   * Take the record that tests the service next; `beside` others that are under way. A suspect only where there is nothing else.
   */
  cutProbe({ beside = false } = {}): Pending[] {
    const record = this.probes.next(this, { beside }) ?? this.suspects.takeAny()
    return record === undefined ? [] : [record]
  }

  /** Make all that it holds ready: nothing waits for a retry any more. */
  gather(): void {
    const waiting = [...this.delayed.clear(), ...this.suspects.clear()].map(({ record }) => record)
    for (const record of [...waiting, ...this.probes.tried.takeAll()]) this.ready.putBack(record)
  }
}
