/** What one batch showed about the server. */
export interface Sample {
  /** Records in the batch that got a success. */
  readonly successes: number
  /** From the start of the batch to the first success, in ms; undefined without one. */
  readonly firstAnswerMs: number | undefined
  /** Mean time between consecutive successes of the batch, in ms; undefined for fewer than two. */
  readonly betweenAnswersMs: number | undefined
  /** The server asked for less: 429, 503 or a timeout. */
  readonly backPressure: boolean
  /** The limit was what held the lane back, not a lack of records. */
  readonly limited: boolean
}

export interface ConcurrencyBounds {
  readonly maxConnections: number
  readonly maxDepth: number
}

/**
 * How many records may be in flight: connections × depth.
 *
 * Slow start doubles the limit per round trip until the first sign of back-pressure; from then on it grows by one per round
 * trip while it is used and the round trip is not above its moving mean, and shrinks to 0.9 on back-pressure or on a round
 * trip above mean + 2.5 deviations. Mean and deviation are those of TCP (V. Jacobson, "Congestion Avoidance and Control",
 * SIGCOMM 1988). Depth follows 1 + time to the first answer ÷ time between answers.
 */
export class Concurrency {
  readonly #bounds: ConcurrencyBounds
  #limit = 1
  #slowStart = true
  #depth = 1
  #meanMs: number | undefined
  #deviationMs = 0
  #samplesUntilCut = 0

  constructor(bounds: ConcurrencyBounds) {
    this.#bounds = bounds
  }

  /** Records per batch on one connection. */
  get depth(): number {
    return Math.max(1, Math.min(Math.round(this.#depth), this.#bounds.maxDepth, Math.floor(this.#limit)))
  }

  get connections(): number {
    return Math.max(1, Math.min(Math.round(this.#limit / this.depth), this.#bounds.maxConnections))
  }

  /** Begin again from one record in flight, as after an outage. */
  restart(): void {
    this.#limit = 1
    this.#depth = 1
    this.#slowStart = true
    this.#meanMs = undefined
    this.#samplesUntilCut = 0
  }

  add({ successes, firstAnswerMs, betweenAnswersMs, backPressure, limited }: Sample): void {
    this.#samplesUntilCut = Math.max(0, this.#samplesUntilCut - Math.max(1, successes))
    if (backPressure) this.#shrink()
    if (firstAnswerMs === undefined) return

    const mean = this.#meanMs ?? firstAnswerMs
    const excess = firstAnswerMs - mean
    const late = excess > 2.5 * this.#deviationMs + clockGrainMs
    this.#meanMs = mean + excess / 8
    this.#deviationMs += (Math.abs(excess) - this.#deviationMs) / 4

    if (betweenAnswersMs !== undefined) {
      const wanted = 1 + firstAnswerMs / Math.max(betweenAnswersMs, clockGrainMs / 10)
      this.#depth += (Math.min(wanted, this.#bounds.maxDepth) - this.#depth) / 4
    } else if (this.#bounds.maxDepth > 1 && limited && this.depth === 1) {
      this.#depth = 2
    }
    if (late && !this.#slowStart) this.#shrink()
    else if (limited && !backPressure) this.#grow(successes, excess)
  }

  #grow(successes: number, excess: number): void {
    if (this.#slowStart) this.#limit += successes
    else if (excess <= clockGrainMs) this.#limit += successes / this.#limit
    this.#limit = Math.min(this.#limit, this.#bounds.maxConnections * this.#bounds.maxDepth)
  }

  /** At most once per round trip: the answers to what is in flight already tell of the same event. */
  #shrink(): void {
    this.#slowStart = false
    if (this.#samplesUntilCut > 0) return
    this.#samplesUntilCut = this.#limit
    this.#limit = Math.max(1, this.#limit * 0.9)
  }
}

/** Round trips that differ by less are the same: event loops are no finer. */
const clockGrainMs = 1
