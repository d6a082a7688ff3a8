import { describe, expect, it } from 'vitest'
import { emptyLedger, type Ledger } from '../../src/delivery/ledger.js'
import type { EngineDelivery } from '../../src/engine/engine-delivery.js'
import { type Contents, checkContents, contentsOf, type Unsettled } from './contents.js'
import { plainService, type Schedule } from './schedule.js'
import { simulate } from './simulation.js'
import { World } from './world.js'

const records = 40
/** Records of one severity, far more than memory takes, and a spool for them. */
const overflowing: Schedule = {
  seed: 1,
  options: { spoolDir: '/spool', maxQueueRecords: 10, maxConnections: 1, context: 'none' },
  service: plainService,
  latencyMs: [1, 2],
  processes: [{ mode: 'inline', startsAt: 0, end: 'stays', endsAt: 1000, starts: [] }],
  bursts: [{ process: 0, at: 10, everyMs: 0, records: Array.from({ length: records }, (_, id) => line(id)) }],
  flushes: [],
  faults: [],
  healsAt: 1000,
}

function line(id: number) {
  return { id, by: 'pino' as const, level: 30, message: `r#${id} ` }
}

/** What the ledger of a delivery says: a walk over its records must find the same. */
function asCounted(delivery: Pick<EngineDelivery, 'stats'>): readonly Unsettled[] {
  return delivery.stats().lanes
}

/** Contents as the ledger says, but for what is given here. */
function showing(contents: (delivery: EngineDelivery) => Partial<Contents>) {
  return (delivery: EngineDelivery): Contents => {
    const right = { walk: () => asCounted(delivery), memoryBytes: () => 0, openLogs: () => 0 }
    return { ...right, ...contents(delivery) }
  }
}

describe('the contents of a delivery', () => {
  it('are looked at again and again, and found right', async () => {
    let looks = 0
    const counting = showing((delivery) => ({
      walk: () => {
        looks++
        return asCounted(delivery)
      },
    }))
    expect((await simulate(overflowing, { contentsOf: counting })).failures).toEqual([])
    expect(looks).toBeGreaterThan(2)
  })

  it.each(['queued', 'inFlight', 'spooled', 'heldBytes'] as const)(
    'must be what the ledger says of %s',
    async (name) => {
      const oneMore = showing((delivery) => ({
        walk: () => asCounted(delivery).map((lane) => ({ ...lane, [name]: lane[name] + 1 })),
      }))
      const { failures } = await simulate(overflowing, { contentsOf: oneMore })
      expect(failures[0]).toMatch(new RegExp(`the ledger of p0/app counts \\d+ ${name} in logs, and a walk \\d+`))
    },
  )

  it('must need no more memory than their bytes, an eighth of these, and a segment for each open log', async () => {
    const segment = 262_144
    const allowed = (delivery: EngineDelivery) => Math.floor(delivery.stats().heldBytes * (9 / 8)) + 2 * segment
    const full = showing((delivery) => ({ memoryBytes: () => allowed(delivery), openLogs: () => 2 }))
    expect((await simulate(overflowing, { contentsOf: full })).failures).toEqual([])
    const tooFull = showing((delivery) => ({ memoryBytes: () => allowed(delivery) + 1, openLogs: () => 2 }))
    const { failures } = await simulate(overflowing, { contentsOf: tooFull })
    expect(failures[0]).toMatch(/p0\/app has segments of \d+ bytes in 2 logs, for \d+ bytes of records/)
  })

  it('may lack records on disk that an engine before has left, but have no more than are counted', () => {
    const failuresOf = (found: number, inherits: boolean) => {
      const world = new World(1)
      const lane = { ...ledger.lanes[0]!, spooled: found }
      const contents = { walk: () => [lane], memoryBytes: () => 0, openLogs: () => 0 }
      checkContents(world, { name: 'p0', contents, ledger, inherits })
      return world.failures.length
    }
    const ledger = withSpooled(3)
    expect([failuresOf(3, true), failuresOf(2, true), failuresOf(4, true)]).toEqual([0, 0, 1])
    expect([failuresOf(3, false), failuresOf(2, false)]).toEqual([0, 1])
  })
})

function withSpooled(spooled: number): Ledger {
  const { dropped, suppressed, invalid: _, lanes: __, ...counts } = emptyLedger
  const condition = { state: 'open', sender: 'undici', connections: 1, depth: 1, lastError: undefined } as const
  const lane = { ...counts, dropped, suppressed, ...condition, kind: 'logs', bucket: 'b', spooled } as const
  return { ...emptyLedger, spooled, lanes: [lane] }
}

/** From now on it takes two records at a time, the second one first. */
function swapRecords(delivery: EngineDelivery): void {
  const accept = delivery.accept.bind(delivery)
  let first: Parameters<EngineDelivery['accept']> | undefined
  delivery.accept = (...record) => {
    if (first === undefined) first = record
    else {
      accept(...record)
      accept(...first)
      first = undefined
    }
  }
}

describe('the order of records, where memory is bounded and a spool takes the others', () => {
  it('is demanded', async () => {
    const { failures } = await simulate(overflowing, {
      contentsOf(delivery) {
        swapRecords(delivery)
        return contentsOf(delivery)
      },
    })
    expect(failures).toEqual([
      expect.stringContaining('logs of p0 came in another order than that of their acceptance'),
    ])
  })
})
