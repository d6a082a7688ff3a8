import { describe, expect, it } from 'vitest'
import { Concurrency } from '../../src/delivery/concurrency.js'
import { Delivery } from '../../src/delivery/delivery.js'
import { rowsOf } from '../support/full.js'
import { loopOver } from '../support/loop.js'
import { silentObserver } from '../support/observer.js'
import { type ServerModel, SimulatedServer } from '../support/simulated-server.js'
import { VirtualClock } from '../support/virtual-clock.js'

interface Scenario extends ServerModel {
  readonly title: string
  readonly maxConnections: number
  readonly maxDepth: number
  /** The most records per second that are possible, in the time that is measured. */
  readonly attainable: number
  /** A share of refused records that is no sign of too much is below 5 %. @default 0.01 */
  readonly mostRefused?: number
}

const warmUpMs = 10_000
const measuredMs = 5000
const requestTimeoutMs = 10_000

/** Send the records of a lane that never runs out of them to the server, through the whole of delivery. */
async function simulate({ maxConnections, maxDepth, attainable, ...model }: Scenario) {
  const clock = new VirtualClock()
  const server = new SimulatedServer(clock, { ...model, maxDepth })
  let seed = 42
  const delivery = new Delivery({
    lanes: [{ kind: 'logs', bucket: 'b' }],
    sender: server,
    loop: loopOver(clock),
    random: () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
      return seed / 2 ** 31
    },
    observer: silentObserver,
    limits: { maxQueueRecords: 1e9, maxQueueBytes: 1e12 },
    maxConnections,
    maxBatch: maxDepth,
    lingerMs: 0,
    requestTimeoutMs,
    retry: { baseMs: 500, capMs: 30_000 },
    probe: { baseMs: 30_000, capMs: 300_000 },
    keyPrefix: 'simulation',
  })
  const stepMs = 50
  const enough = Math.ceil(attainable * (stepMs / 1000) * 1.5) + 2 * maxConnections * maxDepth
  const run = async (ms: number) => {
    for (let elapsed = 0; elapsed < ms; elapsed += stepMs) {
      const { queued } = delivery.stats()
      for (let missing = enough - queued; missing > 0; missing--) delivery.accept(0, { body: '{}', severity: 2 })
      await clock.advance(stepMs)
    }
  }
  await run(warmUpMs)
  server.slowestMs = 0
  const before = server.delivered
  await run(measuredMs)
  const rate = ((server.delivered - before) / measuredMs) * 1000
  const { connections, depth } = delivery.stats().lanes[0]!
  return {
    rate,
    slowestMs: server.slowestMs,
    refusedShare: server.refused / (server.delivered + server.refused),
    connections,
    depth,
  }
}

/** Times as on a busy network: many short ones, some very long. */
function exponential(meanMs: number): () => number {
  let seed = 7
  return () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return -meanMs * Math.log(1 - seed / 2 ** 31)
  }
}

