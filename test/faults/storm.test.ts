import { createSluice, type Sluice } from 'sluice'
import { afterEach, describe, expect, it } from 'vitest'
import { seeded } from '../support/seeded.js'
import { delivered, type Fault, FaultServer } from './fault-server.js'

let server: FaultServer
let sluice: Sluice
afterEach(async () => {
  await sluice.close({ timeoutMs: 0 })
  await server.close()
})

const records = 300
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

async function weather(script: (random: () => number) => Fault, seed: number) {
  const random = seeded(seed)
  server = await FaultServer.start(() => script(random))
  sluice = createSluice({
    url: server.url,
    apiKey: 'k',
    bucket: 'b',
    retryBaseMs: 2,
    retryCapMs: 20,
    requestTimeoutMs: 120,
    maxConnections: 16,
    onError: () => {},
  })
  for (let event = 0; event < records; event++) sluice.track(event)
  const ledger = await sluice.flush({ timeoutMs: 25_000 })
  const events = server.taken.map((body) => (JSON.parse(body) as { eventId: number }).eventId)
  const distinct = [...new Set(events)].sort((a, b) => a - b)
  return { ledger, distinct, duplicates: events.length - distinct.length }
}

/** Three storms on every run, forty before an issue is called resolved. */
const seeds = Array.from({ length: process.env.FULL === undefined ? 3 : 40 }, (_, index) => index + 1)

const expected = Array.from({ length: records }, (_, event) => event)

describe('in a storm of faults', () => {
  it.each(seeds)('loses nothing, invents nothing, and counts what may be double (seed %i)', async (seed) => {
    const script = (random: () => number) =>
      random() < 0.3 ? faults[Math.floor(random() * faults.length)]! : delivered
    const { ledger, distinct, duplicates } = await weather(script, seed)
    expect(distinct).toEqual(expected)
    expect(ledger).toMatchObject({ accepted: records, delivered: records, rejected: 0, queued: 0, inFlight: 0 })
    expect(duplicates).toBeLessThanOrEqual(ledger.ambiguousRetries)
    expect(ledger.requests).toBe(records + ledger.retries)
  })

  it('of status codes alone makes no duplicate', async () => {
    const script = (random: () => number) => (random() < 0.4 ? status(500 + Math.floor(random() * 5)) : delivered)
    const { ledger, distinct, duplicates } = await weather(script, 4)
    expect(distinct).toEqual(expected)
    expect({ duplicates, ambiguous: ledger.ambiguousRetries }).toEqual({ duplicates: 0, ambiguous: 0 })
  })

  it('that refuses one record in ten delivers the others', async () => {
    const script = (random: () => number) => (random() < 0.1 ? status(400) : delivered)
    const { ledger, distinct } = await weather(script, 5)
    expect(ledger.rejected).toBeGreaterThan(5)
    expect(ledger.delivered + ledger.rejected).toBe(records)
    expect(distinct).toHaveLength(ledger.delivered)
  })
})
