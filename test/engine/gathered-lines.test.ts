import { describe, expect, it } from 'vitest'
import { Engine } from '../../src/engine/engine.js'
import { thisMachine } from '../../src/engine/machine.js'
import type { SluiceOptions } from '../../src/options/options.js'
import { configure } from '../../src/process/configure.js'
import { addsUp } from '../support/delivery.js'
import { loopOver } from '../support/loop.js'
import { ScriptedSender } from '../support/scripted-sender.js'
import { VirtualClock } from '../support/virtual-clock.js'

function setUp(own: Partial<SluiceOptions> = {}) {
  const clock = new VirtualClock()
  const sender = new ScriptedSender(clock, { maxDepth: 256 })
  const { options } = configure({ url: 'http://127.0.0.1:1', apiKey: 'k', bucket: 'b', ...own }, 'logs')
  const engine = new Engine(options, {
    kinds: ['logs'],
    gathers: true,
    machine: { ...thisMachine, clock: loopOver(clock) },
    sender: { sender, startExit: () => undefined },
    print: () => {},
  })
  const line = (msg: unknown, below?: () => boolean) =>
    engine.line(JSON.stringify({ level: 30, time: 1_700_000_000_000, msg }), {
      style: {},
      arrivedAt: 1_700_000_000_000,
      below,
    })
  const messages = () => sender.sent.map((body) => (JSON.parse(body) as { message: string }).message)
  return { clock, engine, line, messages }
}

describe('lines that are read when their lane sends', () => {
  it('go out together and in order, the first one at once', async () => {
    const { clock, engine, line, messages } = setUp()
    line('first')
    await clock.advance(10)
    expect(messages()).toEqual(['first'])
    for (const msg of ['b', 'c', 'd']) {
      line(msg)
      await clock.advance(20)
    }
    expect(engine.stats()).toMatchObject({ accepted: 4, delivered: 1, queued: 3 })
    expect(messages()).toEqual(['first'])
    await clock.advance(140)
    expect(messages()).toEqual(['first', 'b', 'c', 'd'])
    expect(engine.stats()).toMatchObject({ accepted: 4, delivered: 4, queued: 0, heldBytes: 0 })
  })

  it.each(['flush', 'park', 'close'] as const)('are delivered by a %s', async (how) => {
    const { clock, engine, line, messages } = setUp({ lingerMs: 5000 })
    line('first')
    await clock.advance(10)
    line('b')
    line('c')
    const drained = engine[how]({ timeoutMs: 1000 })
    await clock.advance(10)
    expect(messages()).toEqual(['first', 'b', 'c'])
    expect(await drained).toMatchObject({ accepted: 3, delivered: 3 })
  })

  it('are counted once at an end that delivers nothing', async () => {
    const { clock, engine, line } = setUp()
    line('first')
    await clock.advance(10)
    line('b')
    expect(engine.endSync({ timeoutMs: 0 })(0)).toBe(true)
    expect(engine.stats()).toMatchObject({ accepted: 2, delivered: 1, queued: 1 })
    expect(addsUp(engine.stats())).toBe(true)
  })

  it('go before a line that has to be read at once, for its level may be below', async () => {
    const { clock, engine, line, messages } = setUp()
    line('first')
    await clock.advance(10)
    line('b')
    line('c', () => false)
    line('below', () => true)
    line('d')
    expect(engine.stats()).toMatchObject({ accepted: 4, queued: 3 })
    await clock.advance(200)
    expect(messages()).toEqual(['first', 'b', 'c', 'd'])
  })

  it('go before what Sluice says itself', async () => {
    const { clock, engine, line, messages } = setUp()
    line('first')
    await clock.advance(10)
    line('b')
    engine.unmapped(new Error('no line'))
    await clock.advance(200)
    expect(messages()).toEqual(['first', 'b', 'sluice: a line could not be read'])
  })

  it('fill no memory that others would need', async () => {
    const { clock, engine, line } = setUp({ maxQueueRecords: 8 })
    for (let number = 0; number < 100; number++) {
      line(`${number}`)
      expect(engine.stats().queued + engine.stats().inFlight).toBeLessThanOrEqual(8)
      await clock.advance(3)
    }
    await clock.advance(1000)
    expect(engine.stats()).toMatchObject({ accepted: 100, delivered: 100, heldBytes: 0 })
  })

  it('cost no other record its place, though a large one is among them', async () => {
    const { clock, engine, line } = setUp({ maxQueueBytes: 20_900 })
    for (let number = 0; number < 200; number++) {
      line(number % 61 === 60 ? 'x'.repeat(18_000) : `${number}`)
      await clock.advance(4)
    }
    await clock.advance(1000)
    expect(engine.stats()).toMatchObject({ accepted: 200, delivered: 200 })
  })

  it('are left out at once where their level says so, and keep no other waiting', async () => {
    const { clock, engine, line, messages } = setUp()
    line('first')
    await clock.advance(10)
    line('b')
    engine.line('{"level":20,"time":1700000000000,"msg":"below"}', { style: {}, arrivedAt: 0, below: true })
    expect(engine.stats()).toMatchObject({ accepted: 2, queued: 1 })
    await clock.advance(200)
    expect(messages()).toEqual(['first', 'b'])
  })

  it('are read at once where a batch waits', async () => {
    const { clock, line, messages } = setUp({ lingerMs: 5000 })
    line('first')
    await clock.advance(10)
    for (let number = 0; number < 256; number++) line(`${number}`)
    await clock.advance(100)
    expect(messages()).toHaveLength(257)
  })
})
