import { describe, expect, it } from 'vitest'
import { setUp } from '../support/delivery.js'
import { answers } from '../support/scripted-sender.js'

const lingerMs = 200

describe('a lane that gathers', () => {
  it('sends the first record after a pause at once, and what follows together when the time has passed', async () => {
    const { clock, sender, value } = setUp({ lingerMs })
    value('a')
    await clock.advance(10)
    expect(sender.sent).toEqual(['a'])
    value('b')
    await clock.advance(100)
    value('c')
    await clock.advance(89)
    expect(sender.sent).toEqual(['a'])
    await clock.advance(5)
    expect(sender.sent).toEqual(['a', 'b', 'c'])
    await clock.advance(lingerMs)
    value('d')
    await clock.advance(0)
    expect(sender.sent).toEqual(['a', 'b', 'c', 'd'])
  })

  it('sets no timer while it has nothing', async () => {
    const { clock, value } = setUp({ lingerMs })
    value('a')
    await clock.advance(10)
    expect(clock.timers).toBe(0)
  })

  it('sends as soon as a batch is full', async () => {
    const { clock, sender, value } = setUp({ lingerMs, maxBatch: 8 })
    value('first')
    await clock.advance(10)
    for (let each = 0; each < 7; each++) value(`${each}`)
    await clock.advance(10)
    expect(sender.sent).toHaveLength(1)
    value('8th')
    await clock.advance(10)
    expect(sender.sent).toHaveLength(9)
  })

  it('sends as soon as 64 KiB wait', async () => {
    const { clock, sender, value } = setUp({
      lingerMs,
      maxBatch: 256,
      limits: { maxQueueRecords: 1000, maxQueueBytes: 1e6 },
    })
    value('first')
    await clock.advance(10)
    value('x'.repeat(65_535))
    await clock.advance(10)
    expect(sender.sent).toHaveLength(1)
    value('y')
    await clock.advance(10)
    expect(sender.sent).toHaveLength(3)
  })

  it('sends before memory is full', async () => {
    const { clock, sender, delivery, value } = setUp({
      lingerMs,
      maxBatch: 256,
      limits: { maxQueueRecords: 10, maxQueueBytes: 1e6 },
    })
    for (let each = 0; each < 40; each++) {
      value(`${each}`)
      await clock.advance(5)
    }
    expect(delivery.stats().dropped['queue-full']).toBe(0)
    expect(sender.sent.length).toBeGreaterThan(30)
  })

  it('does not let a drain wait, nor what comes during one', async () => {
    const { clock, sender, delivery, value } = setUp({ lingerMs: 5000 })
    value('a')
    await clock.advance(10)
    value('b')
    const flushed = delivery.flush({ timeoutMs: 1000 })
    await clock.advance(10)
    expect(sender.sent).toEqual(['a', 'b'])
    expect((await flushed).delivered).toBe(2)
  })

  it('sends a record again at the time of its retry, whatever has come meanwhile', async () => {
    const { clock, sender, value } = setUp({ lingerMs: 5000 })
    value('a')
    await clock.advance(10)
    sender.answer = (body) => (body === 'b' && sender.sent.length === 2 ? answers.busy : answers.delivered)
    value('b')
    value('c')
    await clock.advance(6000)
    expect(sender.sent).toEqual(['a', 'b', 'c', 'b'])
  })

  it('does not wait after an outage', async () => {
    const { clock, sender, value } = setUp({ lingerMs: 5000 })
    let fails = true
    sender.answer = () => (fails ? answers.failed : answers.delivered)
    value('a')
    await clock.advance(10)
    fails = false
    for (const body of ['b', 'c', 'd']) value(body)
    await clock.advance(1200)
    expect(sender.sent.slice(1).sort()).toEqual(['a', 'b', 'c', 'd'])
  })

  it('sends what dead engines have left meanwhile', async () => {
    const { clock, sender, delivery, value } = setUp({ lingerMs: 5000 })
    const left = delivery.adoptedLog(1, 6)
    value('a')
    await clock.advance(10)
    for (let each = 0; each < 150; each++) left.append({ body: `left ${each}`, bytes: 8 }, 1e6 + each, 'none')
    delivery.adopted(1)
    value('b')
    await clock.advance(1000)
    expect(sender.sent).toHaveLength(151)
    expect(sender.sent).not.toContain('b')
  })
})
