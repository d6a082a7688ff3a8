import { describe, expect, it } from 'vitest'
import { addsUp, setUp } from '../support/delivery.js'
import { drainAfter, type LastService, numbers, setUpLast } from '../support/last-drain.js'
import { answers } from '../support/scripted-sender.js'
import { SimulatedServer } from '../support/simulated-server.js'
import { VirtualClock } from '../support/virtual-clock.js'

/** The requests that went out in each millisecond in which some did. */
function roundsOf({ times }: LastService, fromMs = 0): number[] {
  const counts = new Map<number, number>()
  for (const at of [...times.values()].flat().sort((a, b) => a - b)) {
    if (at >= fromMs) counts.set(at, (counts.get(at) ?? 0) + 1)
  }
  return [...counts.values()]
}

describe('the last drain', () => {
  it('delivers everything, value records first and lines as they were accepted, with no more in flight than allowed', () => {
    const { delivery, service, drain, log, value } = setUpLast()
    for (const body of numbers(100)) log(body)
    log('fatal', 5)
    value('value')
    drain()
    expect(delivery.stats()).toMatchObject({ accepted: 102, delivered: 102, queued: 0, inFlight: 0 })
    expect(service.sent).toEqual(['value', ...numbers(100), 'fatal'])
    expect(service.maxInFlight).toBe(8)
    expect(addsUp(delivery.stats())).toBe(true)
  })

  it.each([
    { serviceMs: 0.3, count: 330, isInOrder: true },
    { serviceMs: 3, count: 90, isInOrder: true },
    { serviceMs: 3, count: 3000, isInOrder: false },
  ])(
    'of a young lane keeps the order where a sixteenth of the time is enough: $count records, $serviceMs ms each',
    async ({ serviceMs, count, isInOrder }) => {
      const clock = new VirtualClock()
      const arrived: string[] = []
      const resetsAt = ({ body }: { readonly body: string }) => {
        arrived.push(body)
        return false
      }
      const model = { serviceMs: () => serviceMs, pipelined: 'one-by-one', maxDepth: 64, resetsAt } as const
      const limits = { maxQueueRecords: 10_000, maxQueueBytes: 1_000_000 }
      const { delivery, log } = setUp({ sender: new SimulatedServer(clock, model), limits, maxBatch: 64 }, clock)
      for (const body of numbers(count)) log(body)
      const closed = delivery.close({ timeoutMs: 5000 })
      await clock.advance(5000)
      expect(await closed).toMatchObject({ delivered: count })
      expect(arrived.join() === numbers(count).join()).toBe(isInOrder)
    },
  )

  it('delivers the most severe lines before the others where the service is too slow for all', () => {
    const { delivery, service, drain, log } = setUpLast({ latencyMs: 200 })
    for (const body of numbers(500)) log(body)
    for (let number = 0; number < 40; number++) log(`error ${number}`, 4)
    drain(2000)
    expect(delivery.stats().delivered).toBeLessThan(100)
    expect(service.sent.slice(0, 7)).toEqual(numbers(7))
    expect(service.sent.filter((body) => body.startsWith('error'))).toHaveLength(40)
  })

  it('takes back records that another sender has not answered, and counts them as ambiguous', async () => {
    const { delivery, service, drain, log, sender } = setUpLast()
    log('on its way')
    await new Promise((resolve) => setImmediate(resolve))
    expect(sender.sent).toEqual(['on its way'])
    drain()
    expect(service.sent).toEqual(['on its way'])
    expect(delivery.stats()).toMatchObject({ delivered: 1, retries: 1, ambiguousRetries: 1, inFlight: 0 })
  })

  it('sends a record that failed among successes again, alone', () => {
    const { delivery, service, drain, log } = setUpLast()
    service.answer = (body, attempt) => (body === 'record 5' && attempt < 3 ? answers.reset : answers.delivered)
    for (const body of numbers(20)) log(body)
    drain(5000)
    expect(delivery.stats()).toMatchObject({ delivered: 20, retries: 2, ambiguousRetries: 2, queued: 0 })
    expect(service.sent.filter((body) => body !== 'record 5')).toHaveLength(19)
  })

  it('counts records that the service rejects, and goes on', () => {
    const { delivery, service, drain, log, told } = setUpLast()
    service.answer = (body) => (body === 'record 1' ? answers.rejected : answers.delivered)
    for (const body of numbers(3)) log(body)
    drain()
    expect(delivery.stats()).toMatchObject({ delivered: 2, rejected: 1 })
    expect(told).toEqual(['logs rejected'])
  })

  it('stops at once, all lanes, when the key is wrong', () => {
    const { delivery, service, drain, log, value, told } = setUpLast()
    service.answer = () => answers.wrongKey
    for (const body of numbers(50)) log(body)
    for (const body of numbers(50)) value(body)
    drain()
    expect(service.sent.length).toBeLessThan(10)
    expect(service.now).toBeLessThan(10)
    expect(delivery.stats()).toMatchObject({ delivered: 0, queued: 100, inFlight: 0 })
    expect(told).toEqual(['values paused 401'])
    expect(addsUp(delivery.stats())).toBe(true)
  })

  it('goes on with the other lane when one bucket does not exist', () => {
    const { delivery, service, drain, log, value } = setUpLast()
    service.answer = (body) => (body.startsWith('value') ? answers.noBucket : answers.delivered)
    for (const body of numbers(20)) log(body)
    value('value')
    drain()
    expect(delivery.stats()).toMatchObject({ delivered: 20, queued: 1 })
  })

  it('tries again during an outage, one record at a time, as long as there is time', () => {
    const { delivery, service, drain, log } = setUpLast()
    service.answer = () => answers.refused
    for (const body of numbers(50)) log(body)
    drain(5000)
    expect(service.maxInFlight).toBe(1)
    expect(service.sent.length).toBeGreaterThan(4)
    expect(service.sent.length).toBeLessThan(12)
    expect(service.now).toBeGreaterThan(4000)
    expect(delivery.stats()).toMatchObject({ delivered: 0, queued: 50, inFlight: 0 })
  })

  it('delivers all when an outage ends before the deadline', () => {
    const { delivery, service, drain, log } = setUpLast()
    service.answer = () => (service.now < 800 ? answers.refused : answers.delivered)
    for (const body of numbers(50)) log(body)
    drain(5000)
    expect(delivery.stats()).toMatchObject({ delivered: 50, queued: 0 })
  })

  it('ends at the deadline when the service never answers, and counts records in flight as queued', () => {
    const { delivery, service, drain, log } = setUpLast()
    service.answer = () => 'silence'
    for (const body of numbers(50)) log(body)
    drain(1000)
    expect(service.now).toBe(1000)
    expect(delivery.stats()).toMatchObject({ delivered: 0, queued: 50, inFlight: 0 })
    expect(delivery.stats().lanes[0]!.lastError).toBe('the service did not answer in time')
    expect(addsUp(delivery.stats())).toBe(true)
  })

  it('delivers all behind twenty records that are told to wait for a day', () => {
    const { delivery, service, drain, log } = setUpLast()
    service.answer = (body) =>
      body.startsWith('odd') ? { ...answers.busy, retryAfterMs: 86_400_000 } : answers.delivered
    for (let number = 0; number < 20; number++) log(`odd ${number}`)
    for (const body of numbers(900)) log(body)
    drain(5000)
    expect(delivery.stats()).toMatchObject({ delivered: 900, queued: 20 })
  })

  it('sends one more record inside a Retry-After, which may be meant for the first one, and waits for none beyond the deadline', () => {
    const { delivery, service, drain, log } = setUpLast()
    service.answer = () => ({ ...answers.busy, retryAfterMs: 60_000 })
    for (const body of numbers(50)) log(body)
    drain(5000)
    expect(service.sent).toHaveLength(2)
    expect(service.now).toBeLessThan(10)
    expect(delivery.stats()).toMatchObject({ queued: 50 })
  })

  it.each([
    ['500', answers.failed],
    ['503', answers.busy],
    ['a reset', answers.reset],
    ['403', answers.forbidden],
    ['404', answers.noBucket],
    ['429 with a Retry-After of an hour', { ...answers.busy, retryAfterMs: 3_600_000 }],
    ['silence', 'silence' as const],
  ])('delivers all behind one that always gets %s, and does not wait for that one', (_, outcome) => {
    const { delivery, service, drain, log } = setUpLast()
    service.answer = (body) => (body === 'bad' ? outcome : answers.delivered)
    log('bad', 5)
    for (const body of numbers(999)) log(body)
    drain(8000)
    expect(delivery.stats()).toMatchObject({ delivered: 999, queued: 1, inFlight: 0 })
    // A silent service may still answer.
    if (outcome !== 'silence') expect(service.now).toBeLessThan(4000)
    expect(addsUp(delivery.stats())).toBe(true)
  })

  it('delivers all behind twenty in a row that the service does not take', () => {
    const { delivery, service, drain, log } = setUpLast()
    service.answer = (body) => (body.startsWith('bad') ? answers.failed : answers.delivered)
    for (let number = 0; number < 20; number++) log(`bad ${number}`, 5)
    for (const body of numbers(500)) log(body)
    drain(8000)
    expect(delivery.stats()).toMatchObject({ delivered: 500, queued: 20 })
  })

  it('makes one attempt with an earlier suspect, and rejects it after one failure too many', async () => {
    const answer = (body: string) => (body === 'bad' ? answers.failed : answers.delivered)
    const { delivery, service, told } = await drainAfter(
      async ({ clock, sender, log }) => {
        sender.answer = answer
        log('bad')
        for (let second = 0; second < 100 && sender.sent.filter((body) => body === 'bad').length < 9; second++) {
          log(`good ${second}`)
          await clock.advance(1000)
        }
        log('last')
        await clock.advance(10)
      },
      { answer },
    )
    expect(service.sent).toEqual(['bad'])
    expect(told).toEqual(['logs rejected'])
    expect(delivery.stats()).toMatchObject({ rejected: 1, queued: 0 })
  })

  it('pauses a lane when a second record is refused with the same status', () => {
    const { delivery, service, drain, log, told } = setUpLast()
    service.answer = () => answers.noBucket
    for (const body of numbers(50)) log(body)
    drain()
    expect(told).toEqual(['logs paused 404'])
    expect(service.sent.length).toBeLessThan(10)
    expect(delivery.stats()).toMatchObject({ delivered: 0, queued: 50 })
  })

  it('tries once more where the service asks for a longer wait than is honoured', async () => {
    const { delivery } = await drainAfter(async ({ clock, sender, log }) => {
      sender.answer = () => ({ ...answers.busy, retryAfterMs: 86_400_000 })
      for (const body of numbers(100)) log(body)
      await clock.advance(10)
    })
    expect(delivery.stats()).toMatchObject({ delivered: 100, queued: 0 })
  })
})