const scenarios: Scenario[] = [
  { title: '5 ms', serviceMs: () => 5, maxConnections: 16, maxDepth: 16, attainable: 256 / 0.005 },
  { title: '50 ms', serviceMs: () => 50, maxConnections: 64, maxDepth: 64, attainable: 4096 / 0.05 },
  { title: '500 ms', serviceMs: () => 500, maxConnections: 64, maxDepth: 64, attainable: 4096 / 0.5 },
  { title: '50 ms, no pipelining', serviceMs: () => 50, maxConnections: 64, maxDepth: 1, attainable: 64 / 0.05 },
  {
    title: '20 in flight, beyond refused',
    serviceMs: () => 10,
    capacity: 20,
    maxConnections: 64,
    maxDepth: 64,
    attainable: 20 / 0.01,
    mostRefused: 0.03,
  },
  {
    title: '20 in flight, beyond waits',
    serviceMs: () => 10,
    capacity: 20,
    beyondCapacity: 'wait',
    maxConnections: 64,
    maxDepth: 64,
    attainable: 20 / 0.01,
  },
  {
    title: '20 in flight at 200 ms, beyond waits',
    serviceMs: () => 200,
    capacity: 20,
    beyondCapacity: 'wait',
    maxConnections: 64,
    maxDepth: 64,
    attainable: 20 / 0.2,
  },
  {
    title: 'answers of exponential times, mean 50 ms',
    serviceMs: exponential(50),
    maxConnections: 64,
    maxDepth: 1,
    attainable: 64 / 0.05,
  },
  {
    title: 'one by one per connection, 5 ms',
    serviceMs: () => 5,
    pipelined: 'one-by-one',
    maxConnections: 64,
    maxDepth: 64,
    attainable: 64 / 0.005,
  },
  {
    title: 'one by one per connection, 50 ms',
    serviceMs: () => 50,
    pipelined: 'one-by-one',
    maxConnections: 64,
    maxDepth: 64,
    attainable: 64 / 0.05,
  },
  {
    title: 'step up, 20 to 100 ms at 5 s',
    serviceMs: (now) => (now < 5000 ? 20 : 100),
    maxConnections: 32,
    maxDepth: 32,
    attainable: 1024 / 0.1,
  },
  {
    title: 'step down, 100 to 20 ms at 5 s',
    serviceMs: (now) => (now < 5000 ? 100 : 20),
    maxConnections: 32,
    maxDepth: 32,
    attainable: 1024 / 0.02,
  },
  {
    title: 'bursts of 429: 50 ms in every 5 s',
    serviceMs: () => 10,
    refusing: (now) => now % 5000 > 4950,
    maxConnections: 16,
    maxDepth: 16,
    attainable: (256 / 0.01) * 0.99,
  },
]

const some = ['500 ms', '50 ms, no pipelining', '20 in flight, beyond refused', 'one by one per connection, 50 ms']

describe('connections and depth, in virtual time', { timeout: 120_000 }, () => {
  it.each(rowsOf(scenarios, ({ title }) => some.includes(title)))(
    'reach 90 % of the attainable rate within 10 s, with few refused: $title',
    async (scenario) => {
      const { rate, slowestMs, refusedShare, connections, depth } = await simulate(scenario)
      const share = rate / scenario.attainable
      console.log(
        `${scenario.title.padEnd(36)} ${Math.round(rate)}/s of ${Math.round(scenario.attainable)} (${(share * 100).toFixed(1)} %), ` +
          `${(refusedShare * 100).toFixed(3)} % refused, ${connections} connections × ${depth}, slowest answer ${Math.round(slowestMs)} ms`,
      )
      expect(share).toBeGreaterThanOrEqual(0.9)
      expect(refusedShare).toBeLessThan(scenario.mostRefused ?? 0.01)
      // Records must not queue at the server until they time out.
      expect(slowestMs).toBeLessThan(requestTimeoutMs / 2)
    },
  )
})

/** The limit after rounds of these times, with one answer to each connection in every round. */
function connectionsAfter(roundsMs: readonly number[]): number {
  const concurrency = new Concurrency({ maxConnections: 64, maxDepth: () => 1, patienceMs: 2500 })
  let endedAt = 0
  for (const firstAnswerMs of roundsMs) {
    const startedAt = endedAt
    endedAt += firstAnswerMs
    for (let answers = concurrency.connections; answers > 0; answers--) {
      const answer = {
        successes: 1,
        firstAnswerMs,
        betweenAnswersMs: undefined,
        pressed: 0,
        asksToWait: false,
        limited: true,
      }
      concurrency.add({ startedAt, endedAt, ...answer })
    }
  }
  return concurrency.connections
}

describe('slow start', () => {
  it('goes on though each round is a little later than the one before, as on a busy machine', () => {
    expect(connectionsAfter([100, 104, 109, 115, 122, 130])).toBe(64)
  })

  it('ends at a round that takes twice as long: records wait at the server', () => {
    expect(connectionsAfter([100, 100, 100, 100, 200])).toBeLessThan(32)
  })
})

describe('the connections', () => {
  it.each([
    { roundTripMs: 1, most: 5 },
    { roundTripMs: 50, most: 64 },
  ])('to a server that answers within $roundTripMs ms are $most at most', ({ roundTripMs, most }) => {
    const concurrency = new Concurrency({ maxConnections: 64, maxDepth: () => 256, patienceMs: 2500 })
    const answered = {
      firstAnswerMs: roundTripMs,
      betweenAnswersMs: 0.001,
      pressed: 0,
      asksToWait: false,
      limited: true,
    }
    for (let turn = 0; turn < 200; turn++) {
      const startedAt = turn * roundTripMs
      concurrency.add({ startedAt, endedAt: startedAt + roundTripMs, successes: concurrency.depth, ...answered })
    }
    expect(concurrency.connections).toBe(most)
  })
})

