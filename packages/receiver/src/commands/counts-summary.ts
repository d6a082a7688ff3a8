import type { Summary } from '../../../../src/cli/output.js'
import { counted } from '../../../../src/errors/counted.js'
import type { RecordCounts } from '../client/record-counts.js'

/** Names of events by number. */
export type EventNames = ReadonlyMap<number, string>

/** The counts as a table: by event, or with steps by time and event. The most frequent event comes first. */
export function countsSummary(
  counts: RecordCounts,
  { names, hasSteps }: { names: EventNames; hasSteps: boolean },
): Summary {
  const { total, lastSeen, list = [], others = 0, countedSince } = counts
  const events = byCount(counts.totals, names).map((event) => ({ ...event, lastSeen: lastSeen[event.eventId] ?? null }))
  const steps = list.flatMap(({ time, counts }) => byCount(counts, names).map((event) => ({ time, ...event })))
  const rows = events.map(({ eventId, name, count, lastSeen }) => [
    `${eventId}`,
    name ?? '',
    `${count}`,
    lastSeen ?? '',
  ])
  const stepRows = steps.map(({ time, eventId, name, count }) => [time, `${eventId}`, name ?? '', `${count}`])
  return {
    ok: true,
    facts: {
      total,
      events,
      ...(hasSteps ? { steps } : {}),
      ...(others === 0 ? {} : { others }),
      ...(countedSince === undefined ? {} : { countedSince }),
    },
    lines: [
      ...(hasSteps
        ? columns([['time', 'event', 'name', 'count'], ...stepRows], 3)
        : columns([['event', 'name', 'count', 'last seen'], ...rows], 2)),
      `${counted(total, 'value')} of ${sumOf(events.length, others)}`,
      countedSince !== undefined && `there are more: those from before ${countedSince} are not counted`,
    ],
  }
}

function sumOf(events: number, others: number): string {
  if (others > 0) return `more than ${counted(events, 'event')}, ${others} of them of events that are not listed`
  return counted(events, 'event')
}

function byCount(numbers: RecordCounts['totals'], names: EventNames) {
  return Object.entries(numbers)
    .map(([event, count]) => ({ eventId: Number(event), name: names.get(Number(event)) ?? null, count }))
    .sort((a, b) => b.count - a.count || a.eventId - b.eventId)
}

/** Cells in columns. That of the counts is right-aligned. */
function columns(rows: readonly (readonly string[])[], counts: number): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows.map((row) =>
    row
      .map((cell, column) => (column === counts ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
      .join('  ')
      .trimEnd(),
  )
}
