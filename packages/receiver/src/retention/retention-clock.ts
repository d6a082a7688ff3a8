import { type Clocks, steadyTime, systemClocks } from '../storage/steady-time.js'

/** A smaller lead of the wall clock is the correction of a clock that is right. */
const toleratedMs = 60_000

/**
 * The time by which records get old. A wall clock that is set back counts at once: nothing gets old too early by that. One that is set forward
 * counts after a time of grace, in which somebody may set it right.
 */
export class RetentionClock {
  readonly #clocks: Clocks
  readonly #graceMs: number
  #steady: () => number
  /** Steady time since which the wall clock is ahead. */
  #aheadSince: number | undefined

  constructor({ graceMs, clocks = systemClocks }: { readonly graceMs: number; readonly clocks?: Clocks | undefined }) {
    this.#clocks = clocks
    this.#graceMs = graceMs
    this.#steady = steadyTime(clocks)
  }

  /** Time since 1970, in ms. */
  now(): number {
    const wall = this.#clocks.wall()
    const steady = this.#steady()
    if (wall - steady < toleratedMs) {
      this.#aheadSince = undefined
      return Math.min(wall, steady)
    }
    this.#aheadSince ??= steady
    if (steady - this.#aheadSince < this.#graceMs) return steady
    this.#steady = steadyTime(this.#clocks)
    return wall
  }
}
