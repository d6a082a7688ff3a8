import type { Hold } from './hold.js'
import type { Lane } from './lane.js'

/** One `flush` or `close` under way: it waits for what each lane had accepted when it began, and for nothing later. */
export class Drain {
  readonly #deadline: number
  readonly #waiting: Map<Lane, number>
  readonly #finish: () => void

  constructor(plan: { readonly lanes: readonly Lane[]; readonly deadline: number; readonly finish: () => void }) {
    this.#deadline = plan.deadline
    this.#waiting = new Map(plan.lanes.map((lane) => [lane, lane.turnGeneration()]))
    this.#finish = plan.finish
  }

  /** Look whether the lane has settled all that this drain waits for. */
  check(lane: Lane): void {
    const generation = this.#waiting.get(lane)
    if (generation !== undefined && lane.settledThrough(generation)) this.giveUp(lane)
  }

  /** Look whether the service asked for more patience than this drain has. */
  checkHold(lane: Lane, hold: Hold): void {
    if (hold.notBefore > this.#deadline) this.giveUp(lane)
  }

  /** Stop waiting for a lane: it made its attempt and is still paused, or may make none in time. */
  giveUp(lane: Lane): void {
    if (this.#waiting.delete(lane) && this.#waiting.size === 0) this.#finish()
  }
}
