import { describe, expect, it } from 'vitest'
import type { BlockingAnswer, BlockingRequest, BlockingSender, Outcome } from '../../src/delivery/sender.js'
import { addsUp, setUp } from '../support/delivery.js'
import { answers, ScriptedSender } from '../support/scripted-sender.js'
import { VirtualClock } from '../support/virtual-clock.js'

/** A service that the test scripts. It answers one request after another. Time passes only while the drain waits. */
class BlockingScript implements BlockingSender {
  readonly sent: string[] = []
  maxInFlight = 0
  waitedMs = 0
  answer: (body: string, attempt: number) => Outcome | 'silence' = () => answers.delivered
  /** Requests that it answers before the drain looks again. */
  perLook = Number.POSITIVE_INFINITY
  /** Requests that were begun before each look. */
  readonly begun: (readonly string[])[] = []
  /** By body: the times at which it was sent. */
  readonly times = new Map<string, number[]>()
  readonly #pending: BlockingRequest[] = []
  readonly #attempts = new Map<string, number>()

  begin(request: BlockingRequest): void {
    const { body } = request.record
    this.sent.push(body)
    this.times.set(body, [...(this.times.get(body) ?? []), this.waitedMs])
    this.#pending.push(request)
    this.maxInFlight = Math.max(this.maxInFlight, this.#pending.length)
  }

  answers(waitMs: number): readonly BlockingAnswer[] {
    this.begun.push(this.sent.slice(this.begun.flat().length))
    const answered = this.#pending.splice(0, this.perLook).flatMap(({ id, record: { body } }) => {
      const attempt = (this.#attempts.get(body) ?? 0) + 1
      this.#attempts.set(body, attempt)
      const outcome = this.answer(body, attempt)
      return outcome === 'silence' ? [] : [{ id, outcome }]
    })
    this.waitedMs += answered.length > 0 ? 1 : waitMs
    return answered
  }
}

function setUpLast() {
  const service = new BlockingScript()
  // Time passes only while the drain waits.
  const clock = { now: () => service.waitedMs, schedule: () => ({ cancel: () => {} }) }
  const set = setUp({ clock })
  const drain = (timeoutMs = 1000) => {
    const last = set.delivery.drainSync(service, { timeoutMs })
    while (!last.step(Number.POSITIVE_INFINITY));
  }
  return { ...set, service, drain }
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => `record ${index}`)

describe('the last drain', () => {
  it('delivers everything, value records and the most severe lines first, with no more in flight than allowed', () => {
    const { delivery, service, drain, log, value } = setUpLast()
    for (const body of numbers(100)) log(body)
    log('fatal', 5)
    value('value')
    drain()
    expect(delivery.stats()).toMatchObject({ accepted: 102, delivered: 102, queued: 0, inFlight: 0 })
    expect(service.sent.slice(0, 2)).toEqual(['value', 'fatal'])
    expect(service.maxInFlight).toBe(8)
    expect(addsUp(delivery.stats())).toBe(true)
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
    expect(service.waitedMs).toBeLessThan(10)
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
    expect(service.waitedMs).toBeGreaterThan(4000)
    expect(delivery.stats()).toMatchObject({ delivered: 0, queued: 50, inFlight: 0 })
  })

  it('delivers all when an outage ends before the deadline', () => {
    const { delivery, service, drain, log } = setUpLast()
    service.answer = () => (service.waitedMs < 800 ? answers.refused : answers.delivered)
    for (const body of numbers(50)) log(body)
    drain(5000)
    expect(delivery.stats()).toMatchObject({ delivered: 50, queued: 0 })
  })

  it('ends at the deadline when the service never answers, and counts records in flight as queued', () => {
    const { delivery, service, drain, log } = setUpLast()
    service.answer = () => 'silence'
    for (const body of numbers(50)) log(body)
    drain(1000)
    expect(service.waitedMs).toBe(1000)
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
    expect(service.waitedMs).toBeLessThan(10)
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
    if (outcome !== 'silence') expect(service.waitedMs).toBeLessThan(4000)
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
    const clock = new VirtualClock()
    const { delivery, sender, log, told } = setUp({}, clock)
    sender.answer = (body) => (body === 'bad' ? answers.failed : answers.delivered)
    log('bad')
    for (let second = 0; second < 100 && sender.sent.filter((body) => body === 'bad').length < 9; second++) {
      log(`good ${second}`)
      await clock.advance(1000)
    }
    log('last')
    await clock.advance(10)
    const service = new BlockingScript()
    service.answer = sender.answer
    const last = delivery.drainSync(service, { timeoutMs: 1000 })
    while (!last.step(Number.POSITIVE_INFINITY)) await clock.advance(1)
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
    const clock = new VirtualClock()
    const { delivery, sender, log } = setUp({}, clock)
    sender.answer = () => ({ ...answers.busy, retryAfterMs: 86_400_000 })
    for (const body of numbers(100)) log(body)
    await clock.advance(10)
    const service = new BlockingScript()
    const last = delivery.drainSync(service, { timeoutMs: 1000 })
    while (!last.step(Number.POSITIVE_INFINITY)) await clock.advance(1)
    expect(delivery.stats()).toMatchObject({ delivered: 100, queued: 0 })
  })
})

/** The last drain of a delivery that has a past, in virtual time. */
async function drainAfter(
  past: (set: ReturnType<typeof setUp>) => Promise<void>,
  { maxDepth = 1, timeoutMs = 5000, ...script }: Partial<BlockingScript> & { maxDepth?: number; timeoutMs?: number },
) {
  const clock = new VirtualClock()
  const before = new ScriptedSender(clock, { maxDepth })
  const set = setUp({ sender: before }, clock)
  await past({ ...set, sender: before })
  const service = Object.assign(new BlockingScript(), script)
  const startedAt = clock.now()
  const last = set.delivery.drainSync(service, { timeoutMs })
  while (!last.step(Number.POSITIVE_INFINITY))
    await clock.advance(Math.max(1, service.waitedMs + startedAt - clock.now()))
  return { ...set, service }
}

