import type { FlushTime } from '../../src/delivery/drain.js'
import type { Outcome, OutgoingBatch, Sender } from '../../src/delivery/sender.js'
import type { EngineDelivery, EngineDeliveryPlan, StartedSender } from '../../src/engine/engine-delivery.js'
import type { EndStep } from '../../src/engine/ports.js'
import { Delivery } from '../../src/next/delivery.js'
import type { Clock } from '../../src/runtime/clock.js'
import type { Loop } from '../../src/runtime/loop.js'
import { loopOver } from '../support/next.js'
import { TimeHeap } from '../support/time-heap.js'

/** The delivery that is to take the place of the present one, as an engine uses it. It has no spool yet. */
export class NextDelivery extends Delivery implements EngineDelivery {
  readonly #enginePlan: EngineDeliveryPlan

  constructor(plan: EngineDeliveryPlan) {
    super({ ...plan, loop: loopOver(plan.clock) })
    this.#enginePlan = plan
  }

  start(): void {}

  override park() {
    return this.stats()
  }

  endSync(time: Omit<FlushTime, 'holdsProcess'>): EndStep {
    const { clock, startSender } = this.#enginePlan
    const { queued, inFlight } = this.stats()
    if (queued + inFlight === 0 || time.timeoutMs === 0) return () => true
    const deadline = clock.now() + time.timeoutMs
    const started = startSender(time.timeoutMs)
    if (started === undefined) return () => true
    const loop = new BlockedLoop(clock, started)
    const step = this.drainSync(loop, loop, { ...time, timeoutMs: deadline - clock.now() })
    return (waitMs) => {
      if (!step(waitMs)) return false
      started.close()
      return true
    }
  }
}

interface Alarm {
  readonly at: number
  readonly task: () => void
  cancelled: boolean
}

/** A loop and a sender for a thread that is blocked, over the sender of the present delivery. */
class BlockedLoop implements Loop, Sender {
  readonly #clock: Clock
  readonly #started: StartedSender
  readonly #alarms = new TimeHeap<Alarm>()
  readonly #soon: (() => void)[] = []
  readonly #waiting = new Map<number, (outcome: Outcome) => void>()
  #lastId = 0

  constructor(clock: Clock, started: StartedSender) {
    this.#clock = clock
    this.#started = started
  }

  now(): number {
    return this.#clock.now()
  }

  schedule(task: () => void, delayMs: number) {
    const alarm: Alarm = { at: this.now() + Math.max(0, delayMs), task, cancelled: false }
    this.#alarms.add(alarm)
    return {
      cancel() {
        alarm.cancelled = true
      },
    }
  }

  soon(task: () => void): void {
    this.#soon.push(task)
  }

  immediate(task: () => void): void {
    this.#soon.push(task)
  }

  turn(waitMs: number): void {
    this.#runDue()
    const first = this.#alarms.first
    const wait = Math.max(0, Math.min(waitMs, (first?.at ?? Number.POSITIVE_INFINITY) - this.now()))
    for (const { id, outcome } of this.#started.answers(wait)) {
      this.#waiting.get(id)?.(outcome)
      this.#waiting.delete(id)
    }
    this.#runDue()
  }

  carriage() {
    return { sender: 'undici', maxDepth: 1 } as const
  }

  send(batch: OutgoingBatch): void {
    const { kind, bucket } = batch
    let left = batch.length
    for (let index = 0; index < batch.length; index++) {
      const id = ++this.#lastId
      this.#waiting.set(id, (outcome) => {
        batch.settle(index, outcome)
        if (--left === 0) batch.done()
      })
      this.#started.begin({ id, kind, bucket, record: batch.textOf(index) })
    }
  }

  async close(): Promise<void> {}

  #runDue(): void {
    for (;;) {
      const task = this.#soon.shift()
      if (task !== undefined) task()
      else if (this.#alarms.first !== undefined && this.#alarms.first.at <= this.now()) {
        const alarm = this.#alarms.first
        this.#alarms.removeFirst()
        if (!alarm.cancelled) alarm.task()
      } else return
    }
  }
}
