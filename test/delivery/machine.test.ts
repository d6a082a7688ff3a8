import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Outcome } from '../../src/delivery/sender.js'
import { runs } from '../support/full.js'
import { record, World, type WorldPlan } from './world.js'

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
  lingerMs: fc.constantFrom(0, 50, 200, 5000),
})

describe('the machine', { timeout: 300_000 }, () => {
  it('keeps its promises after each step, and delivers everything to a service that is well again', () => {
    fc.assert(
      fc.property(plan, fc.array(act, { maxLength: 120, size: 'max' }), (about, acts) => {
        const world = new World(about)
        for (const each of acts) each(world)
        world.recover()
      }),
      { numRuns: Number(process.env.RUNS ?? runs({ some: 40, all: 500 })) },
    )
  })

  it.each([
    { maxConnections: 1, hangs: false },
    { maxConnections: 2, hangs: false },
    { maxConnections: 2, hangs: true },
    { maxConnections: 3, hangs: false },
    { maxConnections: 3, hangs: true },
  ])('lets suspects and other records take turns on $maxConnections connections, hanging: $hangs', (about) => {
    const world = new World({ ...about, isRepeatable: false, maxQueueRecords: 10_000, maxDepth: 1, lingerMs: 0 })
    const sent = { batch: 0, alone: 0, probe: 0 }
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
