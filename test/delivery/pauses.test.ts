import { describe, expect, it } from 'vitest'
import type { Outcome } from '../../src/delivery/sender.js'
import { setUp } from '../support/delivery.js'
import { answers } from '../support/scripted-sender.js'

const noPlan: Outcome = { type: 'pause', status: 412, scope: 'lane', reason: 'no plan' }
const forbiddenBucket: Outcome = { ...answers.forbidden, scope: 'lane' }

/** A delivery whose service gives these answers, one after the other, and takes what comes behind them. */
function answering(...outcomes: readonly Outcome[]) {
  const set = setUp()
  const rest = [...outcomes]
  set.sender.answer = () => rest.shift() ?? answers.delivered
  const states = () => set.delivery.stats().lanes.map(({ state }) => state)
  return { ...set, rest, states }
}

describe('a refusal', () => {
  it('is confirmed by a second record with the same status, and by none with another', async () => {
    for (const [second, isPaused] of [
      [answers.noBucket, true],
      [noPlan, false],
    ] as const) {
      const { clock, rest, states, log } = answering(answers.noBucket, second)
      for (const body of ['one', 'two', 'three']) log(body)
      while (rest.length > 0) await clock.advance(1)
      await clock.advance(1)
      expect(states()[0]).toBe(isPaused ? 'paused' : 'outage')
    }
  })

  it('is confirmed by the same record where there is no other one, also if others come while it is on its way', async () => {
    for (const isAlone of [true, false]) {
      const { clock, sender, told, log } = setUp()
      sender.answer = (body) => (body === 'one' ? answers.noBucket : answers.delivered)
      sender.latencyMs = 10
      log('one')
      await clock.advance(265)
      expect(sender.sent).toEqual(['one', 'one'])
      if (!isAlone) log('two')
      await clock.advance(200)
      expect(told).toEqual(isAlone ? ['logs paused 404'] : [])
    }
  })

  it.each([
    [59_000, 'outage'],
    [60_001, 'paused'],
  ])('of two records %d ms after the last delivery: %s', async (ms, state) => {
    const { clock, sender, log, states } = answering()
    log('taken')
    await clock.advance(ms)
    sender.answer = () => answers.noBucket
    for (const body of ['one', 'two', 'three']) log(body)
    await clock.advance(2)
    expect(sender.sent).toHaveLength(3)
    expect(states()[0]).toBe(state)
    await clock.advance(1000)
    expect(states()[0]).toBe('paused')
  })

  it('of the key counts the records of all lanes, and one of a bucket those of its lane alone', async () => {
    for (const [outcome, expected] of [
      [answers.forbidden, ['paused', 'paused']],
      [forbiddenBucket, ['outage', 'outage']],
    ] as const) {
      const { clock, sender, states, log, value } = answering()
      sender.answer = () => outcome
      log('log')
      value('value')
      await clock.advance(2)
      expect(sender.sent).toHaveLength(2)
      expect(states()).toEqual(expected)
    }
  })

  it('of the key pauses its own lane alone where a single record confirms it', async () => {
    const { clock, sender, states, log } = answering()
    sender.answer = () => answers.forbidden
    log('log')
    await clock.advance(1000)
    expect(states()).toEqual(['paused', 'open'])
  })

  it.each([
    ['a lane', answers.noBucket],
    ['the key', answers.forbidden],
  ])('of %s is forgotten when the service takes a record', async (_, refusal) => {
    const { clock, sender, states, told, log } = answering()
    sender.answer = (body) => (body.startsWith('bad') ? refusal : answers.delivered)
    for (let round = 0; round < 4; round++) {
      log(`bad ${round}`)
      log('good')
      await clock.advance(100)
      expect(states()[0]).toBe('open')
      await clock.advance(100_000)
    }
    expect(told.filter((text) => text.includes('paused'))).toEqual([])
  })
})

