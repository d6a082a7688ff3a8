/** Longest wait that is told: a hundred years. How much of it is honoured is for whoever waits. */
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
