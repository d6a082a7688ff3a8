import type { Lane } from './lane.js'
import type { HeldRecord } from './record-queue.js'

/** After a search in vain, so many newcomers pass before the next one. */
const fruitlessRecords = 10_000

/** The records of lanes that may not send. When memory is full they go to the store, so that they keep no others out. */
export class WaitingRecords {
  readonly #lanes: readonly Lane[]
  readonly #leaves: (lane: Lane, record: HeldRecord) => boolean
  /** Newcomers until it is worth while to look again for records that can be parked. */
  #fruitless = 0

  /** @param leaves parks a record; false when the store does not have it */
  constructor(lanes: readonly Lane[], leaves: (lane: Lane, record: HeldRecord) => boolean) {
    this.#lanes = lanes
    this.#leaves = leaves
  }

  /** Park them. One stays in each lane as a probe. */
  park(): void {
    if (this.#fruitless > 0) {
      this.#fruitless--
      return
    }
    for (const lane of this.#lanes) if (lane.breaker !== undefined) this.#parkLane(lane)
  }

  #parkLane(lane: Lane): void {
    const { ready, probes } = lane
    const { tried } = probes
    let visited = 0
    let parked = 0
    const leaves = (record: HeldRecord) => {
      visited++
      if (!this.#leaves(lane, record)) return false
      parked++
      return true
    }
    const ofTried = ready.length > 0 ? tried.length : tried.length - 1
    for (const record of tried.leastSevere(ofTried)) if (leaves(record)) tried.remove(record)
    ready.visit(ready.length - 1, leaves)
    if (visited > 0 && parked === 0) this.#fruitless = fruitlessRecords
  }
}
