/** The measurements of one batch. */
export interface Sample {
  /** When the batch left, on the clock. */
  readonly startedAt: number
  /** Now, on the clock. */
  readonly endedAt: number
  /** Records in the batch that got a success. */
  readonly successes: number
  /** From the start of the batch to the first success, in ms; undefined without one. */
  readonly firstAnswerMs: number | undefined
  /** Mean time between consecutive successes of the batch, in ms; undefined for fewer than two. */
  readonly betweenAnswersMs: number | undefined
  /** Records in the batch for which the server asked for less: 429, 503 or a timeout. */
  readonly pressed: number
  /** True where it said for how long: `Retry-After`. */
  readonly asksToWait: boolean
  /** True when the limit held the lane back, and not a lack of records. */
  readonly limited: boolean
}

interface ConcurrencyBounds {
  readonly maxConnections: number
  /** Called each time: the depth changes as more is known of the service. */
  readonly maxDepth: () => number
  /** A round that takes longer, in ms, and twice as long as the best, means that records of this lane wait at the server. */
  readonly patienceMs: number
}

/**
 * Limits the records in flight: connections × depth.
 *
 * A round has as many answers as the limit. Slow start doubles the limit in each round until the first sign of too much. From then on the
 * limit follows the curve of CUBIC (RFC 9438), counted in rounds instead of seconds: back quickly to just below the limit of the last
 * sign, a plateau there, then further and further beyond, as long as rounds are no slower than usual. There are three signs:
 * - answers that ask for less: one with a `Retry-After`, or a twentieth of the answers of a round, or of a hundred where a round has fewer. Less
 *   are isolated, and change nothing;
 * - a round whose mean time to the first answer is above the moving mean by 2.5 deviations (both move as those of TCP, RFC 6298);
 * - a round that takes longer than a fraction of the request time-out, and twice the best of the last minute: records of this lane queue
 *   at the server.
 *
 * A slow round costs a tenth of the limit. Answers that ask for less cost their share of it, between a quarter and a half. Answers to batches
 * that left before a sign do not count again.
 *
 * Depth follows 1 + time to the first answer ÷ time between answers. A far server gets deep batches. A server that takes pipelined
 * requests one by one gets more connections. A batch may always last {@link batchMs}, and slow start goes into depth first: few records, as
 * at the end of a short process, go out on one connection, and so arrive in order.
 */
export class Concurrency {
  readonly #bounds: ConcurrencyBounds
  #limit = 1
  #depth = 1
  #slowStart = true
  /** The limit at the last sign of too much, and the rounds since. */
  #ceiling = 1
  #rounds = 0
  #shrunkAt = Number.NEGATIVE_INFINITY
  #meanMs: number | undefined
  #deviationMs = 0
  #slow = false
  /** Answers until this round ends. */
  #roundTarget = 1
  #roundAnswers = 0
  #roundSumMs = 0
  #roundSamples = 0
  /** Times of the best rounds of this half minute and of the one before. */
  #bestMs = Number.POSITIVE_INFINITY
  #bestBeforeMs = Number.POSITIVE_INFINITY
  #bestSince = 0
  /** Answers since this count began, and those of them that asked for less. */
  #answers = 0
  #pressed = 0

  constructor(bounds: ConcurrencyBounds) {
    this.#bounds = bounds
  }

