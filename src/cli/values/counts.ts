import { timeOf } from '../../records/time.js'
import type { ValueRecord } from '../../records/wire.js'
import type { Summary } from '../output.js'
import { timeText } from '../reading/printed-record.js'

/** Names of events by number. */
export type EventNames = ReadonlyMap<number, string>

interface EventCount {
  count: number
  /** The `timeStamp` that is the latest. */
  last: number
}

/** Counts values by event. */
export class ValueCounts {
  readonly #counts = new Map<number, EventCount>()

  add({ eventId, timeStamp }: ValueRecord): void {
    const known = this.#counts.get(eventId)
    if (known === undefined) this.#counts.set(eventId, { count: 1, last: timeStamp })
    else {
      known.count++
      if (momentOf(timeStamp) > momentOf(known.last)) known.last = timeStamp
    }
  }

  /** The most frequent event comes first. */
  summary(names: EventNames): Summary {
    const events = [...this.#counts]
      .map(([eventId, { count, last }]) => ({
        eventId,
        name: names.get(eventId) ?? null,
        count,
        lastSeen: timeText(last),
      }))
      .sort((a, b) => b.count - a.count || a.eventId - b.eventId)
    const total = events.reduce((sum, { count }) => sum + count, 0)
    const rows = events.map(({ eventId, name, count, lastSeen }) => [`${eventId}`, name ?? '', `${count}`, lastSeen])
    return {
      ok: true,
      facts: { total, events },
      lines: [
        ...columns([['event', 'name', 'count', 'last seen'], ...rows]),
        `${total} ${total === 1 ? 'value' : 'values'} of ${events.length} ${events.length === 1 ? 'event' : 'events'}`,
      ],
    }
  }
}

function momentOf(timeStamp: number): number {
  return timeOf(timeStamp) ?? Number.NEGATIVE_INFINITY
}

/** Cells in columns. That of the counts, the third one, is right-aligned. */
function columns(rows: readonly string[][]): string[] {
  const widthOf = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0))
  const widths = [widthOf(0), widthOf(1), widthOf(2), 0]
  return rows.map((row) =>
    row.map((cell, column) => (column === 2 ? cell.padStart(widths[2]!) : cell.padEnd(widths[column]!))).join('  '),
  )
}
