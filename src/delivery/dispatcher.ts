import PQueue from 'p-queue'
import { type Clock, queueMicrotask, type Timer } from '../runtime/clock.js'
import { Aftermath, type AftermathPlan, Exchange, type Settled, type Way } from './attempt.js'
import type { Drains } from './drain.js'
import type { Lane } from './lane.js'
import { noAnswer } from './last-drain.js'
import type { DeliveryPlan } from './plan.js'
import type { Pending } from './record-queue.js'
import { patienceMs } from './rules.js'

export interface DispatcherPlan {
  readonly lane: Lane
  readonly clock: Clock
  readonly maxConnections: number
  /** An answer that takes longer, in ms, holds up its connection, and no other. */
  readonly patienceMs: () => number
  /** Batches under way in this lane. */
  readonly exchanges: () => readonly Exchange[]
  readonly carry: (records: Pending[], way: Way) => Promise<void>
  /** Send one more record beside those under way, to test the service. Does nothing while such a one is under way. */
  readonly probe: () => void
}

/**
 * Keeps as many connections of a lane busy as its concurrency allows. p-queue runs carriers: each stands for one
 * connection and carries batch after batch until the lane is empty, held, or allowed fewer connections. A carrier that has waited long
 * for an answer does not count, as soon as others get theirs: the record may be at fault for which it waits. Suspects go out beside them,
 * each alone.
 */
export class Dispatcher {
  readonly #plan: DispatcherPlan
  readonly #queue = new PQueue({ concurrency: 1 })
  #carriers = 0
  #suspects = 0
  /** Carriers and suspects that have waited long, when last looked. */
  #stuck: Readonly<Record<Way, number>> = noneStuck
  /** Some have waited long, and nothing has succeeded since they left. */
  #unproven = false
  #awake = false
  #timer: Timer | undefined
  /** On the clock. */
  #lookAt = 0

  constructor(plan: DispatcherPlan) {
    this.#plan = plan
  }

  /** Records have come or the way is free. What arrives in the same turn of the event loop shares the first batch. */
  wake(): void {
    if (this.#awake) return
    this.#awake = true
    queueMicrotask(() => {
      this.#awake = false
      this.#fill()
    })
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  get #connections(): number {
    const { lane, maxConnections } = this.#plan
    const free = Math.max(1, maxConnections - this.#suspects)
    return Math.min(free, lane.concurrency.connections + this.#stuck.batch)
  }

  get #places(): number {
    const { lane, maxConnections } = this.#plan
    const most = Math.max(1, maxConnections >> 1)
    return Math.min(most, Math.ceil(lane.concurrency.connections / 4) + this.#stuck.alone)
  }

  #fill(): void {
    if (this.#unproven || this.#stuck !== noneStuck) this.#countStuck()
    const { lane } = this.#plan
    const { concurrency, ready, suspects } = lane
    const connections = this.#connections
    const wanted = Math.min(connections, this.#carriers + Math.ceil(ready.length / concurrency.depth))
    if (this.#queue.concurrency !== connections) this.#queue.concurrency = connections
    while (this.#carriers < wanted && this.#maySend()) {
      this.#carriers++
      void this.#queue.add(() => this.#run())
    }
    if (suspects.length > 0) this.#sendSuspects()
    const waiting = ready.length + suspects.length > 0
    if (waiting && this.#carriers + this.#suspects > 0 && this.#maySend()) this.#lookLater()
  }

  #sendSuspects(): void {
    while (this.#suspects < this.#places && this.#maySend()) {
      const record = this.#plan.lane.suspects.take()
      if (record === undefined) return
      this.#suspects++
      void this.#plan.carry([record], 'alone').then(() => {
        this.#suspects--
        this.wake()
      })
    }
  }

  async #run(): Promise<void> {
    const { lane, carry } = this.#plan
    try {
      while (this.#maySend() && this.#carriers <= this.#connections) {
        const records = lane.cut(lane.concurrency.depth)
        if (records.length === 0) break
        await carry(records, 'batch')
        this.#fill()
      }
    } finally {
      this.#carriers--
    }
    if (lane.ready.length > 0) this.wake()
  }

  /** Records wait for a connection: look after a while for one that is stuck. */
  #lookLater(): void {
    const { clock, patienceMs } = this.#plan
    const at = clock.now() + patienceMs()
    if (this.#timer !== undefined && this.#lookAt <= at) return
    this.#timer?.cancel()
    this.#lookAt = at
    this.#timer = clock.schedule(() => this.#look(), at - clock.now())
  }

  #look(): void {
    const { lane, maxConnections, probe } = this.#plan
    this.#timer = undefined
    if (!this.#maySend()) return
    this.#countStuck()
    if (this.#unproven && lane.ready.length > 0 && this.#carriers + this.#suspects < maxConnections) probe()
    this.#fill()
  }

  #countStuck(): void {
    const { lane, clock, patienceMs, exchanges } = this.#plan
    const latest = clock.now() - Math.max(patienceMs(), lane.concurrency.longAnswerMs)
    const waiting = exchanges().filter(({ waitsSince }) => waitsSince <= latest)
    const proven = waiting.filter(({ settledBefore }) => lane.settled > settledBefore)
    this.#unproven = proven.length < waiting.length
    this.#stuck = noneStuck
    if (proven.length === 0) return
    const stuck = { ...noneStuck }
    for (const { way } of proven) stuck[way]++
    this.#stuck = stuck
  }

  #maySend(): boolean {
    const { lane } = this.#plan
    return lane.hold === undefined && !lane.closed
  }
}

const noneStuck: Readonly<Record<Way, number>> = { batch: 0, probe: 0, alone: 0 }

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