describe('back-pressure', () => {
  it('costs depth first: as many connections as before, with less on each', () => {
    const concurrency = new Concurrency({ maxConnections: 64, maxDepth: () => 64, patienceMs: 2500 })
    const answered = { firstAnswerMs: 50, betweenAnswersMs: 2, pressed: 0, asksToWait: false, limited: true }
    for (let turn = 0; turn < 40; turn++) {
      concurrency.add({ startedAt: turn * 50, endedAt: turn * 50 + 50, successes: concurrency.depth, ...answered })
    }
    const { connections, depth } = concurrency
    expect(connections).toBeGreaterThan(4)
    expect(depth).toBeGreaterThan(20)
    const refused = { successes: 0, firstAnswerMs: undefined, betweenAnswersMs: undefined, limited: true }
    concurrency.add({ startedAt: 5000, endedAt: 5050, pressed: 100, asksToWait: false, ...refused })
    expect(concurrency.depth).toBeLessThan(0.95 * depth)
    expect(Math.abs(concurrency.connections - connections)).toBeLessThanOrEqual(1)
  })
})

describe('answers that ask for less', () => {
  /** The limit after rounds of 100 answers, of which so many asked for less, as a share of the one before them. */
  function leftAfter(pressed: number, { rounds = 20, asksToWait = false } = {}): number {
    const concurrency = new Concurrency({ maxConnections: 100, maxDepth: () => 1, patienceMs: 2500 })
    const answered = { firstAnswerMs: 50, betweenAnswersMs: undefined }
    let endedAt = 0
    const round = (pressed: number, limited: boolean) => {
      const startedAt = endedAt
      endedAt += 50
      concurrency.add({ startedAt, endedAt, ...answered, successes: 100 - pressed, pressed, asksToWait, limited })
    }
    while (concurrency.connections < 100)
      concurrency.add({
        startedAt: 0,
        endedAt: 50,
        ...answered,
        successes: 10,
        pressed: 0,
        asksToWait: false,
        limited: true,
      })
    for (let turn = 0; turn < rounds; turn++) round(pressed, false)
    return concurrency.connections / 100
  }

  it.each([1, 4])('are isolated where they are %i %% of a round, and shrink nothing', (percent) => {
    expect(leftAfter(percent)).toBe(1)
  })

  it('take their share of the limit, between a quarter and a half', () => {
    expect([5, 30, 90].map((percent) => leftAfter(percent, { rounds: 1 }))).toEqual([0.75, 0.7, 0.5])
  })

  it('shrink it however few they are, with a Retry-After', () => {
    expect(leftAfter(1, { rounds: 1, asksToWait: true })).toBe(0.75)
  })

  it('shrink it again and again while they go on', () => {
    expect(leftAfter(20)).toBeLessThan(0.05)
  })

  it('take nothing of the throughput where they are 1 % whatever the limit is', async () => {
    const of = (status: 500 | 503) =>
      simulate({
        title: `1 % of ${status}`,
        serviceMs: () => 50,
        failing: { status, share: 0.01 },
        maxConnections: 16,
        maxDepth: 8,
        attainable: 128 / 0.05,
      })
    const [failing, busy] = [await of(500), await of(503)]
    console.log(`1 % of 500: ${Math.round(failing.rate)}/s, of 503: ${Math.round(busy.rate)}/s`)
    expect(busy.rate).toBeGreaterThan(0.9 * failing.rate)
    expect(busy.rate).toBeGreaterThan(0.9 * (128 / 0.05))
  })
})

describe('few records', () => {
  it('go out on one connection while its window grows, though the server is near', () => {
    const { concurrency, add } = roundsOf({ maxDepth: 256 })
    const seen = [concurrency.connections]
    for (let turn = 0; turn < 100; turn++) {
      add({ firstAnswerMs: 5, between: 0.1 })
      seen.push(concurrency.connections)
    }
    expect(concurrency.depth).toBe(101)
    expect(new Set(seen)).toEqual(new Set([1]))
  })
})

