import { createSluice, type Ledger } from 'sluice'
import { afterEach, describe, expect, it } from 'vitest'
import { Delivery } from '../../../src/delivery/delivery.js'
import { PipelinedSender } from '../../../src/http/pipelined-sender.js'
import { UndiciSender } from '../../../src/http/undici-sender.js'
import { systemClock } from '../../../src/runtime/clock.js'
import { delivered, type Fault, FaultServer } from '../../support/fault-server.js'
import { full, rowsOf } from '../../support/full.js'
import { silentObserver } from '../../support/observer.js'
import { seeded } from '../../support/seeded.js'

let server: FaultServer
let close: () => Promise<unknown>
afterEach(async () => {
  await close()
  await server.close()
})

const records = 300
const timeoutMs = 25_000
const status = (code: number): Fault => ({ type: 'answer', status: code })

/** Faults after which the record may be at the server without the client knowing. */
const faults: readonly Fault[] = [
  status(500),
  status(502),
  status(503),
  status(429),
  { type: 'reset-before-answer' },
  { type: 'reset-after-commit' },
  { type: 'reset-in-body' },
  { type: 'fin-in-body' },
  { type: 'fin-in-head' },
  { type: 'garbage' },
  { type: 'oversized' },
  { type: 'silence' },
  { type: 'deafness' },
  { type: 'trickle', everyMs: 20 },
  { type: 'close', announced: true },
  { type: 'close', announced: false },
]

const ways = ['auto', 'undici', 'pipelined'] as const
type Way = (typeof ways)[number]

interface Bounds {
  readonly requestTimeoutMs: number
  readonly maxConnections: number
}

const hasty: Bounds = { requestTimeoutMs: 120, maxConnections: 16 }
/** For faults without silence: on a busy machine no request may time out. */
const patient: Bounds = { ...hasty, requestTimeoutMs: 5000 }

/** Delivers with the sender that Sluice chooses. Resolves with the ledger when all is delivered. */
function deliverByChoice(bounds: Bounds): Promise<Ledger> {
  const retry = { retryBaseMs: 2, retryCapMs: 20 }
  const sluice = createSluice({ url: server.url, apiKey: 'k', bucket: 'b', ...bounds, ...retry, onError: () => {} })
  close = () => sluice.close({ timeoutMs: 0 })
  for (let event = 0; event < records; event++) sluice.track(event)
  return drained(() => sluice.flush({ timeoutMs }))
}

/** Flushes again until nothing is left: one flush does not wait for records that fail again and again. */
async function drained(flush: () => Promise<Ledger>): Promise<Ledger> {
  const startedAt = performance.now()
  for (;;) {
    const ledger = await flush()
    if (ledger.queued + ledger.inFlight === 0 || performance.now() - startedAt > timeoutMs) return ledger
  }
}

/** Delivers with one sender only. */
function deliverBy(way: Exclude<Way, 'auto'>, bounds: Bounds): Promise<Ledger> {
  const plan = {
    url: server.url,
    apiKey: { reveal: () => 'k', renew: () => false },
    userAgent: 'sluice/test',
    clock: systemClock,
    ...bounds,
  }
  const delivery = new Delivery({
    lanes: [{ kind: 'values', bucket: 'b' }],
    sender: way === 'undici' ? new UndiciSender(plan) : new PipelinedSender({ ...plan, maxDepth: 64 }),
    clock: systemClock,
    random: Math.random,
    observer: silentObserver,
    limits: { maxQueueRecords: records, maxQueueBytes: 1_000_000 },
    ...bounds,
    maxBatch: 64,
    retry: { baseMs: 2, capMs: 20 },
    probe: { baseMs: 30, capMs: 300 },
    keyPrefix: 'storm',
  })
  close = () => delivery.close({ timeoutMs: 0 })
  for (let event = 0; event < records; event++) {
    delivery.accept(0, { body: JSON.stringify({ eventId: event }), severity: 6 })
  }
  return drained(() => delivery.flush({ timeoutMs }))
}

/** A record with more faults than these would be rejected. */
const mostFaults = 8

interface Weather {
  readonly script: (random: () => number) => Fault
  readonly seed: number
  readonly bounds?: Bounds
}

async function weather(way: Way, { script, seed, bounds = hasty }: Weather) {
  const random = seeded(seed)
  const faulty = new Map<string | undefined, number>()
  server = await FaultServer.start(({ headers }) => {
    const key = headers.get('idempotency-key')
    const fault = script(random)
    const times = (faulty.get(key) ?? 0) + 1
    if (fault === delivered || times > mostFaults) return delivered
    faulty.set(key, times)
    return fault
  })
  const ledger = await (way === 'auto' ? deliverByChoice(bounds) : deliverBy(way, bounds))
  const events = server.taken.map((body) => (JSON.parse(body) as { eventId: number }).eventId)
  const distinct = [...new Set(events)].sort((a, b) => a - b)
  return { ledger, distinct, duplicates: events.length - distinct.length }
}

/** One storm in `npm test`, twenty in `npm run test:full`. */
const seeds = Array.from({ length: full ? 20 : 1 }, (_, index) => index + 1)

const expected = Array.from({ length: records }, (_, event) => event)

describe.each(rowsOf(ways, (way) => way === 'auto'))('in a storm of faults, %s', (way) => {
  it.each(seeds)('loses nothing, invents nothing, and counts what may be double (seed %i)', async (seed) => {
    const script = (random: () => number) =>
      random() < 0.3 ? faults[Math.floor(random() * faults.length)]! : delivered
    const { ledger, distinct, duplicates } = await weather(way, { script, seed })
    expect(distinct).toEqual(expected)
    expect(ledger).toMatchObject({ accepted: records, delivered: records, rejected: 0, queued: 0, inFlight: 0 })
    expect(duplicates).toBeLessThanOrEqual(ledger.ambiguousRetries)
    expect(ledger.requests).toBe(records + ledger.retries)
  })

  it('of status codes alone makes no duplicate', async () => {
    const script = (random: () => number) => (random() < 0.4 ? status(500 + Math.floor(random() * 5)) : delivered)
    const { ledger, distinct, duplicates } = await weather(way, { script, seed: 4, bounds: patient })
    expect(distinct).toEqual(expected)
    expect({ duplicates, ambiguous: ledger.ambiguousRetries }).toEqual({ duplicates: 0, ambiguous: 0 })
  })

  it('that refuses one record in ten delivers the others', async () => {
    const script = (random: () => number) => (random() < 0.1 ? status(400) : delivered)
    const { ledger, distinct } = await weather(way, { script, seed: 5, bounds: patient })
    expect(ledger.rejected).toBeGreaterThan(5)
    expect(ledger.delivered + ledger.rejected).toBe(records)
    expect(distinct).toHaveLength(ledger.delivered)
  })
})
