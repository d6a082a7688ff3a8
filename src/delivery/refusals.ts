import type { Trial } from '../log/segment.js'
import type { Lane } from './lane.js'
import { deliversLately, type Refusal, refusalsToPause } from './rules.js'

/** Records by the status with which they were refused. */
type Tally = Map<number, Set<Trial>>

/**
 * Refusals (403, 404, 412 and so on) since the service last took or judged a record. One alone may be the record's own fault. A second
 * record with the same status pauses the lane. Where there is no other record, the same one again does.
 */
export class Refusals {
  readonly #lanes: readonly Lane[]
  readonly #ofLanes = new Map<Lane, Tally>()
  /** Of records of all lanes, which share the key. */
  readonly #ofKey: Tally = new Map()

  constructor(lanes: readonly Lane[]) {
    this.#lanes = lanes
  }

  /** A record was refused. Returns the refusal that pauses the lane, or every lane of the key, when it is confirmed. */
  confirmed(
    refusal: Refusal,
    { lane, trial, now }: { readonly lane: Lane; readonly trial: Trial; readonly now: number },
  ): Refusal | undefined {
    const trials = this.#trials(refusal, lane)
    const again = trials.has(trial) && lane.ready === 0
    if (trials.add(trial).size < refusalsToPause(now - lane.lastSuccessAt) && !again) return undefined
    const otherDelivers = this.#lanes.some((each) => each !== lane && deliversLately(now - each.lastSuccessAt))
    // One record alone says nothing about other lanes.
    return trials.size > 1 && !otherDelivers ? refusal : { ...refusal, scope: 'lane' }
  }

  /** The service took a record of this lane, or judged one. */
  clear(lane: Lane): void {
    if (this.#ofKey.size > 0) this.#ofKey.clear()
    if (this.#ofLanes.size > 0) this.#ofLanes.delete(lane)
  }

  #trials({ scope, status }: Refusal, lane: Lane): Set<Trial> {
    let tally = scope === 'key' ? this.#ofKey : this.#ofLanes.get(lane)
    if (tally === undefined) {
      tally = new Map()
      this.#ofLanes.set(lane, tally)
    }
    let trials = tally.get(status)
    if (trials === undefined) {
      trials = new Set()
      tally.set(status, trials)
    }
    return trials
  }
}