describe('a pause', () => {
  it.each([
    ['the key', answers.wrongKey],
    ['one bucket', answers.noBucket],
  ])(
    'of %s is probed after half a minute, then after twice as long each time, up to five minutes',
    async (_, refusal) => {
      const { clock, sender, told, log } = answering()
      const times: number[] = []
      sender.answer = () => {
        if (told.length > 0 || refusal === answers.wrongKey) times.push(clock.now() - 1)
        return refusal
      }
      log('one')
      await clock.advance(1_200_000)
      const waits = times.slice(1).map((at, index) => at - times[index]! - 1)
      expect(waits.slice(-5)).toEqual([60_000, 120_000, 240_000, 300_000, 300_000])
    },
  )

  it('of a lane in an outage lets another lane probe at once: the service answers', async () => {
    const { clock, sender, told, log, value } = answering()
    sender.answer = () => answers.refused
    log('log')
    value('value')
    await clock.advance(60_000)
    sender.answer = (body) => (body === 'log' ? answers.noBucket : answers.refused)
    while (!told.includes('logs paused 404')) await clock.advance(1)
    expect(sender.sent.at(-1)).toBe('value')
    expect(sender.inFlight).toBe(1)
  })

  it('of the key lets no lane probe at once because it once had a record at fault', async () => {
    const { clock, sender, states, log, value } = answering()
    sender.answer = (body) => (body === 'bad' ? answers.failed : answers.delivered)
    value('bad')
    value('good')
    await clock.advance(2000)
    sender.answer = (body) => (body === 'log' ? answers.wrongKey : answers.delivered)
    for (let number = 0; number < 40; number++) value(`value ${number}`)
    log('log')
    sender.latencyMs = 10
    await clock.advance(5)
    sender.latencyMs = 1000
    await clock.advance(5)
    expect(states()).toEqual(['paused', 'paused'])
    const { length } = sender.sent
    await clock.advance(900)
    expect(sender.sent).toHaveLength(length)
  })

  it('is probed with another record at once where the first fails and both have failed before, for waits are long', async () => {
    for (const bodies of [['one'], ['one', 'two']]) {
      const { clock, sender, log } = answering()
      sender.answer = () => answers.noBucket
      for (const body of bodies) log(body)
      await clock.advance(20_000)
      sender.sent.length = 0
      await clock.advance(11_000)
      expect(sender.sent.toSorted()).toEqual(bodies)
    }
  })

  it('is told once for each status, also where probes fail in other ways in between', async () => {
    const { clock, sender, told, log } = answering()
    sender.answer = () => answers.wrongKey
    log('one')
    await clock.advance(1)
    for (const outcome of [answers.wrongKey, answers.refused, answers.wrongKey, answers.busy, answers.wrongKey]) {
      sender.answer = () => outcome
      await clock.advance(310_000)
    }
    expect(told).toEqual(['logs paused 401'])
    sender.answer = () => answers.forbidden
    await clock.advance(700_000)
    expect(told).toEqual(['logs paused 401', 'logs paused 403'])
  })

  it('of the key ends for all lanes with one record that is taken, which is told once', async () => {
    const { clock, sender, told, states, log, value } = answering()
    sender.answer = () => answers.wrongKey
    log('log')
    value('value')
    await clock.advance(1000)
    expect(states()).toEqual(['paused', 'paused'])
    sender.answer = () => answers.delivered
    await clock.advance(30_100)
    expect(states()).toEqual(['open', 'open'])
    expect(told.slice(1)).toHaveLength(1)
    expect(told[1]).toMatch(/resumed$/)
  })

  it('of a bucket that is unknown goes on when the key is right again', async () => {
    const { clock, sender, delivery, told, states, log, value } = answering()
    sender.answer = () => answers.wrongKey
    log('log')
    value('value')
    await clock.advance(1000)
    sender.answer = (body) => (body === 'value' ? answers.noBucket : answers.wrongKey)
    await clock.advance(600_000)
    sender.answer = (body) => (body === 'value' ? answers.noBucket : answers.delivered)
    for (let waited = 0; states()[0] === 'paused' && waited < 600; waited++) await clock.advance(1000)
    expect(states()).toEqual(['open', 'paused'])
    expect(told.at(-1)).toBe('logs resumed')
    expect(told).toContain('values paused 404')
    sender.answer = () => answers.delivered
    await clock.advance(600_000)
    expect(states()).toEqual(['open', 'open'])
    expect(delivery.stats()).toMatchObject({ delivered: 2, queued: 0 })
  })

  it('of a bucket becomes one of the key once that is wrong, too', async () => {
    const { clock, sender, told, states, log } = answering()
    sender.answer = () => answers.noBucket
    log('log')
    await clock.advance(1000)
    expect(told).toEqual(['logs paused 404'])
    sender.answer = () => answers.wrongKey
    await clock.advance(60_000)
    expect(told).toEqual(['logs paused 404', 'logs paused 401'])
    expect(states()).toEqual(['paused', 'paused'])
    expect(clock.timers).toBe(1)
    sender.answer = () => answers.delivered
    await clock.advance(600_000)
    expect(states()).toEqual(['open', 'open'])
  })
})

describe('a wrong key', () => {
  it('is asked about no further, also in answer to a record that was to confirm a failure', async () => {
    const { clock, sender, states, log } = answering(answers.failed, answers.wrongKey)
    for (const body of ['one', 'two', 'three', 'four']) log(body)
    await clock.advance(1000)
    expect(states()).toEqual(['paused', 'paused'])
    expect(sender.sent).toEqual(['one', 'four'])
  })

  it('pauses at once, though other records of the lane were taken meanwhile', async () => {
    const { clock, sender, states, told, log } = answering()
    for (let number = 0; number < 20; number++) log(`warm ${number}`)
    await clock.advance(100)
    sender.latencyMs = 10
    sender.answer = (body) => (body === 'late' ? answers.wrongKey : answers.delivered)
    log('early')
    await clock.advance(1)
    log('late')
    await clock.advance(10)
    expect(states()).toEqual(['paused', 'paused'])
    expect(told).toEqual(['logs paused 401'])
  })
})

describe('the success of another lane with the same key', () => {
  it('says nothing about a record that was refused: it goes out at once, and is no suspect', async () => {
    const { clock, sender, delivery, states, log, value } = answering()
    sender.answer = () => answers.forbidden
    log('log')
    value('value')
    await clock.advance(2000)
    expect(states()).toEqual(['paused', 'paused'])
    const sent: [number, string][] = []
    sender.answer = (body) => {
      sent.push([clock.now(), body])
      return sent.length === 1 ? answers.delivered : answers.failed
    }
    await clock.advance(60_000)
    expect(new Set(sent.slice(0, 2).map(([, body]) => body))).toEqual(new Set(['log', 'value']))
    expect(sent[1]![0] - sent[0]![0]).toBeLessThan(3)
    expect(delivery.stats()).toMatchObject({ delivered: 1, queued: 1 })
  })
})
