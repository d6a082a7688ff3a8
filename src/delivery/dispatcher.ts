import type { KeyWriter } from '../log/idempotency-key.js'
import { queueMicrotask, type Timer } from '../runtime/clock.js'
import { outsideTasks } from '../runtime/own-context.js'
import { Attempt, type Way } from './attempt.js'
import type { Consequences } from './consequences.js'
import type { Drains } from './drain.js'
import type { Lane } from './lane.js'
import type { DeliveryPlan } from './plan.js'
import { RecordBatch } from './record-batch.js'
import type { RecordBuffer } from './record-buffer.js'
import type { Pending } from './record-queue.js'
import { noAnswer, overdueOf, patienceMs, suspectsBeside } from './rules.js'

interface DispatcherPlan extends Pick<DeliveryPlan, 'sender' | 'clock' | 'maxConnections' | 'requestTimeoutMs'> {
  readonly lane: Lane
  readonly keys: KeyWriter
  readonly buffer: RecordBuffer
  readonly consequences: Consequences
  readonly drains: Drains
}

/**
 * Keeps as many connections of a lane busy as its concurrency allows. Each has a carrier, which carries batch after batch until the lane
 * is empty, may not send, or is allowed fewer connections. A carrier that has waited long for an answer does not count as soon as others
 * get theirs: its record may be at fault. Suspects go out beside the carriers, each alone.
 */
export class Dispatcher {
  readonly #plan: DispatcherPlan
  readonly #attempts = new Set<Attempt>()
  /** Batches that serve again. */
  readonly #batches: RecordBatch[] = []
  #carriers = 0
  #suspects = 0
  /** Carriers and suspects that have waited long, at the last look. */
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

  /** Records have come, or the breaker has closed. Records that arrive in the same turn of the event loop share the first batch. */
  wake(): void {
    if (this.#awake) return
    this.#awake = true
    queueMicrotask(this.#woken)
  }

  readonly #woken = (): void => outsideTasks(this.#begin)

  readonly #begin = (): void => {
    this.#awake = false
    this.#fill()
  }

  /** Send one record to test the service, `beside` those in flight. False when a probe is in flight, or there is no record. */
  probe({ beside = false } = {}): boolean {
    const { lane } = this.#plan
    const record = lane.probing || lane.closed ? undefined : lane.takeProbe({ beside })
    if (record === undefined) return false
    lane.probeLeft()
    outsideTasks(() => void this.#carry(this.#batchOf(record), 'probe').then(() => this.wake()))
    return true
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#plan.lane.suspects.stop()
  }

  /** Give up all batches in flight. Returns their records without an answer, which the ledger counts as in flight. */
  abandon(): readonly Pending[] {
    const { lane } = this.#plan
    const records = [...this.#attempts].flatMap((attempt) => attempt.abandon())
    this.#attempts.clear()
    // The reason why a breaker opened is more useful than a probe that had no time.
    if (records.length > 0 && lane.breaker === undefined) lane.failed(noAnswer)
    return records
  }

  get #connections(): number {
    const { lane, maxConnections } = this.#plan
    const free = Math.max(1, maxConnections - this.#suspects)
    return Math.min(free, lane.concurrency.connections + this.#stuck.batch)
  }

  /** Suspects that may be in flight at a time. */
  get #places(): number {
    const { lane, maxConnections } = this.#plan
    const most = Math.max(1, maxConnections >> 1)
    return Math.min(most, suspectsBeside(lane.concurrency.connections) + this.#stuck.alone)
  }

  #fill(): void {
    if (this.#unproven || this.#stuck !== noneStuck) this.#countStuck()
    const { lane } = this.#plan
    const { concurrency, ready, suspects } = lane
    const connections = this.#connections
    const wanted = this.#carriers + Math.ceil(ready.length / concurrency.depth)
    while (this.#carriers < Math.min(connections, wanted) && lane.maySend) this.#startCarrier()
    this.#sendSuspects()
    const waiting = ready.length + suspects.length > 0
    if (waiting && this.#carriers + this.#suspects > 0 && lane.maySend) this.#lookLater(this.#patienceMs)
    if (this.#draining && this.#attempts.size > 0 && this.#mayRace) this.#lookLater(raceMs)
  }

  #sendSuspects(): void {
    const { lane } = this.#plan
    while (this.#suspects < this.#places && lane.maySend) {
      const record = lane.suspects.take()
      if (record === undefined) return
      this.#suspects++
      void this.#carry(this.#batchOf(record), 'alone').then(() => {
        this.#suspects--
        this.wake()
      })
    }
  }

  #startCarrier(): void {
    this.#carriers++
    void this.#run().then(() => {
      this.#carriers--
      this.wake()
    })
  }

  /** Carry batch after batch on one connection. */
  async #run(): Promise<void> {
    const { lane } = this.#plan
    while (lane.maySend && this.#carriers <= this.#connections) {
      const batch = this.#takeBatch()
      lane.cut(batch, lane.concurrency.depth)
      if (batch.length === 0) {
        this.#batches.push(batch)
        break
      }
      await this.#carry(batch, 'batch')
      this.#fill()
    }
  }

