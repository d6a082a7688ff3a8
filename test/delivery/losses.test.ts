import { describe, expect, it } from 'vitest'
import { setUp } from '../support/delivery.js'
import { answers } from '../support/scripted-sender.js'

describe('the report of losses', () => {
  /** A delivery that has dropped two records: ten came, and there was room for eight. */
  async function lossy() {
    const set = setUp({ limits: { maxQueueRecords: 8, maxQueueBytes: 1000 }, maxConnections: 1 })
    set.sender.answer = () => answers.refused
    for (let number = 0; number < 10; number++) set.log(`log ${number}`)
    set.told.length = 0
    await set.clock.advance(1)
    set.sender.answer = () => answers.delivered
    return set
  }

  it('comes once half of memory is free again', async () => {
    const { clock, delivery, told } = await lossy()
    await clock.advance(253)
    expect(delivery.stats().delivered).toBe(3)
    expect(told).toEqual([])
    await clock.advance(10)
    expect(told).toEqual(['logs lost queue-full,2'])
  })

  it('comes only after a record was delivered, though there is room', async () => {
    const { clock, sender, told, log } = setUp({ limits: { maxQueueRecords: 8, maxQueueBytes: 100 } })
    sender.answer = () => answers.refused
    log('x'.repeat(101))
    log('small')
    told.length = 0
    await clock.advance(1000)
    expect(told).toEqual([])
    sender.answer = () => answers.delivered
    await clock.advance(1000)
    expect(told).toEqual(['logs lost queue-full,1'])
  })

  it('does not come while the delivery closes', async () => {
    const { clock, delivery, told } = await lossy()
    const closed = delivery.close({ timeoutMs: 5000 })
    await clock.advance(5000)
    expect(await closed).toMatchObject({ delivered: 8 })
    expect(told).toEqual([])
  })

  it('does not come where nothing was lost', async () => {
    const reports: unknown[] = []
    const ignore = () => {}
    const others = { dropped: ignore, rejected: ignore, paused: ignore, outage: ignore, resumed: ignore }
    const { clock, log } = setUp({ observer: { ...others, recovered: (_, losses) => reports.push(losses) } })
    log('one')
    await clock.advance(10)
    expect(reports).toEqual([])
  })
})

describe('a record that comes after the close', () => {
  it('starts no wait', async () => {
    const { clock, delivery, log } = setUp({ lingerMs: 100 })
    await delivery.close({ timeoutMs: 100 })
    log('late')
    expect(delivery.stats().dropped.closed).toBe(1)
    expect(clock.timers).toBe(0)
  })
})
