import { describe, expect, it } from 'vitest'
import type { DeliveryPlan } from '../../src/delivery/plan.js'
import type { Carriage, Outcome, OutgoingBatch, Sender } from '../../src/delivery/sender.js'
import { setUp } from '../support/delivery.js'
import { answers } from '../support/scripted-sender.js'
import { VirtualClock } from '../support/virtual-clock.js'

interface Sent {
  readonly body: string
  readonly probe: boolean
  readonly at: number
}

/** A service that gives no answer to some records until a test says how, and takes 100 ms for the others. */
class HangingSender implements Sender {
  readonly sent: Sent[] = []
  readonly #clock: VirtualClock
  readonly #hanging = new Map<string, (outcome: Outcome) => void>()
  answer: (body: string) => Outcome = () => answers.delivered
  latencyMs: (body: string) => number = () => 100
  inFlight = 0

  constructor(clock: VirtualClock) {
    this.#clock = clock
  }

  carriage(): Carriage {
    return { sender: 'undici', maxDepth: 1 }
  }

  send(batch: OutgoingBatch): void {
    const { body } = batch.textOf(0)
    this.sent.push({ body, probe: batch.probe, at: this.#clock.now() })
    this.inFlight++
    const answer = (outcome: Outcome) => {
      this.inFlight--
      batch.settle(0, outcome)
      batch.done()
    }
    if (body.startsWith('hang')) this.#hanging.set(body, answer)
    else this.#clock.schedule(() => answer(this.answer(body)), this.latencyMs(body))
  }

  /** Answer the records that hang. */
  release(outcome: Outcome): void {
    for (const answer of this.#hanging.values()) answer(outcome)
    this.#hanging.clear()
  }

  async close(): Promise<void> {}
}

/** Eight connections, and a request time-out of ten seconds: an answer takes long after 2.5 s. */
function setUpHanging(changes: Partial<DeliveryPlan> = {}) {
  const clock = new VirtualClock()
  const sender = new HangingSender(clock)
  const set = setUp({ sender, random: () => 0.5, ...changes }, clock)
  const logs = (count: number, name = 'good') => {
    for (let number = 0; number < count; number++) set.log(`${name} ${number}`)
  }
  const bodies = () => sender.sent.map(({ body }) => body)
  const lane = () => set.delivery.stats().lanes[0]!
  /** The lane may use all of its connections, and rests. */
  const warmUp = async () => {
    logs(200, 'warm')
    await clock.advance(20_000)
    expect(lane()).toMatchObject({ connections: changes.maxConnections ?? 8, delivered: 200 })
    sender.sent.length = 0
  }
  return { ...set, clock, sender, logs, bodies, lane, warmUp }
}

describe('a connection that waits long for its answer', () => {
  it('is tried beside with the next record, which tests the service', async () => {
    const { clock, sender, log, logs } = setUpHanging()
    log('hang')
    logs(10)
    await clock.advance(2500)
    expect(sender.sent).toEqual([
      { body: 'hang', probe: false, at: 0 },
      { body: 'good 0', probe: true, at: 2500 },
    ])
  })

  it('does not count once another record is taken: the others have as many connections as before', async () => {
    const { clock, sender, logs, lane } = setUpHanging({ maxConnections: 64 })
    logs(8, 'early')
    await clock.advance(3000)
    const { connections } = lane()
    expect(connections).toBeGreaterThan(2)
    logs(connections, 'hang')
    logs(300)
    await clock.advance(2650)
    expect(sender.inFlight).toBeGreaterThanOrEqual(2 * connections)
  })

  it('counts again as soon as it has its answer', async () => {
    const { clock, sender, logs, lane } = setUpHanging({ maxConnections: 64 })
    logs(8, 'early')
    await clock.advance(3000)
    logs(lane().connections, 'hang')
    logs(900)
    await clock.advance(2650)
    sender.latencyMs = () => 1000
    sender.release(answers.delivered)
    await clock.advance(500)
    expect(sender.inFlight).toBeLessThanOrEqual(lane().connections)
  })

  it('is not tried beside where the lane has no other connection', async () => {
    const { clock, logs, log, bodies } = setUpHanging({ maxConnections: 1 })
    log('hang')
    logs(10)
    await clock.advance(9000)
    expect(bodies()).toEqual(['hang'])
  })

  it('is not tried beside where no other record is ready: a suspect does not go out early for it', async () => {
    const { clock, sender, log, value, bodies } = setUpHanging({ retry: { baseMs: 60_000, capMs: 60_000 } })
    sender.answer = (body) => (body === 'good' ? answers.delivered : answers.failed)
    for (const body of ['bad', 'good']) log(body)
    await clock.advance(300)
    log('hang')
    await clock.advance(5000)
    // The other lane fails, and its probe makes all lanes look for something to send.
    value('value')
    await clock.advance(20_000)
    expect(bodies()).toEqual(['bad', 'good', 'hang', 'value'])
  })

  it('is tried beside half a second after a drain has begun', async () => {
    const { clock, sender, delivery, log, logs } = setUpHanging()
    log('hang')
    logs(10)
    await clock.advance(1000)
    void delivery.flush({ timeoutMs: 5000 })
    log('new')
    await clock.advance(499)
    expect(sender.sent).toHaveLength(1)
    await clock.advance(1)
    expect(sender.sent).toHaveLength(2)
  })

  it('is not tried beside once the lane is paused', async () => {
    const { clock, sender, log, logs, lane, warmUp, bodies } = setUpHanging()
    await warmUp()
    await clock.advance(100_000)
    sender.answer = () => answers.noBucket
    log('hang')
    logs(30)
    await clock.advance(1000)
    expect(lane().state).toBe('paused')
    const before = bodies().length
    await clock.advance(5000)
    expect(bodies()).toHaveLength(before)
  })
})

describe('connections whose answers come in time', () => {
  it('are never tried beside, however many records wait', async () => {
    const { clock, sender, logs, lane } = setUpHanging()
    sender.latencyMs = () => 2400
    logs(100)
    await clock.advance(60_000)
    expect(lane().delivered).toBeGreaterThan(20)
    expect(sender.sent.filter(({ probe }) => probe)).toEqual([])
  })
})

describe('suspects', () => {
  function setUpSuspects(changes: Partial<DeliveryPlan> = {}) {
    const set = setUpHanging(changes)
    set.sender.answer = (body) => (body.startsWith('bad') ? answers.failed : answers.delivered)
    return set
  }

  it('take part in the bound of connections', async () => {
    const { clock, sender, logs, bodies, lane, warmUp } = setUpSuspects({ maxConnections: 4 })
    await warmUp()
    sender.latencyMs = (body) => (body.startsWith('bad') ? 1000 : 100)
    logs(1, 'bad')
    logs(500)
    await clock.advance(2000)
    expect(bodies().filter((body) => body === 'bad 0')).toHaveLength(2)
    expect(lane()).toMatchObject({ inFlight: 4, connections: 4 })
  })

  it('go out over a single connection, too', async () => {
    const { clock, logs, bodies } = setUpSuspects({ maxConnections: 1 })
    logs(1, 'bad')
    logs(30)
    await clock.advance(20_000)
    expect(bodies().filter((body) => body === 'bad 0').length).toBeGreaterThan(2)
  })

  it('go out while another one waits for its answer, once others are taken', async () => {
    const { clock, sender, log, logs, bodies, lane } = setUpSuspects({ retry: { baseMs: 500, capMs: 500 } })
    logs(3)
    await clock.advance(3000)
    for (const body of ['hang', 'good']) log(body)
    await clock.advance(150)
    sender.release(answers.failed)
    await clock.advance(300)
    expect(bodies().filter((body) => body === 'hang')).toHaveLength(2)
    for (const body of ['bad', 'good']) log(body)
    /** How often the other suspect went out, while others are taken each half second. */
    const attemptsAfter = async (halves: number) => {
      for (let half = 0; half < halves; half++) {
        await clock.advance(500)
        log('good')
      }
      return bodies().filter((body) => body === 'bad').length
    }
    expect(await attemptsAfter(4)).toBe(1)
    expect(lane().connections).toBeLessThanOrEqual(4)
    expect(await attemptsAfter(8)).toBeGreaterThan(2)
  })

  it('go out beside one that has waited long for its answer, though nothing else happens', async () => {
    const { clock, sender, log, logs, bodies } = setUpSuspects({ retry: { baseMs: 500, capMs: 500 } })
    logs(3)
    await clock.advance(3000)
    // The suspect hangs when it goes alone, and another one comes due meanwhile.
    for (const body of ['hang', 'good']) log(body)
    await clock.advance(150)
    sender.release(answers.failed)
    for (const body of ['bad', 'good']) log(body)
    await clock.advance(1000)
    expect(bodies().slice(3)).toEqual(['hang', 'good', 'bad', 'good', 'hang'])
    const sentAt = sender.sent.at(-1)!.at
    log('good')
    await clock.advance(10_000)
    expect(sender.sent.slice(9, 10)).toEqual([{ body: 'bad', probe: false, at: sentAt + 2500 }])
  })

  it('of a lane without success go out at the end of their gap, though nothing else happens', async () => {
    const { clock, sender, log } = setUpSuspects({ retry: { baseMs: 1000, capMs: 100_000 } })
    for (let number = 0; number < 6; number++) {
      log(`bad ${number}`)
      log('good')
      await clock.advance(100)
    }
    await clock.advance(200)
    // They go alone one after the other. None of them is due again when the gap ends.
    sender.answer = () => ({ ...answers.busy, retryAfterMs: 60_000 })
    sender.latencyMs = () => 107
    await clock.advance(1500)
    const [fifth, sixth] = sender.sent.slice(-2)
    expect([fifth, sixth]).toMatchObject([{ body: 'bad 4' }, { body: 'bad 5' }])
    expect(sixth!.at - fifth!.at).toBe(107 + 1000)
  })

  it('leave no connection to try another record with where one of two has it, and a request that waits has the other', async () => {
    const { clock, sender, log, logs, bodies } = setUpSuspects({ maxConnections: 2 })
    logs(3)
    await clock.advance(3000)
    for (const body of ['hang', 'good']) log(body)
    await clock.advance(150)
    sender.release(answers.failed)
    await clock.advance(500)
    log('hang too')
    logs(5, 'waiting')
    await clock.advance(9000)
    expect(bodies().slice(3)).toEqual(['hang', 'good', 'hang', 'hang too'])
  })

  it('set one timer while they wait, and no other', async () => {
    const { clock, logs } = setUpSuspects({ retry: { baseMs: 60_000, capMs: 60_000 } })
    logs(1, 'bad')
    logs(1)
    await clock.advance(10_000)
    expect(clock.timers).toBe(1)
  })
})

describe('the end of requests in flight', () => {
  it('is named as the last error of a lane that sends', async () => {
    const { clock, delivery, log, lane } = setUpHanging()
    delivery.park()
    expect(lane().lastError).toBeUndefined()
    log('hang')
    await clock.advance(1)
    delivery.park()
    expect(lane().lastError).toBe('the service did not answer in time')
  })

  it('leaves the reason why the lane had stopped', async () => {
    const { clock, sender, delivery, log, lane } = setUpHanging()
    sender.answer = () => answers.refused
    log('one')
    await clock.advance(350)
    expect(sender.inFlight).toBe(1)
    delivery.park()
    expect(lane().lastError).toBe('ECONNREFUSED')
  })

  it('makes late answers mean nothing: an outage goes on', async () => {
    const { clock, sender, delivery, told, log, lane } = setUpHanging()
    sender.answer = () => answers.refused
    log('one')
    await clock.advance(350)
    expect(sender.inFlight).toBe(1)
    delivery.park()
    sender.answer = () => answers.delivered
    await clock.advance(100)
    expect(sender.inFlight).toBe(0)
    expect(lane()).toMatchObject({ state: 'outage', delivered: 0, queued: 1 })
    expect(told).toEqual([])
  })
})

describe('a probe', () => {
  it('goes out alone, also while older requests end', async () => {
    const { clock, sender, logs, lane, warmUp } = setUpHanging()
    await warmUp()
    sender.answer = () => answers.failed
    logs(1, 'hang')
    logs(20)
    await clock.advance(150)
    expect(lane().state).toBe('outage')
    sender.latencyMs = () => 9000
    await clock.advance(3000)
    const before = sender.inFlight
    sender.release(answers.reset)
    await clock.advance(3000)
    expect(sender.inFlight).toBeLessThan(before)
  })
})
