import type { Clock } from './clock.js'
import { Concurrency, type ConcurrencyBounds } from './concurrency.js'
import { DelayedRecords } from './delayed-records.js'
import type { Hold } from './hold.js'
import type { LaneCondition, LaneName, LaneState } from './ledger.js'
import { LossTally } from './losses.js'
import { type Generation, type Pending, RecordQueue } from './record-queue.js'

/** The pending records of one bucket and kind, and what is known of their way to the service. */
export class Lane {
  readonly name: LaneName
  /** Row in the ledger. */
  readonly index: number
  /** Records that may go out now. */
  readonly ready = new RecordQueue()
  /** Records that wait for their own retry. */
  readonly delayed: DelayedRecords
  readonly concurrency: Concurrency
  /** What keeps the lane from sending; undefined while it is open. */
  hold: Hold | undefined
  /** Status of the answer that paused it. */
  pauseStatus = 0
  closed = false
  /** A batch of one that finds out whether the hold can end. */
  probing = false
  /** Records of it that are in the store alone, and were accepted by this process. */
  parked = 0
  /** On the clock; when the service last took or judged a record. */
  lastSuccessAt = Number.NEGATIVE_INFINITY
  /** Most severe first, for a process that is about to end. */
  severeFirst = false
  /** What the ledger says of it. */
  described: LaneCondition = { state: 'open', connections: 0, depth: 0, sender: 'undici' }
  readonly losses = new LossTally()
  readonly #generations: Generation[] = [{ number: 0, outstanding: 0 }]

  constructor(plan: {
    name: LaneName
    index: number
    clock: Clock
    bounds: ConcurrencyBounds
    due: (lane: Lane) => void
  }) {
    this.name = plan.name
    this.index = plan.index
    this.concurrency = new Concurrency(plan.bounds)
    this.delayed = new DelayedRecords(plan.clock, (records) => {
      for (const record of records) this.ready.putBack(record)
      plan.due(this)
    })
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

  /** Whether every record of the generations up to `number` is settled. */
  settledThrough(number: number): boolean {
    if (this.parked > 0) return false
    while (this.#generations.length > 1 && this.#generations[0]!.outstanding === 0) this.#generations.shift()
    const oldest = this.#generations[0]!
    return oldest.number > number || oldest.outstanding === 0
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
}
