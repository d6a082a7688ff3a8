interface Bucket {
  /** Below zero after a request with more records than it had. */
  tokens: number
  atMs: number
}

/**
 * Limits the records of each key: a bucket of tokens that holds those of one second. A request with more records than the bucket can hold is taken
 * when it is full, and the next ones wait longer.
 */
export class RateLimit {
  readonly perSecond: number
  readonly #monotonicMs: () => number
  readonly #buckets = new Map<string, Bucket>()

  /** @param perSecond most records per second and key */
  constructor(perSecond: number, monotonicMs: () => number = () => performance.now()) {
    this.perSecond = perSecond
    this.#monotonicMs = monotonicMs
  }

  /** Takes the records of a key if its bucket allows it, and returns 0. Else returns the time to wait, in whole seconds. */
  take(key: string, records: number): number {
    const bucket = this.#filled(key)
    const missing = Math.min(records, this.perSecond) - bucket.tokens
    if (missing > 0) return Math.ceil(missing / this.perSecond)
    bucket.tokens -= records
    return 0
  }

  #filled(key: string): Bucket {
    const atMs = this.#monotonicMs()
    const bucket = this.#buckets.get(key) ?? { tokens: this.perSecond, atMs }
    this.#buckets.set(key, bucket)
    bucket.tokens = Math.min(this.perSecond, bucket.tokens + ((atMs - bucket.atMs) / 1000) * this.perSecond)
    bucket.atMs = atMs
    return bucket
  }
}
