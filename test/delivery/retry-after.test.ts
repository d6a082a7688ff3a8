import { describe, expect, it } from 'vitest'
import { failureReason, waitOf } from '../../src/delivery/rules.js'
import { setUp } from '../support/delivery.js'
import { answers } from '../support/scripted-sender.js'

const asking = (retryAfterMs: number) => ({ ...answers.busy, retryAfterMs })
const tenYearsMs = 315_360_000_000

describe('a Retry-After of more than five minutes', () => {
  it.each([3_600_000, 86_400_000, 99_999_999_000, tenYearsMs, Number.POSITIVE_INFINITY])(
    '(%s ms) is honoured for five minutes, and named in the last error as it was asked',
    async (askedMs) => {
      const { clock, sender, delivery, log } = setUp()
      sender.answer = () => asking(askedMs)
      for (let number = 0; number < 10; number++) log(`record ${number}`)
      await clock.advance(10)
      expect(delivery.stats().lanes[0]!.lastError).toBe(
        `503 and asks to wait ${askedMs / 1000} s; tried again after 300 s`,
      )
      await clock.advance(299_000)
      // The second record showed that the wait was not meant for the first one alone.
      expect(sender.sent).toEqual(['record 0', 'record 9'])
      sender.answer = () => answers.delivered
      await clock.advance(2000)
      expect(delivery.stats()).toMatchObject({ delivered: 10, queued: 0 })
    },
  )

  it('does not stop a lane when it is meant for single records, even for twenty at its head', async () => {
    const { clock, sender, delivery, log } = setUp()
    sender.answer = (body) => (body.startsWith('odd') ? asking(86_400_000) : answers.delivered)
    for (let number = 0; number < 20; number++) log(`odd ${number}`)
    for (let number = 0; number < 900; number++) log(`record ${number}`)
    await clock.advance(5000)
    expect(delivery.stats()).toMatchObject({ delivered: 900, queued: 20 })
  })

  it('is honoured for five minutes for a record that failed among others, too', async () => {
    const { clock, sender, delivery, log } = setUp()
    for (let number = 0; number < 20; number++) log(`record ${number}`)
    await clock.advance(20)
    sender.answer = (body) => (body === 'odd' ? asking(tenYearsMs) : answers.delivered)
    log('odd')
    for (let number = 0; number < 20; number++) log(`beside ${number}`)
    await clock.advance(299_000)
    expect(sender.sent.filter((body) => body === 'odd')).toHaveLength(1)
    sender.answer = () => answers.delivered
    await clock.advance(2000)
    expect(delivery.stats()).toMatchObject({ delivered: 41, queued: 0 })
  })

  it('does not keep close() from one more attempt', async () => {
    const { clock, sender, delivery, log } = setUp()
    sender.answer = () => asking(3_600_000)
    for (let number = 0; number < 100; number++) log(`record ${number}`)
    await clock.advance(1000)
    sender.answer = () => answers.delivered
    const closed = delivery.close({ timeoutMs: 5000 })
    await clock.advance(1000)
    expect(await closed).toMatchObject({ delivered: 100, queued: 0 })
  })

  it('keeps close() from a second attempt', async () => {
    const { clock, sender, delivery, log } = setUp()
    sender.answer = () => asking(3_600_000)
    for (let number = 0; number < 100; number++) log(`record ${number}`)
    await clock.advance(1000)
    sender.sent.length = 0
    const closed = delivery.close({ timeoutMs: 5000 })
    await clock.advance(100)
    expect((await closed).dropped.shutdown).toBe(100)
    expect(sender.sent).toHaveLength(1)
  })

  it('does not keep close() from an attempt with a record that failed among others', async () => {
    const { clock, sender, delivery, log } = setUp()
    sender.answer = (body) => (body === 'odd' ? asking(3_600_000) : answers.delivered)
    log('odd')
    log('other')
    await clock.advance(301_000)
    sender.answer = () => answers.delivered
    const closed = delivery.close({ timeoutMs: 5000 })
    await clock.advance(100)
    expect(await closed).toMatchObject({ delivered: 2 })
  })

  it('keeps a flush from every attempt', async () => {
    const { clock, sender, delivery, log } = setUp()
    sender.answer = () => asking(3_600_000)
    log('one')
    await clock.advance(1000)
    sender.sent.length = 0
    const flushed = delivery.flush({ timeoutMs: 5000 })
    await clock.advance(10)
    expect(await flushed).toMatchObject({ queued: 1 })
    expect(sender.sent).toEqual([])
  })
})