describe('the last drain of a lane', () => {
  it('begins with as many requests as the lane had in flight before', async () => {
    const { service } = await drainAfter(async ({ clock, log }) => {
      for (const body of numbers(300)) log(body)
      await clock.advance(2000)
      for (const body of numbers(50)) log(body)
    })
    expect(roundsOf(service)[0]).toBe(8)
  })

  it('begins with one request after an outage, and has twice as many in each round', () => {
    const { service, drain, log } = setUpLast()
    service.answer = () => (service.now < 800 ? answers.refused : answers.delivered)
    for (const body of numbers(50)) log(body)
    drain(5000)
    expect(roundsOf(service, 800).slice(0, 5)).toEqual([1, 1, 2, 4, 8])
  })

  it('goes on as before when another record shows that there is no outage', async () => {
    const { service } = await drainAfter(
      async ({ clock, log }) => {
        for (const body of numbers(300)) log(body)
        await clock.advance(2000)
        log('bad', 5)
        for (const body of numbers(50)) log(body)
      },
      { answer: (body) => (body === 'bad' ? answers.failed : answers.delivered) },
    )
    expect(service.sent[0]).toBe('bad')
    expect(roundsOf(service).slice(0, 3)).toEqual([8, 8, 8])
  })

  it('tries a lone record again during an outage, and makes no storm with it', () => {
    for (const trouble of [answers.refused, answers.failed]) {
      const { delivery, service, drain, log } = setUpLast()
      service.answer = () => (service.now < 3000 ? trouble : answers.delivered)
      log('alone')
      drain(10_000)
      expect(delivery.stats()).toMatchObject({ delivered: 1 })
      expect(service.sent.length).toBeGreaterThan(3)
      expect(service.sent.length).toBeLessThan(9)
    }
  })

  it('tries the next record beside one that waits for its answer, and then one from the other end of the queue', () => {
    const { service, drain, log } = setUpLast()
    service.answer = (body) => (body === 'record 0' || body === 'record 1' ? 'silence' : answers.delivered)
    for (const body of numbers(50)) log(body)
    drain(3000)
    expect(service.sent.slice(0, 3)).toEqual(['record 0', 'record 1', 'record 49'])
    expect(service.times.get('record 1')).toEqual([500])
    expect(service.times.get('record 49')).toEqual([1000])
  })

  it('sends a suspect after a backoff, longer each time, and not inside its Retry-After', () => {
    const { delivery, service, drain, log } = setUpLast()
    service.answer = (body, attempt) => {
      if (body === 'odd' && attempt < 3) return answers.failed
      return body === 'patient' && attempt === 1 ? { ...answers.busy, retryAfterMs: 2000 } : answers.delivered
    }
    for (const body of numbers(30)) log(body)
    for (const body of ['odd', 'patient', ...numbers(30)]) log(body)
    drain(8000)
    expect(delivery.stats()).toMatchObject({ delivered: 62, queued: 0 })
    const [first = 0, second = 0, third = 0] = service.times.get('odd')!
    expect(second - first).toBeGreaterThanOrEqual(250)
    expect(third - second).toBeGreaterThanOrEqual(500)
    const [asked = 0, again = 0] = service.times.get('patient')!
    expect(again - asked).toBeGreaterThanOrEqual(2000)
  })

  it('has a quarter of its connections at most for suspects', () => {
    const { service, drain, log } = setUpLast()
    let suspects = 0
    let most = 0
    service.answer = (body, attempt) => {
      if (!body.startsWith('bad')) return answers.delivered
      if (attempt > 1) suspects--
      return answers.failed
    }
    service.onSend = (body, attempt) => {
      if (body.startsWith('bad') && attempt > 1) most = Math.max(most, ++suspects)
    }
    for (const body of numbers(30)) log(body)
    for (let number = 0; number < 10; number++) {
      log(`bad ${number}`)
      log(`good ${number}`)
    }
    drain(8000)
    const times = [...service.times].filter(([body]) => body.startsWith('bad'))
    expect(times.every(([, each]) => each.length > 1)).toBe(true)
    expect(most).toBe(2)
  })

  it('sends one record for a lane that was paused, and gives the lane up when that fails, too', async () => {
    const { service, delivery } = await drainAfter(
      async ({ clock, log, sender }) => {
        sender.answer = () => answers.noBucket
        for (const body of numbers(20)) log(body)
        await clock.advance(2000)
      },
      { answer: () => answers.refused },
    )
    expect(delivery.stats()).toMatchObject({ queued: 20, delivered: 0 })
    expect(service.sent).toHaveLength(1)
    expect(service.now).toBeLessThan(10)
  })
})

