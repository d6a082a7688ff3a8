import { describe, expect, it } from 'vitest'
import type { Outcome } from '../../src/delivery/sender.js'
import { addsUp, setUp } from '../support/delivery.js'
import { rowsOf } from '../support/full.js'
import { seeded } from '../support/seeded.js'
import { type Poison, SimulatedServer } from '../support/simulated-server.js'
import { VirtualClock } from '../support/virtual-clock.js'

// Records that no service would take, and their cost to the others.

const answered = (status: number, backPressure = false): Outcome => ({
  type: 'retry',
  exchange: 'answered',
  status,
  reason: String(status),
  backPressure,
})
const refused = (status: number, scope: 'key' | 'lane' = 'lane'): Outcome => ({
  type: 'pause',
  status,
  scope,
  reason: String(status),
})

const kinds: Readonly<Record<string, Poison>> = {
  'always 500': answered(500),
  'always 408': answered(408),
  'always 429': answered(429, true),
  'always 503': answered(503, true),
  'always 403': refused(403, 'key'),
  'always 404': refused(404),
  'always 412': refused(412),
  'always 302': refused(302),
  'a page that is not the service': refused(200),
  'a reset after it was written': 'reset',
  'no answer until the time-out': 'hang',
}

interface Traffic {
  readonly seconds: number
  readonly perSecond: number
  readonly depth: number
  /** The way in which the record of this number is bad; undefined for a good one. */
  readonly bad: (number: number) => Poison | undefined
}

/** Send records at random moments to a server that takes 20 ms for each. */
async function simulate({ seconds, perSecond, depth, bad }: Traffic) {
  const clock = new VirtualClock()
  const poison = new Map<string, Poison>()
  const server = new SimulatedServer(clock, {
    serviceMs: () => 20,
    maxDepth: depth,
    poison: ({ body }) => poison.get(body),
  })
  const random = seeded(7)
  const limits = { maxQueueRecords: 100_000, maxQueueBytes: 1e9 }
  const { delivery, told } = setUp({ sender: server, random, limits, maxConnections: 64, maxBatch: 64 }, clock)
  let good = 0
  for (let number = 0; clock.now() < seconds * 1000; number++) {
    const body = `record ${number}`
    const kind = bad(number)
    if (kind === undefined) good++
    else poison.set(body, kind)
    delivery.accept(0, { body, severity: 2 })
    await clock.advance((-Math.log(1 - random()) * 1000) / perSecond)
  }
  return { delivery, told, server, good, ledger: delivery.stats(), clock }
}

const depths = [1, 16]

const some = ['always 500', 'a reset after it was written']
const chosen = rowsOf(Object.entries(kinds), ([name]) => some.includes(name))

describe.each(rowsOf(depths, (depth) => depth > 1))(
  'one record in a hundred that no service would take, %i at a time on a connection',
  (depth) => {
    it.each(chosen)('%s: costs the others less than a tenth of their rate', async (_, kind) => {
      const random = seeded(11)
      const bad = () => (random() < 0.01 ? kind : undefined)
      const { ledger, good, told } = await simulate({ seconds: 60, perSecond: 50, depth, bad })
      expect(ledger.delivered).toBeGreaterThanOrEqual(0.9 * good)
      expect(told.filter((text) => text.includes('paused'))).toEqual([])
      expect(addsUp(ledger)).toBe(true)
    })

    it.each(['always 429', 'always 503'])(
      '%s: does not slow the others down: it is meant for that record alone',
      async (name) => {
        const random = seeded(11)
        const bad = () => (random() < 0.01 ? kinds[name] : undefined)
        const { ledger, good } = await simulate({ seconds: 20, perSecond: 1000, depth, bad })
        expect(ledger.delivered).toBeGreaterThanOrEqual(0.98 * good)
      },
    )

    it('of every kind together: costs the others less than a tenth of their rate', async () => {
      const random = seeded(13)
      const all = Object.values(kinds)
      const bad = () => (random() < 0.01 ? all[Math.floor(random() * all.length)] : undefined)
      const { ledger, good } = await simulate({ seconds: 60, perSecond: 200, depth, bad })
      expect(ledger.delivered).toBeGreaterThanOrEqual(0.9 * good)
    })
  },
)

describe.each(rowsOf(depths, (depth) => depth > 1))(
  'twenty records in a row that no service would take, before all others, %i at a time',
  (depth) => {
    it.each(chosen)('%s: cost the others less than a tenth of their rate', async (_, kind) => {
      const bad = (number: number) => (number < 20 ? kind : undefined)
      const { ledger, good } = await simulate({ seconds: 60, perSecond: 50, depth, bad })
      expect(ledger.delivered).toBeGreaterThanOrEqual(0.9 * good)
    })
  },
)
