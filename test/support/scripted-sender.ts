import type { Carriage, Outcome, OutgoingBatch, Sender } from '../../src/delivery/sender.js'
import type { Clock } from '../../src/runtime/clock.js'
import { recordsOf } from './batch.js'

/** A service in the test's hands, behind the port of delivery: what it answers, and after how long. */
export class ScriptedSender implements Sender {
  readonly #maxDepth: number
  /** Bodies in the order in which they were sent. */
  readonly sent: string[] = []
  closed = false
  inFlight = 0
  maxInFlight = 0
  answer: (body: string) => Outcome = () => ({ type: 'delivered' })
  latencyMs = 1
  readonly #clock: Clock

  constructor(clock: Clock, { maxDepth = 1 } = {}) {
    this.#clock = clock
    this.#maxDepth = maxDepth
  }

  carriage(): Carriage {
    return { sender: 'undici', maxDepth: this.#maxDepth }
  }

  send(batch: OutgoingBatch): void {
    const bodies = recordsOf(batch).map(({ body }) => body)
    this.sent.push(...bodies)
    batch.begin()
    this.inFlight += bodies.length
    this.maxInFlight = Math.max(this.maxInFlight, this.inFlight)
    this.#clock.schedule(() => {
      this.inFlight -= bodies.length
      for (const [index, body] of bodies.entries()) batch.settle(index, this.answer(body))
      batch.done()
    }, this.latencyMs)
  }

  async close(): Promise<void> {
    this.closed = true
  }
}

export const answers = {
  delivered: { type: 'delivered' },
  rejected: { type: 'rejected', status: 400, reason: 'bad', validationErrors: [] },
  refused: { type: 'retry', exchange: 'unsent', reason: 'ECONNREFUSED', backPressure: false },
  reset: { type: 'retry', exchange: 'ambiguous', reason: 'ECONNRESET', backPressure: false },
  busy: { type: 'retry', exchange: 'answered', reason: '503', backPressure: true },
  failed: { type: 'retry', exchange: 'answered', status: 500, reason: '500', backPressure: false },
  wrongKey: { type: 'pause', status: 401, scope: 'key', reason: 'wrong key' },
  forbidden: { type: 'pause', status: 403, scope: 'key', reason: 'forbidden' },
  noBucket: { type: 'pause', status: 404, scope: 'lane', reason: 'no bucket' },
} as const satisfies Record<string, Outcome>
