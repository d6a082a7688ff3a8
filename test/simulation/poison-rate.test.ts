import { expect, it } from 'vitest'
import { failuresToReject } from '../../src/delivery/suspects.js'
import { full } from '../support/full.js'
import type { Poison } from './faults.js'
import { type Burst, deriveSchedule, type Schedule } from './schedule.js'
import { isBad, simulate } from './simulation.js'

// Records that no service would take, and their cost to the others: each schedule runs with them, and with good records in their place.

const schedules = 60
/** The longest simulations say nothing more. */
const longestMs = 180_000
/** After an outage a lane begins with one record at a time, and doubles. */
const roundsToFullRate = 8
/** A lane waits no longer than this when two bad records stand together. */
const longestWaitMs = 1000
/** Of a bad record: the first, the confirmation where there is no other record, and those as a suspect. */
const mostSends = 2 + failuresToReject

interface Case {
  readonly kind: Poison
  readonly schedule: Schedule
}

/** The schedules with bad records, without any other fault, and without a bound that would drop records. */
function* poisoned(): Generator<Case> {
  for (let seed = 1; ; seed++) {
    const { options, service, processes, bursts, faults, ...rest } = deriveSchedule(seed)
    const kind = faults.find(({ on }) => on === 'records')?.kind as Poison | undefined
    const hasBad = bursts.some(({ records }) => records.some(isBad))
    if (kind === undefined || !hasBad || rest.healsAt > longestMs) continue
    const { maxQueueRecords, maxQueueBytes, spoolMaxBytes, spoolMaxAgeHours, ...others } = options
    const schedule: Schedule = {
      ...rest,
      options: {
        ...others,
        retryBaseMs: 100,
        retryCapMs: longestWaitMs,
        probeBaseMs: longestWaitMs,
        probeCapMs: longestWaitMs,
        // Three resets end pipelining, and that slows all records: it is the price of knowing what the service has taken.
        ...(kind === 'reset' && { pipelining: 'off' as const }),
      },
      service: { ...service, proxyRetries: false },
      processes: processes.map((each) => ({ ...each, end: 'stays', starts: [] })),
      bursts: rewritten(bursts, (message) => message.replace(/[☠⌛]/u, '')),
      faults: faults.filter(({ on }) => on === 'records'),
    }
    yield { kind, schedule }
  }
}

function rewritten(bursts: readonly Burst[], rewrite: (message: string) => string): Burst[] {
  return bursts.map((burst) => ({
    ...burst,
    records: burst.records.map((record) => ({ ...record, message: rewrite(record.message) })),
  }))
}

/** How much later than a tenth of its usual delay a good record may be stored. */
function boundMs({ kind, schedule }: Case): number {
  const { latencyMs, service, options, bursts } = schedule
  const { requestTimeoutMs = 10_000, maxConnections, lingerMs = 200 } = options
  const roundTripMs = 2 * latencyMs[1] + service.answerMs
  // A bad record may need a new connection, and so may the record after it.
  const holdsMs = kind === 'hang' ? requestTimeoutMs : 2 * roundTripMs
  const bad = bursts.flatMap(({ records }) => records.filter(isBad)).length
  // Suspects take half of the connections at most. Where there is one, they share it with the others.
  const sends = maxConnections === 1 ? mostSends : 1
  // A lane that has sent later gathers later, too: the next record may come in the middle of it.
  return bad * sends * holdsMs + longestWaitMs + roundsToFullRate * roundTripMs + lingerMs
}

/** The good records that come later than they may, and all other violations. */
async function late(each: Case): Promise<string[]> {
  const { schedule } = each
  const good = { ...schedule, bursts: rewritten(schedule.bursts, (message) => message.replace(' poison ', ' ')) }
  const [withBad, without] = [await simulate(schedule), await simulate(good)]
  const bound = boundMs(each)
  const excessive = schedule.bursts.flatMap(({ at, everyMs, records }) =>
    records.flatMap((record, index) => {
      const loggedAt = at + index * everyMs
      if (isBad(record) || loggedAt > schedule.healsAt) return []
      const delay = (withBad.storedAt.get(record.id) ?? Number.POSITIVE_INFINITY) - loggedAt
      const usual = without.storedAt.get(record.id)! - loggedAt
      const excess = Math.round(delay - 1.1 * usual)
      return excess <= bound
        ? []
        : [`seed ${schedule.seed}: record ${record.id} is ${excess} ms late, over ${Math.round(bound)}`]
    }),
  )
  return [...withBad.failures, ...without.failures, ...excessive]
}

it.runIf(full)(
  'stores good records within a tenth of their usual delay and the time for which the bad ones hold connections',
  async () => {
    const found: string[] = []
    const cases = poisoned()
    for (let count = 0; count < schedules; count++) found.push(...(await late(cases.next().value as Case)))
    expect(found).toEqual([])
  },
  120_000,
)
