/** One look at a lane in the last drain. */
export interface Look {
  /** On the clock, as are `since` and `until`: the times of the drain. */
  readonly now: number
  readonly since: number
  readonly until: number
  /** Records of the lane that are settled so far, and records that wait to be sent. */
  readonly settled: number
  readonly left: number
  /** Each round is faster than the one before: nothing can be said of the rate. */
  readonly isDoubling: boolean
}

/** Says of a lane in the last drain whether what is left will not make the deadline at the rate at which its records are settled. */
export class Pace {
  /** Where the measurement began. */
  #from: Pick<Look, 'now' | 'settled'> | undefined

  isTooSlow({ now, since, until, settled, left, isDoubling }: Look): boolean {
    const allMs = until - since
    // With little time left even a poor measurement has to do, and so has none at all.
    const isUrgent = until - now < allMs / 4
    if (this.#from === undefined || (isDoubling && !isUrgent)) this.#from = { now, settled }
    const measuredMs = now - this.#from.now
    if (measuredMs < allMs / 16) return false
    const done = settled - this.#from.settled
    return (done > 0 || isUrgent) && left * measuredMs > done * (until - now)
  }
}
