import fc from 'fast-check'
import { close, flush, type Ledger, stats } from 'sluice'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { settledTotal } from '../../../src/delivery/ledger.js'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.js'
import { volumeWays } from '../../support/volume-ways.js'

let receiver: TestReceiver
let seen = 0
beforeAll(async () => {
  receiver = await startTestReceiver()
})
afterAll(() => receiver.close())

const levels = ['debug', 'info', 'warn', 'error'] as const
const keptLines = 2
const options = {
  level: 'info',
  // The levels below `level` are not sampled.
  sample: { debug: 0, info: 0.5, warn: 0.75 },
  keepForError: { lines: keptLines, windowMs: 3_600_000 },
  maxConnections: 1,
} as const

interface Line {
  readonly level: (typeof levels)[number]
  readonly word: string
  readonly trace_id: string
  readonly requestId: string | undefined
}

const lines = fc.array(
  fc.record({
    level: fc.constantFrom(...levels),
    word: fc.constantFrom('asked', 'failed'),
    trace_id: fc
      .constantFrom('00', '3f', '41', '7f', '81', 'ff')
      .map((start) => `${'5'.repeat(18)}${start.padEnd(14, '0')}`),
    requestId: fc.constantFrom('a', 'b', undefined),
  }),
  { minLength: 1, maxLength: 60 },
)

/** The lines that must arrive, in their order, by their number, and how many are left out. */
function expectedOf(all: readonly Line[]) {
  const sent: number[] = []
  const suppressed = { sampled: 0, unneeded: 0 }
  const kept = new Map<string, number[]>()
  for (const [number, { level, trace_id, requestId = trace_id }] of all.entries()) {
    if (level === 'debug') {
      const ofId = [...(kept.get(requestId) ?? []), number]
      suppressed.unneeded++
      kept.set(requestId, ofId.slice(-keptLines))
      continue
    }
    const left = { info: 0x80, warn: 0x40, error: 0 }[level]
    if (Number.parseInt(trace_id.slice(18, 20), 16) < left) {
      suppressed.sampled++
      continue
    }
    if (level === 'error') {
      const needed = kept.get(requestId) ?? []
      kept.delete(requestId)
      suppressed.unneeded -= needed.length
      sent.push(...needed)
    }
    sent.push(number)
  }
  return { sent, suppressed }
}

/** The reasons of a ledger less those of an earlier one. */
function since<Counts extends Readonly<Record<string, number>>>(before: Counts, after: Counts): Record<string, number> {
  return Object.fromEntries(Object.entries(after).map(([reason, count]) => [reason, count - before[reason]!]))
}

describe.each(volumeWays)('%s, with all options of volume', (way, open) => {
  // The lines may be on their way to pino's worker when `flush` returns.
  const inOrder = (numbers: readonly number[]) =>
    way === 'pino’s target' ? [...numbers].sort((a, b) => a - b) : numbers

  it('sends every line of a random mix, or counts it under its reason', async () => {
    await fc.assert(
      fc.asyncProperty(lines, fc.constantFrom('json', 'logfmt', 'none'), async (all, context) => {
        const before = stats()
        const log = open({ ...receiver.options, ...options, context })
        for (const [n, { level, word, trace_id, requestId }] of all.entries()) {
          log(level, { trace_id, ...(requestId === undefined ? {} : { requestId }) }, `${word} ${n}`)
          expectBalance(stats())
        }
        // A close sends severe lines first.
        await flush()
        const after = await close()
        expectBalance(after)
        const logs = (await receiver.logs()).slice(seen)
        seen += logs.length

        const { sent, suppressed } = expectedOf(all)
        expect(inOrder(logs.map(numberOf))).toEqual(inOrder(sent))
        expect(since(before.suppressed, after.suppressed)).toEqual(suppressed)
        expect(after.accepted - before.accepted).toBe(all.length)
        expect(after.delivered - before.delivered).toBe(logs.length)
        expect(after.keptForError).toBe(0)
      }),
      { numRuns: 12 },
    )
  })
})

/** Every lane adds up at any moment, and keeps no more for errors than it counts as unneeded. */
function expectBalance({ lanes }: Ledger): void {
  for (const lane of lanes) {
    expect(lane.accepted).toBe(settledTotal(lane) + lane.spooled + lane.queued + lane.inFlight)
    expect(lane.keptForError).toBeLessThanOrEqual(lane.suppressed.unneeded)
  }
}

function numberOf({ message }: { readonly message: string }): number {
  return Number(/^\w+ (\d+)/.exec(message)?.[1])
}
