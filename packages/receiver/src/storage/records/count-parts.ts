import type { CountQuery } from '../record-storage.js'
import { earliestMs, hourMs, latestMs, minuteMs } from './record-times.js'

/** Counts of a length of step, or the records of a part of a minute (`'record'`), with `from` <= time < `to`. */
export interface CountPart {
  readonly of: number | 'record'
  readonly from: number
  readonly to: number
}

/** The parts of the tables that together count the times of a query: rows of counts, and, where a time begins or ends within a minute, its records. */
export function countParts({ since, until, stepMs }: CountQuery): CountPart[] {
  const part = (of: CountPart['of']) => (from: number, to: number) => ({ of, from, to })
  const [minutes, records] = [part(minuteMs), part('record')]
  if (since === undefined && until === undefined && stepMs === undefined) return [part(0)(0, 1)]
  const [from, to] = [since ?? earliestMs, until ?? latestMs + 1]
  const [first, last] = [Math.ceil(from / minuteMs) * minuteMs, Math.floor(to / minuteMs) * minuteMs]
  if (first > last) return [records(from, to)]
  const edges = [records(from, first), records(last, to)].filter((edge) => edge.from < edge.to)
  const [firstHour, lastHour] = [Math.ceil(first / hourMs) * hourMs, Math.floor(last / hourMs) * hourMs]
  const isByHour = (stepMs ?? hourMs) % hourMs === 0 && firstHour < lastHour
  if (!isByHour) return [...edges, minutes(first, last)]
  return [...edges, minutes(first, firstHour), part(hourMs)(firstHour, lastHour), minutes(lastHour, last)]
}