  /** Records per batch on one connection. */
  get depth(): number {
    return Math.max(1, Math.min(Math.round(this.#depth), this.#bounds.maxDepth(), Math.floor(this.#limit)))
  }

  get connections(): number {
    const { depth } = this
    return Math.max(1, Math.min(Math.round(this.#limit / depth), this.#bounds.maxConnections, this.#mostUseful(depth)))
  }

  /**
   * Connections on which all records can be in flight that this thread could write in the time of a round trip. To a near server a few are
   * enough. Records on more of them would wait in the memory of both sides, and slow both down.
   */
  #mostUseful(depth: number): number {
    const bestMs = Math.min(this.#bestMs, this.#bestBeforeMs)
    return nearConnections + Math.ceil((bestMs * recordsPerMs) / depth)
  }

  /** Each round carries twice as many records as the one before: the rate so far says nothing about what is possible. */
  get isDoubling(): boolean {
    return this.#slowStart && this.#limit < this.#bounds.maxConnections * this.#bounds.maxDepth()
  }

  /** The service takes several requests on one connection. */
  get isDeep(): boolean {
    return this.#bounds.maxDepth() > 1
  }

  /** An answer that takes longer, in ms, is unusual for the service. */
  get longAnswerMs(): number {
    return 4 * (this.#meanMs ?? 0)
  }

  /** Begin again from one record in flight, as after an outage. */
  restart(): void {
    this.#limit = 1
    this.#depth = 1
    this.#slowStart = true
    this.#meanMs = undefined
    this.#deviationMs = 0
    this.#slow = false
    this.#beginRound()
  }

  add(sample: Sample): void {
    const { successes, firstAnswerMs, betweenAnswersMs, limited } = sample
    const isSign = this.#heedPressure(sample)
    if (firstAnswerMs === undefined) return

    this.#followDepth(firstAnswerMs, betweenAnswersMs)
    if (limited && !isSign) this.#grow(successes)
    this.#roundAnswers += successes
    this.#roundSumMs += firstAnswerMs
    this.#roundSamples++
    if (this.#roundAnswers >= this.#roundTarget) this.#endRound(sample)
  }

  /** True where the answers that ask for less are a sign of too much. */
  #heedPressure(sample: Sample): boolean {
    const { startedAt, successes, pressed, asksToWait } = sample
    // Answers to batches that left before a sign belong to it.
    if (startedAt < this.#shrunkAt) return pressed > 0
    this.#answers += successes + pressed
    this.#pressed += pressed
    const enough = Math.max(this.#limit, fewestAnswers)
    const isSign = asksToWait || (pressed > 0 && this.#pressed >= isolatedShare * enough)
    if (isSign) this.#shrink(sample, Math.max(leastLeft, Math.min(mostLeft, 1 - this.#pressed / this.#answers)))
    else if (this.#answers >= enough) this.#beginCount()
    return isSign
  }

  #beginCount(): void {
    this.#answers = 0
    this.#pressed = 0
  }

  #followDepth(firstAnswerMs: number, betweenAnswersMs: number | undefined): void {
    if (this.#bounds.maxDepth() === 1) return
    const lastsMs = Math.max(firstAnswerMs, batchMs)
    // One answer says nothing about the time between two: try two.
    const wanted = betweenAnswersMs === undefined ? 2 : 1 + lastsMs / Math.max(betweenAnswersMs, finestGapMs)
    if (betweenAnswersMs === undefined && this.#depth >= wanted) return
    const change = Math.min(wanted, this.#bounds.maxDepth()) - this.#depth
    this.#depth += this.#slowStart && change > 0 ? change : change / 4
  }

  #grow(successes: number): void {
    const most = this.#bounds.maxConnections * this.#bounds.maxDepth()
    if (this.#slowStart) {
      this.#limit = Math.min(most, this.#limit + successes)
      return
    }
    if (this.#slow) return
    this.#rounds += successes / this.#limit
    const curve = this.#ceiling * (1 + steepness * (this.#rounds - roundsToCeiling) ** 3)
    // Never faster than slow start, whatever the curve says.
    this.#limit = Math.min(most, Math.max(this.#limit, Math.min(curve, this.#limit + successes)))
  }

  #endRound(sample: Sample): void {
    const meanOfRound = this.#roundSumMs / this.#roundSamples
    // One round says nothing about how rounds differ: RFC 6298 begins with half of it.
    if (this.#meanMs === undefined) this.#deviationMs = meanOfRound / 2
    const excess = meanOfRound - (this.#meanMs ?? meanOfRound)
    const late = excess > 2.5 * this.#deviationMs + clockGrainMs
    this.#meanMs = (this.#meanMs ?? meanOfRound) + excess / 8
    this.#slow = excess > this.#deviationMs + clockGrainMs
    this.#deviationMs += (Math.abs(excess) - this.#deviationMs) / 4
    if (late || this.#queuesAtServer(meanOfRound, sample.endedAt)) this.#shrink(sample, shrinkTo)
    this.#beginRound()
  }

  #queuesAtServer(meanOfRound: number, now: number): boolean {
    if (now - this.#bestSince > halfMinuteMs) {
      this.#bestBeforeMs = this.#bestMs
      this.#bestMs = meanOfRound
      this.#bestSince = now
    }
    this.#bestMs = Math.min(this.#bestMs, meanOfRound)
    return meanOfRound > this.#bounds.patienceMs && meanOfRound > 2 * Math.min(this.#bestMs, this.#bestBeforeMs)
  }

  #beginRound(): void {
    this.#roundTarget = this.#limit
    this.#roundAnswers = 0
    this.#roundSumMs = 0
    this.#roundSamples = 0
  }

  #shrink({ startedAt, endedAt }: Sample, to: number): void {
    if (startedAt < this.#shrunkAt) return
    this.#slowStart = false
    const limit = Math.max(1, this.#limit * to)
    this.#ceiling = Math.min(this.#limit, limit / shrinkTo)
    this.#limit = limit
    // Depth shrinks first: as many connections as before, with less on each.
    this.#depth = Math.max(1, this.#depth * to)
    this.#rounds = 0
    this.#shrunkAt = endedAt
    this.#beginCount()
  }
}

/** Connections to a server that answers at once: while one waits for its answers, others are written. */
const nearConnections = 3
/** A thread writes no more. */
const recordsPerMs = 500
/** The share of the limit that is left after a slow round. */
const shrinkTo = 0.9
/** The same after answers that ask for less, by their share: at most, and at least. */
const mostLeft = 0.75
const leastLeft = 0.5
/** A smaller share of such answers is no sign: they come whatever the limit is, as from one bad server behind a balancer. */
const isolatedShare = 0.05
/** Fewer answers say nothing about a share. */
const fewestAnswers = 100
/** Rounds until the limit is back where the sign came. */
const roundsToCeiling = 8
/** With this steepness the curve begins at `shrinkTo` of the ceiling. */
const steepness = (1 - shrinkTo) / roundsToCeiling ** 3
/** Round trips that differ by less count as equal: event loops are no finer. */
const clockGrainMs = 1
const halfMinuteMs = 30_000
/** From the first answer of a batch to its last one, in ms: on a near server more connections would save no more than this. */
const batchMs = 20
/** The time between answers that come together, at least. */
const finestGapMs = 0.01