describe('the last drain of a lane', () => {
  it('begins with as many requests as the lane had in flight before', async () => {
    const { service } = await drainAfter(
      async ({ clock, log }) => {
        for (const body of numbers(300)) log(body)
        await clock.advance(2000)
        for (const body of numbers(50)) log(body)
      },
      { maxDepth: 8 },
    )
    expect(service.begun[0]).toHaveLength(8)
  })

  it('never has more in flight than connections, however few answers come at a time', () => {
    const { delivery, service, drain, log } = setUpLast()
    service.perLook = 1
    for (const body of numbers(100)) log(body)
    drain()
    expect(delivery.stats()).toMatchObject({ delivered: 100 })
    expect(service.maxInFlight).toBe(8)
  })

  it('halves its requests when the service asks for less', () => {
    const { service, drain, log } = setUpLast()
    service.answer = (body, attempt) => (body === 'record 40' && attempt === 1 ? answers.busy : answers.delivered)
    service.perLook = 1
    for (const body of numbers(200)) log(body)
    drain()
    // Answers come one by one, and a new request takes the place of each: but for those that are under way beyond the half.
    const sizes = service.begun.slice(20, -10).map(({ length }) => length)
    expect(sizes.filter((size) => size === 0)).toHaveLength(2)
    expect(sizes.every((size) => size <= 2)).toBe(true)
  })

  it('begins with two requests after an outage', () => {
    const { service, drain, log } = setUpLast()
    service.answer = () => (service.waitedMs < 800 ? answers.refused : answers.delivered)
    for (const body of numbers(50)) log(body)
    drain(5000)
    const sizes = service.begun.map(({ length }) => length)
    const first = sizes.findIndex((size) => size > 1)
    expect(sizes.slice(0, first).every((size) => size <= 1)).toBe(true)
    expect(sizes.slice(first, first + 3)).toEqual([2, 4, 8])
  })

  it('goes on as before when another record shows that there is no outage', async () => {
    const { service } = await drainAfter(
      async ({ clock, log }) => {
        for (const body of numbers(300)) log(body)
        await clock.advance(2000)
        log('bad', 5)
        for (const body of numbers(50)) log(body)
      },
      { answer: (body) => (body === 'bad' ? answers.failed : answers.delivered), perLook: 1 },
    )
    const afterVerdict = service.begun.findIndex((bodies) => bodies.length > 0 && !bodies.includes('bad'))
    expect(service.begun[0]).toHaveLength(8)
    expect(afterVerdict).toBeGreaterThan(0)
    expect(service.maxInFlight).toBe(8)
  })

  it('tries a lone record again during an outage, and makes no storm with it', () => {
    for (const trouble of [answers.refused, answers.failed]) {
      const { delivery, service, drain, log } = setUpLast()
      service.answer = () => (service.waitedMs < 3000 ? trouble : answers.delivered)
      log('alone')
      drain(10_000)
      expect(delivery.stats()).toMatchObject({ delivered: 1 })
      expect(service.sent.length).toBeGreaterThan(3)
      expect(service.sent.length).toBeLessThan(9)
    }
  })

  it('tries a record from the other end of the queue beside one that waits for its answer', () => {
    const { service, drain, log } = setUpLast()
    service.answer = (body) => (body === 'record 0' ? 'silence' : answers.delivered)
    for (const body of numbers(50)) log(body)
    drain(2000)
    expect(service.sent.slice(0, 2)).toEqual(['record 0', 'record 49'])
    expect(service.times.get('record 49')).toEqual([500])
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

  it('has a quarter of its requests at most for suspects, one at a time', () => {
    const { service, drain, log } = setUpLast()
    service.answer = (body) => (body.startsWith('bad') ? answers.failed : answers.delivered)
    for (const body of numbers(30)) log(body)
    for (let number = 0; number < 10; number++) {
      log(`bad ${number}`)
      log(`good ${number}`)
    }
    drain(8000)
    const times = [...service.times].filter(([body]) => body.startsWith('bad'))
    expect(times.every(([, each]) => each.length > 1)).toBe(true)
    const again = service.begun.slice(
      service.begun.findIndex((bodies) => bodies.every((body) => body.startsWith('bad'))),
    )
    expect(Math.max(...again.map(({ length }) => length))).toBeLessThanOrEqual(2)
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
    expect(service.waitedMs).toBeLessThan(10)
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
      return body.startsWith('bad') && service.waitedMs < 4000 ? answers.refused : answers.delivered
    }
    for (const body of numbers(40)) log(body)
    for (let number = 0; number < 10; number++) {
      log(`bad ${number}`)
      log(`good ${number}`)
    }
    drain(20_000)
    expect(delivery.stats()).toMatchObject({ delivered: 60, queued: 0 })
    const outage = service.begun.slice(
      service.begun.findIndex((bodies) => bodies.every((body) => body.startsWith('bad'))),
    )
    expect(outage.flat().length).toBeLessThan(40)
  })

  it('with 500 of many records pauses nothing', () => {
    const { service, drain, log, told, delivery } = setUpLast()
    service.answer = () => (service.waitedMs < 3000 ? answers.failed : answers.delivered)
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
    const { delivery, service, drain, log } = setUpLast()
    const answersOnce = service.answers.bind(service)
    service.answers = (waitMs) => answersOnce(waitMs).flatMap((each) => [each, each, { ...each, id: each.id + 1000 }])
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
