import { Aftermath, type AftermathPlan } from './aftermath.js'
import { Dispatcher } from './dispatcher.js'
import type { Drains } from './drains.js'
import { Exchange, type Settled, type Way } from './exchange.js'
import type { Lane } from './lane.js'
import { noAnswer } from './last-drain.js'
import { patienceMs } from './patience.js'
import type { DeliveryPlan } from './plan.js'
import type { Pending } from './record-queue.js'

export interface TrafficPlan
  extends Omit<AftermathPlan, 'wake'>,
    Pick<DeliveryPlan, 'sender' | 'maxConnections' | 'requestTimeoutMs'> {
  readonly lanes: readonly Lane[]
  readonly drains: Drains
  /** Called for each record that needs no further attempt, at the moment of its answer. */
  readonly settled: (lane: Lane, record: Pending, outcome: Settled) => void
  /** A batch has come to its end. */
  readonly carried: (lane: Lane, successes: number) => void
}

/** Carries batches from the lanes to the service, and knows those under way. */
export class Traffic {
  readonly #plan: TrafficPlan
  readonly #dispatchers = new Map<Lane, Dispatcher>()
  readonly #exchanges = new Set<Exchange>()
  readonly #aftermath: Aftermath

  constructor(plan: TrafficPlan) {
    this.#plan = plan
    this.#aftermath = new Aftermath({ ...plan, wake: (lane) => this.wake(lane) })
    for (const lane of plan.lanes) {
      const dispatcher = new Dispatcher({
        lane,
        clock: plan.clock,
        maxConnections: plan.maxConnections,
        patienceMs: () => patienceMs(plan.requestTimeoutMs, { draining: plan.drains.open.size > 0 }),
        exchanges: () => [...this.#exchanges].filter((exchange) => exchange.lane === lane),
        carry: (records, way) => this.#carry(lane, records, way),
        probe: () => this.probe(lane, { beside: true }),
      })
      this.#dispatchers.set(lane, dispatcher)
    }
  }

  /** Records have come to the lane, or its way is free. */
  wake(lane: Lane): void {
    this.#dispatchers.get(lane)!.wake()
  }

  /** Send one record of the lane, to test the service; false when it has none to send. */
  probe(lane: Lane, { beside = false } = {}): boolean {
    const records = lane.probing || lane.closed ? [] : lane.cutProbe({ beside })
    if (records.length === 0) return false
    lane.probing = true
    void this.#carry(lane, records, 'probe').then(() => this.wake(lane))
    return true
  }

  stop(): void {
    for (const [lane, dispatcher] of this.#dispatchers) {
      dispatcher.stop()
      lane.suspects.stop()
    }
  }

  /** Give up all batches under way: no answer to their records will be heard any more. */
  abandon(): readonly { readonly lane: Lane; readonly records: readonly Pending[] }[] {
    const abandoned = [...this.#exchanges].map((exchange) => ({ lane: exchange.lane, records: exchange.abandon() }))
    this.#exchanges.clear()
    for (const { lane, records } of abandoned) {
      // The reason of a hold is more useful than a probe that had no time.
      if (records.length > 0 && lane.hold === undefined) this.#plan.book.lastError(lane.index, noAnswer)
    }
    return abandoned
  }

  /** Send one batch and act on what it came to. */
  async #carry(lane: Lane, records: Pending[], way: Way): Promise<void> {
    const { book, clock, sender, drains, settled, carried } = this.#plan
    for (const record of records) {
      book.depart(lane.index, { retry: record.attempts > 0 })
      record.attempts++
    }
    const exchange = new Exchange({
      lane,
      records,
      way,
      clock,
      settled: (record, outcome) => settled(lane, record, outcome),
    })
    this.#exchanges.add(exchange)
    const result = await exchange.run(sender)
    if (way === 'probe') lane.probing = false
    if (!this.#exchanges.delete(exchange)) return
    this.#aftermath.of(lane, result, way)
    if (lane.suspects.length > 0) drains.check(lane)
    carried(lane, result.successes)
  }
}
