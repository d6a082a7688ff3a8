/**
 * How long an answer may take, in ms, before another record is tried beside it: a quarter of the request time-out; while a drain waits, half
 * a second at most, for its deadline is near.
 */
export function patienceMs(requestTimeoutMs: number, { draining }: { readonly draining: boolean }): number {
  return Math.min(requestTimeoutMs / 4, draining ? drainingMs : Number.POSITIVE_INFINITY)
}

const drainingMs = 500
