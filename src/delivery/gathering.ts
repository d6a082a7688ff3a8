import type { Lane } from './lane.js'
import type { DeliveryPlan } from './plan.js'
import type { Turn } from './turn.js'

/** As many bytes do not wait: to send more of them at once saves nothing. */
const mostBytes = 65_536

interface GatheringPlan extends Pick<DeliveryPlan, 'lingerMs' | 'maxBatch'> {
  readonly turn: Turn
  /** True while at least half of the room in memory is free. */
  readonly isRoomy: () => boolean
}

/**
 * Lets what comes soon after a send wait, so that it goes out together: the `linger.ms` of Kafka's clients, but the first record after a pause goes
 * out at once. A lane gathers from the moment at which it has sent all that it had: until the time is over, a batch is full, memory is half full or a
 * drain begins. Then it sends until it has nothing left.
 */
export class Gathering {
  readonly #plan: GatheringPlan

  constructor(plan: GatheringPlan) {
    this.#plan = plan
  }

  /** The lane has sent. */
  sent(lane: Lane): void {
    const { turn, lingerMs } = this.#plan
    if (lane.ready > 0 || lingerMs === 0) return
    lane.gatherUntil(turn.now + lingerMs)
  }

  /** True while the lane's new records wait for others. */
  waits({ gathersUntil, gatheredBytes, ready }: Lane, now: number): boolean {
    const { turn, maxBatch, isRoomy } = this.#plan
    return gathersUntil > now && !turn.isDraining && ready < maxBatch && gatheredBytes < mostBytes && isRoomy()
  }

  /** The same in this step. Where they do not wait, the lane sends until it has nothing left. */
  holds(lane: Lane): boolean {
    const waits = this.waits(lane, this.#plan.turn.now)
    if (!waits) lane.endGathering()
    return waits
  }
}