describe('a Retry-After that was meant for one record', () => {
  /** One record fails alone, and another one is taken in its place. */
  async function oneAtFault() {
    const set = setUp()
    set.sender.answer = (body) => (body === 'odd' ? asking(60_000) : answers.delivered)
    set.log('odd')
    await set.clock.advance(2)
    set.log('good')
    await set.clock.advance(2)
    expect(set.delivery.stats()).toMatchObject({ delivered: 1, queued: 1 })
    set.sender.sent.length = 0
    set.sender.answer = () => answers.delivered
    return set
  }

  it('holds that record back, though the lane goes on', async () => {
    const { clock, sender, delivery, log } = await oneAtFault()
    log('later')
    await clock.advance(59_000)
    expect(sender.sent).toEqual(['later'])
    await clock.advance(2000)
    expect(delivery.stats()).toMatchObject({ delivered: 3, queued: 0 })
  })

  it('holds it back during a drain, too, which does not wait beyond its deadline', async () => {
    const { clock, sender, delivery, log } = setUp()
    sender.answer = (body) => (body === 'odd' ? asking(60_000) : answers.delivered)
    log('odd', 5)
    log('good')
    const flushed = delivery.flush({ timeoutMs: 5000 })
    await clock.advance(100)
    expect(await flushed).toMatchObject({ delivered: 1, queued: 1 })
    await clock.advance(55_000)
    expect(sender.sent).toEqual(['odd', 'good'])
  })
})

describe('a record that failed among others and waits for its Retry-After', () => {
  it.each([
    ['goes out with a drain that begins when it is over, and waits for no backoff', 100, false, 0],
    ['waits for its end beside the last drain', 3000, true, 2900],
    ['waits for its end beside another drain, however long it is', 3_600_000, false, 299_900],
    ['waits no longer beside the last drain where that is too long', 3_600_000, true, 0],
  ])('%s', async (_, askedMs, last, waitMs) => {
    const { clock, sender, delivery, log } = setUp()
    sender.latencyMs = 0
    sender.answer = (body) => (body === 'odd' ? asking(askedMs) : answers.delivered)
    for (let number = 0; number < 20; number++) log(`record ${number}`)
    await clock.advance(0)
    log('odd')
    log('good')
    await clock.advance(100)
    sender.answer = () => answers.delivered
    sender.sent.length = 0
    void (last ? delivery.close({ timeoutMs: 1_000_000 }) : delivery.flush({ timeoutMs: 1_000_000 }))
    if (waitMs > 0) await clock.advance(waitMs - 1)
    if (waitMs > 0) expect(sender.sent).toEqual([])
    await clock.advance(waitMs > 0 ? 1 : 0)
    expect(sender.sent).toEqual(['odd'])
  })
})

describe('a Retry-After that is no time', () => {
  it.each([Number.NaN, -5, Number.NEGATIVE_INFINITY, 0])('(%d ms) is none', async (askedMs) => {
    const { clock, sender, delivery, log } = setUp()
    sender.answer = () => asking(askedMs)
    log('one')
    await clock.advance(10)
    expect(delivery.stats().lanes[0]!.lastError).toBe('503')
    sender.answer = () => answers.delivered
    await clock.advance(1000)
    expect(delivery.stats()).toMatchObject({ delivered: 1 })
    expect(waitOf(asking(askedMs), 7)).toEqual({ notBefore: Number.NEGATIVE_INFINITY, excessive: false })
    expect(failureReason(asking(askedMs))).toBe('503')
  })
})