describe('a failure in the last drain', () => {
  it('of a record that was never sent while others were delivered makes it no suspect: it waits for its own retry', () => {
    const { delivery, service, drain, log, told } = setUpLast()
    service.answer = (body, attempt) => (body === 'odd' && attempt < 4 ? answers.refused : answers.delivered)
    for (const body of [...numbers(40), 'odd', ...numbers(40)]) log(body)
    drain(10_000)
    expect(delivery.stats()).toMatchObject({ delivered: 81, queued: 0, rejected: 0 })
    const times = service.times.get('odd')!
    const waits = times.slice(1).map((at, index) => at - times[index]!)
    expect(waits).toHaveLength(3)
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(250)
    expect(waits[0]).toBeLessThan(300)
    expect(told).toEqual([])
  })

  it('with 401 of a suspect ends every lane', () => {
    const { delivery, service, drain, log, told } = setUpLast()
    service.answer = (body, attempt) => {
      if (body !== 'bad') return answers.delivered
      return attempt === 1 ? answers.failed : answers.wrongKey
    }
    for (const body of [...numbers(40), 'bad', ...numbers(40)]) log(body)
    drain(8000)
    expect(told).toEqual(['logs paused 401'])
    expect(service.times.get('bad')).toHaveLength(2)
    expect(delivery.stats()).toMatchObject({ delivered: 80, queued: 1 })
  })

  it('to send a suspect, with no success beside it, makes the lane test the service with one record at a time', () => {
    const { delivery, service, drain, log } = setUpLast()
    service.answer = (body, attempt) => {
      if (body.startsWith('bad') && attempt === 1) return answers.failed
      return body.startsWith('bad') && service.now < 4000 ? answers.refused : answers.delivered
    }
    for (const body of numbers(40)) log(body)
    for (let number = 0; number < 10; number++) {
      log(`bad ${number}`)
      log(`good ${number}`)
    }
    drain(20_000)
    expect(delivery.stats()).toMatchObject({ delivered: 60, queued: 0 })
    const again = [...service.times].filter(([body]) => body.startsWith('bad')).flatMap(([, times]) => times.slice(1))
    expect(again.length).toBeLessThan(40)
  })

  it('with 500 of many records pauses nothing', () => {
    const { service, drain, log, told, delivery } = setUpLast()
    service.answer = () => (service.now < 3000 ? answers.failed : answers.delivered)
    for (const body of numbers(50)) log(body)
    drain(10_000)
    expect(told).toEqual([])
    expect(delivery.stats()).toMatchObject({ delivered: 50 })
  })

  it('with 404 pauses its own lane, and no other one', () => {
    const { delivery, service, drain, log, value, told } = setUpLast()
    service.answer = (body) => (body.startsWith('value') ? answers.noBucket : answers.delivered)
    for (const body of numbers(50)) log(body)
    for (let number = 0; number < 5; number++) value(`value ${number}`)
    drain()
    expect(told).toEqual(['values paused 404'])
    expect(delivery.stats()).toMatchObject({ delivered: 50, queued: 5 })
  })

  it('that is answered twice, or was never asked for, changes nothing', () => {
    const { delivery, drain, log } = setUpLast({ repeatsItself: true })
    for (const body of numbers(20)) log(body)
    drain()
    expect(delivery.stats()).toMatchObject({ accepted: 20, delivered: 20, queued: 0, inFlight: 0 })
    expect(addsUp(delivery.stats())).toBe(true)
  })
})

