/** The forms of a time of `--since`, for messages. */
export const sinceForms = 'a time such as 5m, 2h or 2026-01-31T12:00:00Z'

/**
 * The time of `--since` as the API takes it: a number of seconds, minutes, hours or days ago unchanged, by the receiver's clock, or another time in
 * ISO 8601 UTC. Undefined for another text.
 */
export function sinceTime(written: string): string | undefined {
  if (/^\d{1,6}[smhd]$/.test(written)) return written
  if (!/^\d{4}-\d{2}-\d{2}(T|$)/.test(written)) return undefined
  const time = new Date(written)
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString()
}
