import { types } from 'node:util'

const { isDate } = types

/** The ranges of Unix time from 1973 to 5138 in each unit that loggers use, and units per millisecond. */
const units = [
  { from: 1e8, perMillisecond: 0.001 },
  { from: 1e11, perMillisecond: 1 },
  { from: 1e14, perMillisecond: 1e3 },
  { from: 1e17, perMillisecond: 1e6 },
] as const
const beyond = 1e20

/**
 * Milliseconds of Unix time for a written time: a number of seconds, milliseconds, micro- or nanoseconds, ISO 8601 with a zone, or a
 * Date. Undefined for anything else, for a number before 1973, and from the year 5138 on.
 */
export function timeOf(written: unknown): number | undefined {
  if (typeof written === 'number') {
    // Nearly all times are milliseconds.
    if (written >= 1e11 && written < 1e14) return Math.round(written)
    const unit = written < beyond ? units.findLast(({ from }) => written >= from) : undefined
    return unit === undefined ? undefined : Math.round(written / unit.perMillisecond)
  }
  // `instanceof` could throw for a proxy.
  if (isDate(written)) return known(Date.prototype.getTime.call(written))
  // A number of nanoseconds, as `parseJson` gives it.
  if (typeof written === 'string' && /^\d{16,20}$/.test(written)) return timeOf(Number(written))
  return typeof written === 'string' && iso8601.test(written) ? known(Date.parse(written)) : undefined
}

function known(milliseconds: number): number | undefined {
  return isTime(milliseconds) ? milliseconds : undefined
}

/** True for milliseconds since 1970, before the year 5138: readers take larger numbers for microseconds. */
export function isTime(milliseconds: number): boolean {
  return Math.abs(milliseconds) < 1e14
}

/** A zone is required. Formats for people, such as `MM-DD HH:mm`, are ambiguous. */
const iso8601 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}([.,]\d+)?)?(Z|[+-]\d{2}:?\d{2})$/i

/** A time of {@link timeOf} in the unit of the option `timestampUnit`, as a whole number. */
export function inUnit(milliseconds: number, unit: 'ms' | 's'): number {
  return unit === 's' ? Math.floor(milliseconds / 1000) : Math.trunc(milliseconds)
}
