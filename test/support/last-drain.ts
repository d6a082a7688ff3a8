import type { Delivery } from '../../src/delivery/delivery.js'
import type { Carriage, Outcome, OutgoingBatch, Sender } from '../../src/delivery/sender.js'
import type { Loop } from '../../src/runtime/loop.js'
import { recordsOf } from './batch.js'
import { setUp } from './delivery.js'
import { ScriptedSender } from './scripted-sender.js'
import { TurnLoop } from './turn-loop.js'
import { VirtualClock } from './virtual-clock.js'

/** The service at the end of the process, over the loop of the last drain. */
export class LastService implements Sender {
  readonly sent: string[] = []
  /** By body: the times since the drain began at which it was sent. */
  readonly times = new Map<string, number[]>()
  inFlight = 0
  maxInFlight = 0
  answer: (body: string, attempt: number) => Outcome | 'silence' = () => ({ type: 'delivered' })
  onSend = (_body: string, _attempt: number) => {}
  latencyMs = 1
  maxDepth = 1
  /** Each outcome is told a second time, and one more for a record that is in no batch. */
  repeatsItself = false
  readonly #loop: Loop
  readonly #startedAt: number

  constructor(loop: Loop, script: Partial<LastService> = {}) {
    this.#loop = loop
    this.#startedAt = loop.now()
    Object.assign(this, script)
  }

  /** Since the drain began. */
  get now(): number {
    return this.#loop.now() - this.#startedAt
  }

  carriage(): Carriage {
    return { sender: 'pipelined', maxDepth: this.maxDepth }
  }

  send(batch: OutgoingBatch): void {
    const bodies = recordsOf(batch).map(({ body }) => body)
    this.sent.push(...bodies)
    for (const body of bodies) {
      const times = [...(this.times.get(body) ?? []), this.now]
      this.times.set(body, times)
      this.onSend(body, times.length)
    }
    this.inFlight += bodies.length
    this.maxInFlight = Math.max(this.maxInFlight, this.inFlight)
    this.#loop.schedule(() => this.#answer(batch, bodies), this.latencyMs)
  }

  async close(): Promise<void> {}

  #answer(batch: OutgoingBatch, bodies: readonly string[]): void {
    let silent = 0
    for (const [index, body] of bodies.entries()) {
      const outcome = this.answer(body, this.times.get(body)!.length)
      if (outcome === 'silence') {
        silent++
        continue
      }
      this.inFlight--
      batch.settle(index, outcome)
      if (!this.repeatsItself) continue
      batch.settle(index, outcome)
      batch.settle(bodies.length, outcome)
    }
    if (silent === 0) batch.done()
  }
}

/** The last drain of a delivery over a service, in virtual time. */
export function drainLast(
  delivery: Delivery,
  { loop, service, timeoutMs }: { readonly loop: TurnLoop; readonly service: LastService; readonly timeoutMs: number },
): void {
  const step = delivery.drainSync(loop, service, { timeoutMs })
  while (!step(Number.POSITIVE_INFINITY));
}

/** A delivery that ends before its usual sender has answered anything. */
export function setUpLast(script: Partial<LastService> = {}) {
  const clock = new VirtualClock()
  const loop = new TurnLoop(clock)
  const service = new LastService(loop, script)
  const set = setUp({}, clock)
  const drain = (timeoutMs = 1000) => drainLast(set.delivery, { loop, service, timeoutMs })
  return { ...set, service, drain }
}

/** The last drain of a delivery that has a past. */
export async function drainAfter(
  past: (set: ReturnType<typeof setUp>) => Promise<void>,
  { timeoutMs = 5000, ...script }: Partial<LastService> & { timeoutMs?: number } = {},
) {
  const clock = new VirtualClock()
  const sender = new ScriptedSender(clock, { maxDepth: script.maxDepth ?? 1 })
  const set = setUp({ sender }, clock)
  await past({ ...set, sender })
  const loop = new TurnLoop(clock)
  const service = new LastService(loop, script)
  drainLast(set.delivery, { loop, service, timeoutMs })
  return { ...set, service }
}

export const numbers = (count: number) => Array.from({ length: count }, (_, index) => `record ${index}`)
