/** Identifies the attempts at one request. A store remembers it for `rememberedMs`. */
export interface Attempt {
  /** Names one operation on one resource. The caller chooses the format. */
  readonly scope: string
  /** The sender's `idempotency-key`. */
  readonly key: string
}

/** An attempt is remembered this long, across restarts. */
export const rememberedMs = 24 * 60 * 60 * 1000
