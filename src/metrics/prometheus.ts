import type { Counts, PlainCount } from '../delivery/ledger.js'
import { healthNow } from './health-now.js'
import { type Health, healthStatuses } from './health-status.js'
import { type LaneFigures, laneStates } from './lane-figures.js'
import { familyText, type Labels, type MetricFamily, type Sample } from './metric-family.js'

/** The counts of a lane that are single numbers, with the names of their metrics. */
const counts: Readonly<Record<PlainCount, readonly [name: string, help: string]>> = {
  accepted: ['sluice_records_accepted_total', 'Records for which the call of the logger or of track has returned.'],
  delivered: ['sluice_records_delivered_total', 'Records that the service has taken.'],
  rejected: ['sluice_records_rejected_total', 'Records that the service refused for their content.'],
  adopted: ['sluice_records_adopted_total', 'Accepted records that an earlier process had left on disk.'],
  redacted: ['sluice_records_redacted_total', 'Log records in which something was hidden.'],
  requests: ['sluice_requests_total', 'Requests handed to the sender.'],
  retries: ['sluice_retries_total', 'Attempts after the first.'],
  ambiguousRetries: ['sluice_ambiguous_retries_total', 'Retries of requests that were written and never answered.'],
  deliveredBytes: ['sluice_delivered_bytes_total', 'Bytes of the records that were delivered.'],
  queued: ['sluice_queue_records', 'Records that wait in memory.'],
  inFlight: ['sluice_in_flight_records', 'Records that are sent and not answered yet.'],
  spooled: ['sluice_spooled_records', 'Records that are on disk and not in memory.'],
  keptForError: ['sluice_kept_for_error_records', 'Log records that are kept in case an error comes.'],
  heldBytes: ['sluice_queue_bytes', 'Bytes of the records in memory, queued and in flight.'],
}

/** The counts of a lane by reason. */
const countsByReason = [
  {
    name: 'sluice_records_dropped_total',
    help: 'Records that were given up, by reason.',
    read: (lane: Counts): Readonly<Record<string, number>> => lane.dropped,
  },
  {
    name: 'sluice_records_suppressed_total',
    help: 'Log records that were left out as configured, by reason.',
    // Kept records may still be sent, and a counter never goes down.
    read: ({ suppressed, keptForError }: Counts): Readonly<Record<string, number>> => ({
      ...suppressed,
      unneeded: suppressed.unneeded - keptForError,
    }),
  },
]

/**
 * The ledger of the whole process, pino's workers included, in Prometheus's text format 0.0.4: the body of a page `/metrics`, with the
 * content type `text/plain; version=0.0.4; charset=utf-8`. Sizes are in bytes. Counters never go down while the process lives.
 *
 * Each call reads the ledger once and sets no timer. Never throws.
 */
export function prometheusText(): string {
  const { health, ledger, lanes } = healthNow()
  const families: MetricFamily[] = [
    ...Object.entries(counts).map(([count, [name, help]]) => ({
      name,
      type: name.endsWith('_total') ? ('counter' as const) : ('gauge' as const),
      help,
      samples: lanes.map((lane) => ({ labels: nameOf(lane), value: lane[count as PlainCount] })),
    })),
    ...countsByReason.map(({ name, help, read }) => ({
      name,
      type: 'counter' as const,
      help,
      samples: lanes.flatMap((lane) =>
        Object.entries(read(lane)).map(([reason, value]) => ({ labels: { ...nameOf(lane), reason }, value })),
      ),
    })),
    {
      name: 'sluice_invalid_events_total',
      type: 'counter',
      help: 'Calls of track with a bad number. They became no records.',
      samples: [{ value: ledger.invalid }],
    },
    {
      name: 'sluice_connections',
      type: 'gauge',
      help: 'Connections that a lane may use now.',
      samples: lanes.map((lane) => ({ labels: nameOf(lane), value: lane.connections })),
    },
    {
      name: 'sluice_lane_state',
      type: 'gauge',
      help: 'State of a lane: 1 for the one that it has.',
      samples: lanes.flatMap((lane) => oneOf(laneStates, { label: 'state', is: lane.state, labels: nameOf(lane) })),
    },
    {
      name: 'sluice_health',
      type: 'gauge',
      help: 'Status that health() gives: 1 for the one that it has.',
      samples: oneOf(healthStatuses, { label: 'status', is: health.status }),
    },
    ...capacityFamilies(health),
  ]
  return families.map(familyText).join('')
}

function capacityFamilies({ capacity }: Health): MetricFamily[] {
  if (capacity === undefined) return []
  const family = (unit: 'records' | 'bytes', help: string): MetricFamily => {
    return { name: `sluice_queue_capacity_${unit}`, type: 'gauge', help, samples: [{ value: capacity[unit] }] }
  }
  return [
    family('records', 'Most records in memory, queued and in flight.'),
    family('bytes', 'Most bytes of records in memory, queued and in flight.'),
  ]
}

/** A sample for each choice: 1 for the one that holds, else 0. */
function oneOf(
  choices: readonly string[],
  { label, is, labels = {} }: { readonly label: string; readonly is: string; readonly labels?: Labels },
): Sample[] {
  return choices.map((choice) => ({ labels: { ...labels, [label]: choice }, value: choice === is ? 1 : 0 }))
}

function nameOf({ kind, bucket }: LaneFigures): Labels {
  return { kind, bucket }
}