  #takeBatch(): RecordBatch {
    return this.#batches.pop() ?? new RecordBatch(this.#plan.keys)
  }

  #batchOf(record: Pending): RecordBatch {
    const batch = this.#takeBatch()
    batch.add(record)
    return batch
  }

  /** The batch may serve again. An idle lane keeps one, if it is small. */
  #giveBack(batch: RecordBatch): void {
    batch.clear()
    const isIdle = this.#attempts.size === 0
    if (isIdle) this.#batches.length = 0
    if (!isIdle || batch.memoryBytes <= idleBytes) this.#batches.push(batch)
  }

  /** Send one batch and act on its result. */
  async #carry(batch: RecordBatch, way: Way): Promise<void> {
    const { lane, clock, sender, buffer, consequences, drains } = this.#plan
    lane.departAll(batch)
    const attempt = new Attempt({ lane, batch, way, clock, buffer, fresh: this.#draining })
    this.#attempts.add(attempt)
    const answered = attempt.run(sender)
    if (attempt.woken && this.#mayRace) this.#lookLater(raceMs)
    const result = await answered
    if (way === 'probe') lane.probeEnded()
    if (!this.#attempts.delete(attempt)) {
      // It was given up, and the engine may live on.
      if (way === 'probe') lane.breaker?.goOn()
      return
    }
    if (!attempt.raced) this.#giveBack(batch)
    consequences.apply(lane, result, way)
    drains.check(lane)
    lane.report()
    buffer.refill()
    if (result.successes > 0) buffer.reportLosses(lane)
  }

  /** Look for connections that are stuck, after a while. */
  #lookLater(delayMs: number): void {
    const { clock } = this.#plan
    const at = clock.now() + delayMs
    if (this.#timer !== undefined && this.#lookAt <= at) return
    this.#timer?.cancel()
    this.#lookAt = at
    this.#timer = clock.schedule(() => this.#look(), at - clock.now())
  }

  #look(): void {
    const { lane, maxConnections } = this.#plan
    this.#timer = undefined
    this.#race()
    if (!lane.maySend) return
    this.#countStuck()
    if (this.#unproven && lane.ready.length > 0 && this.#carriers + this.#suspects < maxConnections) {
      this.probe({ beside: true })
    }
    this.#fill()
  }

  /**
   * Where nothing is counted twice, send again what was sent on a connection that may be lost and has no answer yet. A drain has no time
   * to wait for an answer that may never come.
   */
  #race(): void {
    const { lane, clock, sender, keys } = this.#plan
    if (!this.#mayRace || !lane.maySend) return
    const now = clock.now()
    let soonest = Number.POSITIVE_INFINITY
    for (const attempt of this.#attempts) {
      if (attempt.raced || !(attempt.woken || (this.#draining && !attempt.fresh))) continue
      const at = attempt.waitsSince + Math.max(raceMs, lane.concurrency.longAnswerMs)
      if (at <= now) attempt.race(sender, new RecordBatch(keys))
      else soonest = Math.min(soonest, at)
    }
    if (soonest !== Number.POSITIVE_INFINITY) this.#lookLater(soonest - now)
  }

  #countStuck(): void {
    const { lane, clock } = this.#plan
    const patience = Math.max(this.#patienceMs, lane.concurrency.longAnswerMs)
    const { proven, unproven } = overdueOf(this.#attempts, {
      now: clock.now(),
      patienceMs: patience,
      settled: lane.settled,
    })
    this.#unproven = unproven > 0
    this.#stuck = noneStuck
    if (proven.length === 0) return
    const stuck = { ...noneStuck }
    for (const { way } of proven) stuck[way]++
    this.#stuck = stuck
  }

  /** An answer that takes longer holds up its connection, and no other. */
  get #patienceMs(): number {
    return patienceMs(this.#plan.requestTimeoutMs, { draining: this.#draining })
  }

  get #mayRace(): boolean {
    const { lane, sender } = this.#plan
    return sender.carriage(lane.name.kind).repeatable === true
  }

  get #draining(): boolean {
    return this.#plan.drains.open.size > 0
  }
}

/** A request that may be lost is sent once more after so long. */
const raceMs = 500

/** Memory that an idle lane keeps for its next batch, at most. */
const idleBytes = 65_536

const noneStuck: Readonly<Record<Way, number>> = { batch: 0, probe: 0, alone: 0 }
