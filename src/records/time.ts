/** Milliseconds of Unix time below which a number is taken for seconds: the year 1973 in milliseconds, 5138 in seconds. */
const secondsBelow = 1e11

/** Unix time in milliseconds of what a logger wrote as time (epoch in ms or s, ISO 8601, Date); undefined when it is none. */
export function timeOf(written: unknown): number | undefined {
  if (typeof written === 'number') {
    if (!Number.isFinite(written)) return undefined
    return Math.abs(written) < secondsBelow ? Math.round(written * 1000) : written
  }
  if (written instanceof Date) return timeOf(written.getTime())
  if (typeof written !== 'string') return undefined
  return iso8601.test(written) ? timeOf(Date.parse(written)) : undefined
}

/** With a zone: what is written for people's eyes (`MM-DD HH:mm`) cannot be told apart from other orders. */
const iso8601 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}([.,]\d+)?)?(Z|[+-]\d{2}:?\d{2})$/i

/** A time of {@link timeOf} in the unit that the service wants: whole milliseconds or whole seconds. */
export function inUnit(milliseconds: number, unit: 'ms' | 's'): number {
  return unit === 's' ? Math.floor(milliseconds / 1000) : Math.trunc(milliseconds)
}
