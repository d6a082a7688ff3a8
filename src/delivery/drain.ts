import type { Lane } from './lane.js'

/** One `flush` or `close` under way: it waits for what each lane had accepted when it began, and for nothing later. */
export class Drain {
  readonly #waiting: Map<Lane, number>
  readonly #finish: () => void

  constructor(lanes: readonly Lane[], finish: () => void) {
    this.#waiting = new Map(lanes.map((lane) => [lane, lane.turnGeneration()]))
    this.#finish = finish
  }

  /** Look whether the lane has settled all that this drain waits for. */
  check(lane: Lane): void {
    const generation = this.#waiting.get(lane)
    if (generation !== undefined && lane.settledThrough(generation)) this.giveUp(lane)
  }

  /** Stop waiting for a lane: it made its attempt and is still paused. */
  giveUp(lane: Lane): void {
    if (this.#waiting.delete(lane) && this.#waiting.size === 0) this.#finish()
  }
}
