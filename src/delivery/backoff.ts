/** Bounds of a backoff, in milliseconds. */
export interface BackoffBounds {
  readonly baseMs: number
  readonly capMs: number
}

/**
 * The wait before attempt number `attempt + 1`: full jitter, uniform from 0 to `base × 2^attempt`, at most `cap`.
 * From M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
 */
export function fullJitter(attempt: number, { baseMs, capMs }: BackoffBounds, random: () => number): number {
  return random() * doubled(attempt, { baseMs, capMs })
}

/** `base × 2^attempt`, at most `cap`. */
export function doubled(attempt: number, { baseMs, capMs }: BackoffBounds): number {
  return Math.min(capMs, baseMs * 2 ** Math.min(attempt, 40))
}
