import type { Work } from './tables/rows.js'

/** Identifies the attempts at one request. A store remembers it for `rememberedMs`. */
export interface Attempt {
  /** Names one operation on one resource. The caller chooses the format. */
  readonly scope: string
  /** The sender's `idempotency-key`. */
  readonly key: string
}

/** An attempt is remembered this long, across restarts. */
export const rememberedMs = 24 * 60 * 60 * 1000

/** The attempts that are remembered, with their results. */
export interface Attempts {
  /** Returns the result of an earlier attempt. */
  find(attempt: Attempt): Promise<string | undefined>
  /** Stores an attempt within a transaction. Returns the result that counts: of an earlier attempt, or else this one. */
  add(attempt: Attempt, result: string): Work<string>
}
