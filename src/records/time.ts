import { types } from 'node:util'

const { isDate } = types

/** Numbers of Unix time from 1973 to 5138, in each unit that loggers use, and how many of it are a millisecond. */
const units = [
  { from: 1e8, perMillisecond: 0.001 },
  { from: 1e11, perMillisecond: 1 },
  { from: 1e14, perMillisecond: 1e3 },
  { from: 1e17, perMillisecond: 1e6 },
] as const
const beyond = 1e20

/**
 * Unix time in milliseconds of what was written as time: a number of seconds, milliseconds, micro- or nanoseconds, ISO 8601 with a
 * zone, or a Date. Undefined when it is none: a number before 1973 is something else.
 */
export function timeOf(written: unknown): number | undefined {
  if (typeof written === 'number') {
    const unit = written < beyond ? units.findLast(({ from }) => written >= from) : undefined
    return unit === undefined ? undefined : Math.round(written / unit.perMillisecond)
  }
  // Asked with `instanceof`, a proxy may throw.
  if (isDate(written)) return finite(Date.prototype.getTime.call(written))
  return typeof written === 'string' && iso8601.test(written) ? finite(Date.parse(written)) : undefined
}

function finite(milliseconds: number): number | undefined {
  return Number.isFinite(milliseconds) ? milliseconds : undefined
}

/** With a zone: what is written for people's eyes (`MM-DD HH:mm`) cannot be told apart from other orders. */
const iso8601 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}([.,]\d+)?)?(Z|[+-]\d{2}:?\d{2})$/i

/** A time of {@link timeOf} in the unit that the service wants: whole milliseconds or whole seconds. */
export function inUnit(milliseconds: number, unit: 'ms' | 's'): number {
  return unit === 's' ? Math.floor(milliseconds / 1000) : Math.trunc(milliseconds)
}