describe('the last error after the last drain', () => {
  it('is that of an outage, though a probe had no answer at the end', async () => {
    const { delivery } = await drainAfter(
      async ({ clock, log, sender }) => {
        sender.answer = () => answers.refused
        log('one')
        await clock.advance(2000)
      },
      { answer: () => 'silence', timeoutMs: 300 },
    )
    expect(delivery.stats().lanes[0]!.lastError).toBe('ECONNREFUSED')
  })

  it('is that of a failure within it, though a later request had no answer at the end', () => {
    const { delivery, service, drain, log } = setUpLast()
    service.answer = (_, attempt) => (attempt === 1 ? answers.refused : 'silence')
    log('one')
    drain(1000)
    expect(delivery.stats().lanes[0]!.lastError).toBe('ECONNREFUSED')
  })

  it('is that of a suspect that still waits when nothing is in flight at the end', () => {
    const { delivery, service, drain, log } = setUpLast()
    service.answer = (body) => (body === 'bad' ? answers.failed : answers.delivered)
    for (const body of [...numbers(20), 'bad', ...numbers(20)]) log(body)
    drain(200)
    expect(delivery.stats().lanes[0]!.lastError).toBe('500')
    expect(delivery.stats()).toMatchObject({ queued: 1, delivered: 40 })
  })
})
