import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Outcome } from '../../src/delivery/sender.js'
import { TextBatch } from '../../src/delivery/text-batch.js'
import { PipelinedSender } from '../../src/http/pipelined-sender.js'
import type { SenderPlan } from '../../src/http/sender-plan.js'
import { UndiciSender } from '../../src/http/undici-sender.js'
import { systemLoop } from '../../src/runtime/loop.js'
import { sendBatch, tally } from '../support/batch.js'
import { setUp } from '../support/delivery.js'
import { delivered, type Fault, FaultServer } from '../support/fault-server.js'

const slow = { ...delivered, afterMs: 100 } as Fault

const senders = {
  pipelined: (plan: SenderPlan) => new PipelinedSender({ ...plan, maxDepth: 64 }),
  undici: (plan: SenderPlan) => new UndiciSender(plan),
}

class GivenUp extends TextBatch {
  override begin(): boolean {
    return false
  }
}

describe.each(Object.entries(senders))('a batch that waits for a connection (%s)', (_, senderOf) => {
  async function oneConnection() {
    const server = await FaultServer.start(({ body }) => (body === '1' ? slow : delivered))
    onTestFinished(() => server.close())
    const sender = senderOf({
      url: server.url,
      apiKey: { reveal: () => 'the-key', renew: () => false },
      userAgent: 'sluice/test',
      maxConnections: 1,
      requestTimeoutMs: 5000,
      loop: systemLoop,
    })
    onTestFinished(() => sender.close())
    return { server, sender }
  }

  it('is not written any more when it is given up, and those behind it are', async () => {
    const { server, sender } = await oneConnection()
    const first = sendBatch(sender, ['1'])
    const outcomes: Outcome[] = []
    const over = new Promise<void>((done) => {
      const records = [{ body: '2', bytes: 1, idempotencyKey: 'key-2' }]
      const settle = (index: number, outcome: Outcome) => {
        outcomes[index] = outcome
      }
      sender.send(new GivenUp({ kind: 'logs', bucket: 'b', records, settle, done }))
    })
    const third = sendBatch(sender, ['3'])
    expect([tally(await first), tally(await third)]).toEqual([{ delivered: 1 }, { delivered: 1 }])
    await over
    expect(tally(outcomes)).toEqual({ unsent: 1 })
    expect(server.taken).toEqual(['1', '3'])
  })

  it('costs no record twice when the delivery is parked and goes on', async () => {
    const { server, sender } = await oneConnection()
    const lanes = ['b', 'c'].map((bucket) => ({ kind: 'logs', bucket }) as const)
    const { delivery } = setUp({ sender, loop: systemLoop, lanes })
    for (const lane of lanes.keys()) delivery.accept(lane, { body: `${lane + 1}`, severity: 2 })
    await vi.waitFor(() => {
      expect(server.requests).toHaveLength(1)
      expect(delivery.stats().inFlight).toBe(2)
    })
    delivery.park()
    expect(await delivery.flush({ timeoutMs: 5000 })).toMatchObject({ delivered: 2, ambiguousRetries: 1 })
    expect(server.taken).toEqual(['1', '1', '2'])
    await delivery.close({ timeoutMs: 5000 })
  })
})
