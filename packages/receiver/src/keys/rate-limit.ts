interface Bucket {
  tokens: number
  atMs: number
}

/** Limits the records of each key: a bucket of tokens that holds those of one second. */
export class RateLimit {
  readonly perSecond: number
  readonly #monotonicMs: () => number
  readonly #buckets = new Map<string, Bucket>()

  /** @param perSecond most records per second and key */
  constructor(perSecond: number, monotonicMs: () => number = () => performance.now()) {
    this.perSecond = perSecond
    this.#monotonicMs = monotonicMs
  }

  /** Takes the records of a key, at most those of one second, if its bucket has them, and returns 0. Else returns the time to wait, in whole seconds. */
  take(key: string, records: number): number {
    const bucket = this.#filled(key)
    const missing = records - bucket.tokens
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
