import type { DropReason } from './ledger.js'

/** Records that a lane gave up since it last said so. */
export interface Losses {
  readonly byReason: ReadonlyMap<DropReason, number>
  /** First and last of them, on the clock. */
  readonly sinceMs: number
  readonly untilMs: number
}

/** Adds up what a lane gives up, until there is an occasion to say so in the lane itself. */
export class LossTally {
  #byReason = new Map<DropReason, number>()
  #sinceMs = 0
  #untilMs = 0
  #toldAt = Number.NEGATIVE_INFINITY

  add({ reason, count = 1 }: { readonly reason: DropReason; readonly count?: number }, now: number): void {
    if (this.#byReason.size === 0) this.#sinceMs = now
    this.#untilMs = now
    this.#byReason.set(reason, (this.#byReason.get(reason) ?? 0) + count)
  }

  /** What is to be told, at most once a minute; undefined when there is nothing. */
  take(now: number): Losses | undefined {
    if (this.#byReason.size === 0 || now - this.#toldAt < quietMs) return undefined
    const losses = { byReason: this.#byReason, sinceMs: this.#sinceMs, untilMs: this.#untilMs }
    this.#byReason = new Map()
    this.#toldAt = now
    return losses
  }
}

const quietMs = 60_000
