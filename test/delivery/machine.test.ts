import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Outcome } from '../../src/delivery/sender.js'
import { World, type WorldPlan } from './world.js'

const retry = { type: 'retry', exchange: 'answered', reason: 'busy', backPressure: false } as const
const outcome = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Outcome>({ type: 'delivered' }) },
  fc.constantFrom<Outcome>(
    { type: 'rejected', status: 400, reason: 'bad', validationErrors: [] },
    { ...retry, status: 500 },
    { ...retry, status: 503, backPressure: true, retryAfterMs: 3000 },
    { ...retry, status: 429, backPressure: true, retryAfterMs: 900_000 },
    { ...retry, exchange: 'unsent', refused: true },
    { ...retry, exchange: 'unsent' },
    { ...retry, exchange: 'ambiguous', backPressure: true },
    { ...retry, exchange: 'ambiguous' },
    { type: 'pause', status: 401, reason: 'key', scope: 'key' },
    { type: 'pause', status: 403, reason: 'refused', scope: 'key' },
    { type: 'pause', status: 404, reason: 'refused', scope: 'lane' },
  ),
)
const pick = fc.nat(9)

type Act = (world: World) => void
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .record({
        lane: fc.constantFrom(0, 0, 1),
        severity: fc.constantFrom(1, 2, 2, 3, 5),
        key: fc.constantFrom('', '', 'own'),
        count: fc.constantFrom(1, 1, 3, 9),
      })
      .map(({ count, ...record }) => (world: World) => {
        for (let each = 0; each < count; each++) world.add(record)
      }),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(pick, fc.constantFrom(0.3, 0.7, 1), outcome).map(
      ([of, share, each]) =>
        (world: World) =>
          world.answer(of, share, each),
    ),
  },
  {
    weight: 9,
    arbitrary: fc.tuple(pick, fc.option(outcome, { nil: undefined, freq: 12 })).map(
      ([of, each]) =>
        (world: World) =>
          world.end(of, each),
    ),
  },
  {
    weight: 5,
    arbitrary: fc.constantFrom(0, 5, 100, 600, 3000, 40_000).map((ms) => (world: World) => world.wait(ms)),
  },
  pick.map((of) => (world: World) => world.woken(of)),
  fc
    .record({ last: fc.constantFrom(false, false, false, true), brief: fc.boolean() })
    .map((how) => (world: World) => world.drain(5000, how)),
  fc.constant<Act>((world) => world.endDrain()),
  fc.constantFrom(0, 0, 50).map((ms) => (world: World) => world.step({ type: 'calm', ms })),
  fc.constant<Act>((world) => world.abandon()),
  fc.constant<Act>((world) => {
    world.isDiskSlow = true
  }),
)

const plan: fc.Arbitrary<WorldPlan> = fc.record({
  maxConnections: fc.constantFrom(1, 2, 3, 8),
  isRepeatable: fc.boolean(),
  maxQueueRecords: fc.constantFrom(8, 60),
  maxDepth: fc.constantFrom(1, 8),
})

describe('the machine', { timeout: 300_000 }, () => {
  it('keeps its promises after each step, and delivers everything to a service that is well again', () => {
    fc.assert(
      fc.property(plan, fc.array(act, { maxLength: 120, size: 'max' }), (about, acts) => {
        const world = new World(about)
        for (const each of acts) each(world)
        world.recover()
      }),
      { numRuns: Number(process.env.RUNS ?? 100) },
    )
  })

  it.each([
    { maxConnections: 1, hangs: false },
    { maxConnections: 2, hangs: false },
    { maxConnections: 2, hangs: true },
    { maxConnections: 3, hangs: false },
    { maxConnections: 3, hangs: true },
  ])('lets suspects and other records take turns on $maxConnections connections, hanging: $hangs', (about) => {
    const world = new World({ ...about, isRepeatable: false, maxQueueRecords: 10_000, maxDepth: 1 })
    const sent = { batch: 0, alone: 0, probe: 0 }
    const record = { lane: 0, severity: 2, key: '' } as const
    for (let each = 0; each < 100; each++) world.add(record)
    for (let turn = 0; turn < 800; turn++) {
      world.add(record)
      world.wait(20)
      const hung = about.hangs && turn > 50 ? 1 : 0
      const flight = world.sends[hung]?.flight
      if (flight === undefined) continue
      // From here on there is always one more of each.
      if (turn > 300) sent[flight.way]++
      world.end(hung, world.sequenceOf(flight) % 2 === 0 ? { ...retry, status: 500 } : { type: 'delivered' })
    }
    expect(Math.min(sent.batch, sent.alone)).toBeGreaterThan(20)
  })
})