/** A lane whose limit each sample meets, with one record per batch; rounds follow each other at `stepMs`. */
function roundsOf(bounds: { maxConnections?: number; maxDepth?: number; patienceMs?: number } = {}) {
  const { maxConnections = 64, maxDepth = 1, patienceMs = 2500 } = bounds
  const concurrency = new Concurrency({ maxConnections, maxDepth: () => maxDepth, patienceMs })
  let now = 0
  const add = (change: { firstAnswerMs?: number; asksToWait?: boolean; startedAt?: number; between?: number }) => {
    const { firstAnswerMs = 50, asksToWait = false, startedAt = now, between } = change
    now = Math.max(now, startedAt + firstAnswerMs)
    const answered = { successes: 1, firstAnswerMs, betweenAnswersMs: between }
    concurrency.add({ startedAt, endedAt: now, ...answered, pressed: Number(asksToWait), asksToWait, limited: true })
  }
  const round = (firstAnswerMs: number) => {
    const startedAt = now
    for (let answers = concurrency.connections; answers > 0; answers--) add({ firstAnswerMs, startedAt })
  }
  const pass = (ms: number) => {
    now += ms
  }
  return { concurrency, add, round, pass }
}

describe('the limit of a lane', () => {
  it('begins at one again after an outage, and doubles with each round as at first', () => {
    const { concurrency, round } = roundsOf()
    for (let turn = 0; turn < 4; turn++) round(50)
    expect(concurrency.connections).toBe(16)
    concurrency.restart()
    expect([concurrency.connections, concurrency.depth]).toEqual([1, 1])
    const limits = [0, 1, 2].map(() => {
      round(200)
      return concurrency.connections
    })
    expect(limits).toEqual([2, 4, 8])
  })

  it('shrinks once for the answers to batches that left before a sign', () => {
    const { concurrency, round, add, pass } = roundsOf()
    for (let turn = 0; turn < 5; turn++) round(50)
    expect(concurrency.connections).toBe(32)
    pass(1000)
    const startedAt = 5000
    add({ asksToWait: true, startedAt, firstAnswerMs: 50 })
    const shrunk = concurrency.connections
    expect(shrunk).toBeLessThan(31)
    add({ asksToWait: true, startedAt, firstAnswerMs: 60 })
    expect(concurrency.connections).toBe(shrunk)
    add({ asksToWait: true, startedAt: 5060, firstAnswerMs: 50 })
    expect(concurrency.connections).toBeLessThan(shrunk)
  })

  it('shrinks at a round that is longer than patience and twice the best of the last minute, however slowly rounds grew', () => {
    const limitAfter = (patienceMs: number) => {
      const { concurrency, round } = roundsOf({ maxConnections: 8, patienceMs })
      let most = 0
      for (let roundMs = 1000; roundMs < 3000; roundMs *= 1.04) {
        round(roundMs)
        most = Math.max(most, concurrency.connections)
      }
      return { most, last: concurrency.connections }
    }
    expect(limitAfter(1e9)).toEqual({ most: 8, last: 8 })
    expect(limitAfter(1500).last).toBeLessThan(8)
  })

  it('forgets a best round after a minute: a service that became slower for good is not overloaded', () => {
    const { concurrency, round, pass } = roundsOf({ maxConnections: 8, patienceMs: 500 })
    for (let turn = 0; turn < 10; turn++) round(100)
    for (let roundMs = 100; roundMs < 1000; roundMs *= 1.04) round(roundMs)
    pass(120_000)
    for (let turn = 0; turn < 200; turn++) round(1000)
    expect(concurrency.connections).toBe(8)
  })
})

describe('the depth of a lane', () => {
  it('tries two, then follows the answers that fit into the way of one', () => {
    const { concurrency, add } = roundsOf({ maxDepth: 32 })
    for (let turn = 0; turn < 40; turn++) add({})
    expect(concurrency.depth).toBe(2)
    for (let turn = 0; turn < 60; turn++) add({ firstAnswerMs: 50, between: 5 })
    expect(concurrency.depth).toBe(11)
    for (let turn = 0; turn < 60; turn++) add({ firstAnswerMs: 50 })
    expect(concurrency.depth).toBe(11)
    for (let turn = 0; turn < 60; turn++) add({ firstAnswerMs: 50, between: 0 })
    expect(concurrency.depth).toBe(32)
  })
})
