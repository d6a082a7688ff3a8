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
  const parsed = /^-?\d+(\.\d+)?$/.test(written) ? Number(written) : Date.parse(written)
  return timeOf(parsed)
}

/** A time of {@link timeOf} in the unit that the service wants: whole milliseconds or whole seconds. */
export function inUnit(milliseconds: number, unit: 'ms' | 's'): number {
  return unit === 's' ? Math.floor(milliseconds / 1000) : Math.trunc(milliseconds)
}
