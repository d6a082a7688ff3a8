import type { Outcome, OutgoingBatch, Sender } from '../../src/delivery/sender.js'
import type { EngineDeliveryPlan, StartedSender } from '../../src/engine/engine-delivery.js'
import { SpooledDelivery } from '../../src/engine/next-delivery.js'
import type { Clock } from '../../src/runtime/clock.js'
import type { Loop } from '../../src/runtime/loop.js'
import { loopOver } from '../support/next.js'
import { TimeHeap } from '../support/time-heap.js'

/** Opens the delivery that is to take the place of the present one. */
export function openNext({ startSender, ...plan }: EngineDeliveryPlan): SpooledDelivery {
  const { clock } = plan
  return new SpooledDelivery({
    ...plan,
    loop: loopOver(clock),
    startExit(withinMs) {
      const started = startSender(withinMs)
      if (started === undefined) return undefined
      const loop = new BlockedLoop(clock, started)
      return { loop, sender: loop }
    },
  })
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

  /** As a loop and as a sender. */
  async close(): Promise<void> {
    this.#started.close()
  }

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
