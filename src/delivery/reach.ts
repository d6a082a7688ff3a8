import type { Clock } from '../runtime/clock.js'
import type { ServiceReach } from '../runtime/shared-reach.js'
import type { Failure } from './rules.js'

/** Where the service was never reached, all brief drains together take this time, in milliseconds. */
export const briefMs = 300

/**
 * Knows if the service was ever reached. While every connection was refused, nothing listens at its address, as on a developer's machine
 * without a receiver: an end of the process that waited for it would only be slow.
 */
export class Reach {
  readonly #clock: Pick<Clock, 'now'>
  readonly #tell: () => void
  readonly #shared: ServiceReach | undefined
  #isReached = false
  #isRefused = false
  #isTold = false
  #briefUntil: number | undefined

  /**
   * @param plan `tell` is called at the first refusal, if the service was not reached before; `service`: what others know of it
   */
  constructor(plan: {
    readonly clock: Pick<Clock, 'now'>
    readonly tell?: () => void
    readonly service?: ServiceReach | undefined
  }) {
    this.#clock = plan.clock
    this.#shared = plan.service
    this.#tell = plan.tell ?? (() => {})
  }

  /** True while the last connection was refused and no request has ever left. */
  get isNowhere(): boolean {
    return this.#isRefused && !this.#isReached && this.#shared?.isReached !== true
  }

  /** On the clock: the moment after which brief drains wait no longer, while nothing listens. */
  get briefUntil(): number {
    return this.isNowhere ? this.endsBriefAt : Number.POSITIVE_INFINITY
  }

  /** On the clock: the end of the time of brief drains, if nothing listens then. */
  get endsBriefAt(): number {
    return this.#briefUntil ?? Number.POSITIVE_INFINITY
  }

  /** True when brief drains wait no longer. */
  get isGivenUp(): boolean {
    return this.#clock.now() >= this.briefUntil
  }

  /** A brief drain begins. The time of the first one counts for those that follow. */
  beginBrief(): void {
    this.#briefUntil ??= this.#clock.now() + briefMs
  }

  /** The service has taken or judged a record. */
  succeeded(): void {
    if (!this.#isReached) this.#reached()
  }

  failed(outcome: Failure): void {
    if (this.#isReached) return
    if (outcome.type !== 'retry' || outcome.exchange !== 'unsent') this.#reached()
    this.#isRefused = outcome.type === 'retry' && outcome.refused === true
    if (this.#isTold || !this.isNowhere) return
    this.#isTold = true
    this.#tell()
  }

  #reached(): void {
    this.#isReached = true
    this.#shared?.reached()
  }
}
