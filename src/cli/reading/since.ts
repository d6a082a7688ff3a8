const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** The forms of a time of `--since`, for messages. */
export const sinceForms = 'a time such as 5m, 2h or 2026-01-31T12:00:00Z'

/**
 * The time of `--since` in ISO 8601 UTC: so many seconds, minutes, hours or days ago, or a time of its own. Undefined for another text.
 *
 * @param now milliseconds since 1970
 */
export function sinceTime(written: string, now: number): string | undefined {
  const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(written) ?? []
  if (count === undefined && !/^\d{4}-\d{2}-\d{2}(T|$)/.test(written)) return undefined
  const time = new Date(count === undefined ? written : Math.max(0, now - Number(count) * (unitMs[unit] ?? 0)))
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString()
}
