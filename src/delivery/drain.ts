import type { Hold } from './hold.js'
import type { Lane } from './lane.js'

/** One `flush` or `close` under way: it waits for what each lane had accepted when it began, and for nothing later. */
export class Drain {
  /** On the clock. */
  readonly startedAt: number
  readonly deadline: number
  readonly #waiting: Map<Lane, number>
  readonly #finish: () => void

  constructor(plan: {
    readonly lanes: readonly Lane[]
    readonly startedAt: number
    readonly deadline: number
    readonly finish: () => void
  }) {
    this.startedAt = plan.startedAt
    this.deadline = plan.deadline
    this.#waiting = new Map(plan.lanes.map((lane) => [lane, lane.turnGeneration()]))
    this.#finish = plan.finish
  }

  /** Look whether the lane has settled all that this drain waits for, but for suspects that had their attempt. */
  check(lane: Lane): void {
    const generation = this.#waiting.get(lane)
    if (generation === undefined) return
    const left = lane.outstandingThrough(generation)
    const { suspects } = lane
    if (left === 0 || (left <= suspects.length && left === suspects.givenUp(generation, this))) this.giveUp(lane)
  }

  /** Look whether the service asked for more patience than this drain has. */
  checkHold(lane: Lane, hold: Hold): void {
    if (hold.wait.notBefore > this.deadline && !lane.probing) this.giveUp(lane)
  }

  /** Stop waiting for a lane: it made its attempt and is still paused, or may make none in time. */
  giveUp(lane: Lane): void {
    if (this.#waiting.delete(lane) && this.#waiting.size === 0) this.#finish()
  }
}
