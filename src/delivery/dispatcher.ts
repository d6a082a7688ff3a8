import PQueue from 'p-queue'
import { type Clock, queueMicrotask, type Timer } from '../runtime/clock.js'
import type { Exchange, Way } from './exchange.js'
import type { Lane } from './lane.js'
import type { Pending } from './record-queue.js'

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