const record = { lane: 0, severity: 2, key: '' } as const
const delivered: Outcome = { type: 'delivered' }
const unsent = { ...retry, exchange: 'unsent' } as const
const reset = { ...retry, exchange: 'ambiguous', reason: 'reset' } as const

/** A machine whose lane sends several records at once, and rests. */
function setUpWorld(plan: Partial<WorldPlan> = {}) {
  const world = new World({ maxConnections: 8, isRepeatable: true, maxQueueRecords: 1000, maxDepth: 8, ...plan })
  const logs = (count: number, lane = 0) => {
    for (let each = 0; each < count; each++) world.add({ ...record, lane })
  }
  const answerAll = () => {
    while (world.sends.length > 0) {
      world.wait(1)
      world.end(0, delivered)
    }
  }
  /** Records that come together go out together. */
  const together = (come: () => void) => {
    world.step({ type: 'calm', ms: 10 })
    come()
    world.wait(10)
    world.step({ type: 'calm', ms: 0 })
  }
  const burst = (count: number) => together(() => logs(count))
  logs(60)
  answerAll()
  return { world, logs, together, burst, answerAll }
}

describe('a request on a connection that may be lost', () => {
  it('is made again after half a second, for the records that have no answer, on another connection', () => {
    const { world, burst } = setUpWorld()
    burst(3)
    world.woken(0)
    world.answer(0, 1 / 3, { ...retry, status: 500 })
    const before = world.ledger
    world.wait(499)
    expect(world.sends).toHaveLength(1)
    world.wait(1)
    const [first, second] = world.sends
    expect([second!.flight === first!.flight, [...second!.left]]).toEqual([true, [1, 2]])
    expect(second!.batch).toMatchObject({ length: 2, connection: 'lively', probe: false })
    expect(second!.batch.textOf(0).body).toBe(first!.batch.textOf(1).body)
    expect(world.ledger).toMatchObject({
      inFlight: before.inFlight,
      retries: before.retries + 2,
      ambiguousRetries: before.ambiguousRetries + 2,
      requests: before.requests + 2,
    })
    world.wait(5000)
    expect(world.sends).toHaveLength(2)
    // The break of one of the two says nothing.
    world.end(0, reset)
    expect(world.ledger.inFlight).toBe(before.inFlight)
    world.end(0, delivered)
    expect(world.ledger).toMatchObject({ inFlight: 0, queued: 1 })
    world.recover()
  })

  it('is made once where the service may take it twice', () => {
    const { world, burst } = setUpWorld({ isRepeatable: false })
    burst(3)
    world.woken(0)
    world.wait(9000)
    expect(world.sends).toHaveLength(1)
    world.recover()
  })

  it('is a test of the service again where it was one', () => {
    const { world, logs } = setUpWorld()
    logs(100)
    const batches = world.sends.length
    world.wait(2600)
    expect(world.sends.slice(batches).map(({ batch }) => batch)).toMatchObject([{ length: 1, probe: true }])
    world.woken(batches)
    world.wait(500)
    expect(world.sends.slice(batches + 1).map(({ batch }) => batch)).toMatchObject([{ length: 1, probe: true }])
    world.recover()
  })
})

describe('a batch', () => {
  it('serves again when all its records have their outcomes; an idle lane keeps one', () => {
    const { world, burst, logs, answerAll } = setUpWorld()
    const used = () => world.sends.map(({ batch }) => batch)
    logs(1)
    const [first] = used()
    answerAll()
    logs(1)
    expect(used()).toEqual([first])
    burst(40)
    expect(used().length).toBeGreaterThan(3)
    const many = new Set(used())
    logs(40)
    world.end(0, delivered)
    expect(many.has(used().at(-1)!)).toBe(true)
    answerAll()
    burst(40)
    expect(used().filter((batch) => many.has(batch))).toHaveLength(1)
  })

  it('does not serve again after a second request for its records: the sender may have it still', () => {
    const { world, logs } = setUpWorld()
    logs(1)
    world.woken(0)
    world.wait(500)
    const [lost] = world.sends
    world.end(1, delivered)
    expect(world.ledger.inFlight).toBe(0)
    logs(1)
    expect(world.sends.at(-1)!.batch).not.toBe(lost!.batch)
    world.end(0, reset)
    logs(1)
    expect(world.sends.at(-1)!.batch).not.toBe(lost!.batch)
  })
})

