import type { Carriage, Outcome, Outgoing, OutgoingBatch, Sender } from '../../src/delivery/sender.js'
import { recordsOf } from './batch.js'
import { seeded } from './seeded.js'
import type { VirtualClock } from './virtual-clock.js'

export interface ServerModel {
  /** The duration of one request in ms, at this moment of the simulation. */
  readonly serviceMs: (nowMs: number) => number
  /** Requests that it works on at the same time; what comes beyond is refused with 429, or waits. @default no limit */
  readonly capacity?: number
  readonly beyondCapacity?: 'refuse' | 'wait'
  /** How the server handles pipelined requests of one connection. @default 'side-by-side' */
  readonly pipelined?: 'side-by-side' | 'one-by-one'
  /** True while every request gets a 429. */
  readonly refusing?: (nowMs: number) => boolean
  /** The status of an answer that fails at random, and its share of all. @default none */
  readonly failing?: { readonly status: 500 | 503; readonly share: number }
  /** True for a record that makes it reset the connection, after the time of a request. */
  readonly resetsAt?: (record: Outgoing) => boolean
}

/** A server in virtual time, behind the port of delivery. */
export class SimulatedServer implements Sender {
  readonly #maxDepth: number
  delivered = 0
  refused = 0
  busy = 0
  /** The longest that a request waited for its answer, in ms. */
  slowestMs = 0
  readonly #model: ServerModel
  readonly #clock: VirtualClock
  readonly #waiting: (() => void)[] = []
  readonly #random = seeded(11)

  constructor(clock: VirtualClock, { maxDepth, ...model }: ServerModel & { maxDepth: number }) {
    this.#maxDepth = maxDepth
    this.#model = model
    this.#clock = clock
  }

  carriage(): Carriage {
    return { sender: 'undici', maxDepth: this.#maxDepth }
  }

  send(batch: OutgoingBatch): void {
    const oneByOne = this.#model.pipelined === 'one-by-one'
    const records = recordsOf(batch)
    const open = new Set(records.keys())
    const answer = (index: number, outcome: Outcome) => {
      if (!open.delete(index)) return
      batch.settle(index, outcome)
      if (open.size === 0) batch.done()
      else if (oneByOne) serve(index + 1)
    }
    /** The connection ends: whatever is unanswered on it stays so. */
    const breakOff = () => {
      for (const index of open) batch.settle(index, reset)
      if (open.size > 0) batch.done()
      open.clear()
    }
    const serve = (index: number) => {
      if (!this.#model.resetsAt?.(records[index]!)) this.#serve((outcome) => answer(index, outcome))
      else this.#clock.schedule(breakOff, this.#model.serviceMs(this.#clock.now()))
    }
    const atOnce = oneByOne ? 1 : records.length
    for (let index = 0; index < atOnce; index++) serve(index)
  }

  async close(): Promise<void> {}

  #serve(answer: (outcome: Outcome) => void): void {
    const { capacity = Number.POSITIVE_INFINITY, beyondCapacity = 'refuse', refusing } = this.#model
    const cameAt = this.#clock.now()
    if (refusing?.(this.#clock.now()) || (this.busy >= capacity && beyondCapacity === 'refuse')) {
      this.refused++
      this.#clock.schedule(() => answer(tooMany), 1)
      return
    }
    if (this.busy >= capacity) this.#waiting.push(() => this.#work(answer, cameAt))
    else this.#work(answer, cameAt)
  }

  #work(answer: (outcome: Outcome) => void, cameAt: number): void {
    this.busy++
    this.#clock.schedule(() => {
      this.busy--
      this.#waiting.shift()?.()
      const { failing } = this.#model
      if (failing !== undefined && this.#random() < failing.share) {
        answer(failures[failing.status])
        return
      }
      this.delivered++
      this.slowestMs = Math.max(this.slowestMs, this.#clock.now() - cameAt)
      answer({ type: 'delivered' })
    }, this.#model.serviceMs(this.#clock.now()))
  }
}

const reset: Outcome = { type: 'retry', exchange: 'ambiguous', reason: 'reset', backPressure: false }
const failures = {
  500: { type: 'retry', exchange: 'answered', status: 500, reason: '500', backPressure: false },
  503: { type: 'retry', exchange: 'answered', status: 503, reason: '503', backPressure: true },
} as const satisfies Record<number, Outcome>
const tooMany: Outcome = { type: 'retry', exchange: 'answered', reason: '429', backPressure: true }
