import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { delivered, FaultServer } from '../support/fault-server.js'
import { startHandOff } from '../support/hand-off.js'
import { settle } from '../support/virtual-clock.js'

describe('a hand-off for which no worker can be started', () => {
  let server: FaultServer
  beforeEach(async () => {
    server = await FaultServer.start(() => delivered)
  })
  afterEach(() => server.close())

  it('delivers earlier records once each in this thread, and later ones too', async () => {
    const { thread, engine, log } = startHandOff({ url: server.url, up: false })
    log('first')
    engine.value(1, 0)
    await settle()
    log('second')
    const flushing = engine.flush()
    thread.forbid()
    expect(await flushing).toMatchObject({ accepted: 3, delivered: 3 })
    log('third')
    engine.value(2, 0)
    expect(await engine.close()).toMatchObject({ accepted: 5, delivered: 5, queued: 0, inFlight: 0 })
    const bodies = server.taken.map((body) => JSON.parse(body) as { message?: string; eventId?: number })
    expect(bodies.flatMap(({ message }) => message ?? [])).toEqual(['first', 'second', 'third'])
    expect(bodies.flatMap(({ eventId }) => eventId ?? [])).toEqual([1, 2])
    engine.value(3, 0)
    expect(engine.stats()).toMatchObject({ accepted: 6, dropped: { closed: 1 } })
  })

  it('delivers earlier and later values with their keys', async () => {
    const { thread, engine } = startHandOff({ url: server.url, up: false })
    engine.keyedValue({ eventId: 1, milliseconds: 0, key: 'early' })
    await settle()
    thread.forbid()
    engine.keyedValue({ eventId: 1, milliseconds: 0, key: 'late' })
    await engine.close()
    engine.keyedValue({ eventId: 1, milliseconds: 0, key: 'too late' })
    expect(engine.stats()).toMatchObject({ accepted: 3, delivered: 2, dropped: { closed: 1 } })
    const keys = server.requests.map(({ headers }) => headers.get('idempotency-key'))
    expect(keys.sort()).toEqual(['event-1-early', 'event-1-late'])
  })

  it('delivers what was in the ring and what had no room there once each, and answers the drains that wait', async () => {
    const { clock, thread, engine, log } = startHandOff({ url: server.url, up: false, pipeBytes: 4096 })
    const texts = Array.from({ length: 30 }, (_, number) => `${number}${'x'.repeat(100 * number)}`)
    for (const text of texts) log(text)
    engine.value(1, 0)
    const drains = [engine.flush({ timeoutMs: 20_000 }), engine.park({ timeoutMs: 20_000 })]
    thread.forbid()
    const ledgers = await Promise.all(drains)
    expect(ledgers).toMatchObject([{ accepted: 31, delivered: 31 }, { delivered: 31 }])
    const bodies = server.taken.map((body) => JSON.parse(body) as { message?: string; eventId?: number })
    expect(bodies.flatMap(({ message }) => message ?? []).sort()).toEqual(texts.sort())
    expect(bodies.flatMap(({ eventId }) => eventId ?? [])).toEqual([1])
    expect(clock.holding).toBe(0)
    expect(await engine.close()).toMatchObject({ accepted: 31, delivered: 31 })
  })

  it('delivers what a worker that has failed had not taken, and counts what went with it', async () => {
    const { thread, engine, log } = startHandOff({ url: server.url })
    for (const text of ['settled', 'lost', 'deadly', 'left']) log(text)
    await settle()
    thread.take(1)
    thread.deliver(1)
    thread.take(1)
    thread.die('before the count')
    thread.forbid()
    expect(await engine.close()).toMatchObject({
      accepted: 4,
      delivered: 2,
      dropped: { 'worker-failed': 1, unreadable: 1 },
    })
    expect(server.taken.map((body) => JSON.parse(body).message)).toEqual(['left'])
  })

  it('closes within its time where it was closing before', async () => {
    const { thread, engine } = startHandOff({ url: server.url, up: false })
    engine.value(1, 0)
    const closing = engine.close({ timeoutMs: 5000 })
    thread.forbid()
    engine.value(2, 0)
    expect(await closing).toMatchObject({ accepted: 2, delivered: 1, dropped: { closed: 1 } })
  })

  it('takes nothing more where the worker had answered its close', async () => {
    const { thread, engine } = startHandOff({ url: server.url })
    engine.value(1, 0)
    const closing = engine.close({ timeoutMs: 5000 })
    thread.work()
    // Nobody has read the answer.
    thread.die()
    thread.forbid()
    engine.value(2, 0)
    expect(await closing).toMatchObject({ accepted: 2, delivered: 1, dropped: { closed: 1 } })
    expect(await engine.flush()).toMatchObject({ accepted: 2, queued: 0, dropped: { closed: 1 } })
    expect(server.taken).toEqual([])
  })

  it('still tells its watch of each record', async () => {
    const accepted = vi.fn(() => false)
    const { thread, engine, log } = startHandOff({ url: server.url, up: false, accepted })
    thread.forbid()
    log('a line')
    engine.value(1, 0)
    engine.keyedValue({ eventId: 1, milliseconds: 0, key: 'k' })
    engine.unmapped(new Error('a line that cannot be read'))
    expect(accepted).toHaveBeenCalledTimes(4)
    await engine.close()
  })

  it('delivers from this thread at the end of the process when only then no worker can be started', async () => {
    const { thread, engine } = startHandOff({ url: server.url, up: false })
    thread.onReach = () => thread.forbid()
    engine.value(1, 0)
    const step = engine.endSync({ timeoutMs: 5000 })
    while (!step(5)) await settle()
    expect(engine.stats()).toMatchObject({ accepted: 1, delivered: 1, queued: 0 })
    expect(server.taken).toHaveLength(1)
  })

  it('takes records of every kind from then on', async () => {
    const { thread, engine } = startHandOff({ url: server.url, up: false })
    thread.forbid()
    engine.unmapped(new Error('a line that cannot be read'))
    engine.line('{"message":"of winston"}', { style: { logger: 'winston', level: 'info' }, severity: 2, arrivedAt: 0 })
    expect(await engine.flush()).toMatchObject({ accepted: 2, delivered: 2 })
    const messages = server.taken.map((body) => (JSON.parse(body) as { message: string }).message)
    expect(messages.sort()).toEqual(['of winston', 'sluice: a line could not be read'])
  })

  it('asks for no worker at the end of the process, and takes no longer than it may', () => {
    const { thread, engine } = startHandOff({ up: false })
    thread.forbid()
    const reach = vi.spyOn(thread, 'reachSync')
    engine.value(1, 0)
    expect(engine.endSync({ timeoutMs: 0 })(0)).toBe(true)
    expect(reach).not.toHaveBeenCalled()
  })

  it('ends its delivery with the deadline of a close, and reports once what that drops', async () => {
    const { clock, errors, thread, engine } = startHandOff({ up: false })
    thread.forbid()
    engine.value(1, 0)
    const closing = engine.close({ timeoutMs: 300 })
    await clock.advance(310)
    expect(await closing).toMatchObject({ accepted: 1, queued: 0, inFlight: 0, dropped: { shutdown: 1 } })
    expect(clock.holding).toBe(0)
    expect(errors.filter((text) => text.includes('(shutdown)'))).toHaveLength(1)
  })
})
