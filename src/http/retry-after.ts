/** Longest wait that is reported: a hundred years. Its reader decides how much of it to honour. */
const longestMs = 3_155_760_000_000

/**
 * Milliseconds that `Retry-After` asks to wait, in both forms of RFC 9110, 10.2.3: seconds, or a date.
 * Undefined when there is none or it cannot be read.
 */
export function retryAfterMs(header: string | undefined, wallClockNow: number): number | undefined {
  if (header === undefined) return undefined
  const written = header.trim()
  const wait = /^\d+$/.test(written) ? Number(written) * 1000 : Date.parse(written) - wallClockNow
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(0, wait), longestMs)
}