const rejected: Outcome = { type: 'rejected', status: 400, reason: 'bad', validationErrors: [] }

describe('outcomes of several records at once', () => {
  it('settle these records alone, where records of another log stand between them', () => {
    const { world, together } = setUpWorld()
    const { delivered: before } = world.ledger
    together(() => {
      for (const severity of [4, 2, 2, 2, 4, 2] as const) world.add({ ...record, severity })
    })
    expect(world.sends.map(({ batch }) => batch.length)).toEqual([6])
    world.answer(0, 1 / 3, delivered)
    expect(world.ledger.delivered).toBe(before + 2)
    world.end(0, unsent)
    expect(world.ledger).toMatchObject({ delivered: before + 2, inFlight: 4 })
    world.end(0, delivered)
    expect(world.ledger).toMatchObject({ delivered: before + 6, inFlight: 0 })
  })

  it('settle these records alone, where one between them waits', () => {
    const { world, burst } = setUpWorld()
    const { delivered: before } = world.ledger
    burst(4)
    world.answer(0, 1 / 4, unsent)
    world.answer(0, 1 / 3, { ...retry, status: 500 })
    world.answer(0, 1 / 2, unsent)
    world.end(0, delivered)
    expect(world.sends.map(({ batch }) => batch.length)).toEqual([2])
    world.end(0, delivered)
    expect(world.ledger).toMatchObject({ delivered: before + 3, queued: 1, inFlight: 0 })
    world.recover()
    expect(world.ledger.delivered).toBe(before + 4)
  })

  it('reject each of them', () => {
    const { world, burst } = setUpWorld()
    burst(5)
    world.end(0, rejected)
    expect(world.ledger.rejected).toBe(5)
  })
})

describe('records that dead engines have left', () => {
  /** Such records come to a lane that rests. The service takes them at once. */
  function setUpAdopted(count: number) {
    const set = setUpWorld()
    const { world } = set
    const before = world.ledger.delivered
    const startedAt = world.now
    world.adopt(count)
    const takeAll = () => {
      while (world.sends.length > 0) world.end(0, delivered)
      return world.ledger.delivered - before
    }
    const taken = () => world.ledger.delivered - before
    const tickIn = () => world.machine.nextTick(world.now) - startedAt
    return { ...set, takeAll, taken, tickIn }
  }

  it('go out a hundred in a tenth of a second, though nothing else happens', () => {
    const { world, takeAll, tickIn } = setUpAdopted(150)
    expect(takeAll()).toBe(100)
    expect(tickIn()).toBe(100)
    world.wait(99)
    expect(world.sends).toHaveLength(0)
    world.wait(1)
    expect(takeAll()).toBe(150)
    expect(tickIn()).toBe(Number.POSITIVE_INFINITY)
  })

  it('need no clock where a hundred are all', () => {
    const { takeAll, tickIn } = setUpAdopted(100)
    expect(takeAll()).toBe(100)
    expect(tickIn()).toBe(Number.POSITIVE_INFINITY)
  })

  it('need no clock while the connections are busy, with them or with others', () => {
    const { world, logs, takeAll, tickIn } = setUpAdopted(110)
    expect(tickIn()).toBe(Number.POSITIVE_INFINITY)
    takeAll()
    logs(50)
    expect(world.lanes[0]!.ready).toBeGreaterThan(0)
    // Those that are in flight may have to be tried beside.
    expect(tickIn()).toBe(2500)
    world.wait(200)
    expect(tickIn()).toBe(2500)
    expect(takeAll()).toBe(160)
  })

  it('go out behind all others, on as many connections', () => {
    const { world, logs, taken } = setUpAdopted(1)
    logs(100)
    world.adopt(30)
    const { connections } = world.lanes[0]!.window
    expect(world.sends).toHaveLength(connections)
    while (world.lanes[0]!.ready > 0) world.end(0, delivered)
    expect(taken()).toBeLessThan(101)
    world.end(0, delivered)
    expect(world.sends.length).toBeLessThanOrEqual(world.lanes[0]!.window.connections)
    expect(world.lanes[0]!.adopted.ready).toBeLessThan(30)
  })

  it('are waited for by no drain', () => {
    const { world } = setUpAdopted(100)
    world.drain(5000, { last: false, brief: false })
    expect(world.drains.size).toBe(0)
  })
})
