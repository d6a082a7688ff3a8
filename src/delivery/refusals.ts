import type { Refusal } from './failure.js'
import type { Lane } from './lane.js'
import type { Pending } from './record-queue.js'

/** A lane that delivered so short a time ago is paused by three records: two bad ones may well stand in a row. */
const latelyMs = 60_000

/** Records by the status with which they were refused. */
type Tally = Map<number, Set<Pending>>

/**
 * Refusals (403, 404, 412 and so on) since the service last took or judged a record. One alone may be the record's own fault. A second
 * record with the same status pauses the lane; where there is no other record, the same one again does.
 */
export class Refusals {
  readonly #lanes: readonly Lane[]
  readonly #ofLanes = new Map<Lane, Tally>()
  /** Of records of all lanes, for they share the key. */
  readonly #ofKey: Tally = new Map()

  constructor(lanes: readonly Lane[]) {
    this.#lanes = lanes
  }

  /** A record was refused. Returns the refusal that pauses the lane, or every lane of the key, when it is confirmed. */
  confirmed(
    refusal: Refusal,
    { lane, record, now }: { lane: Lane; record: Pending; now: number },
  ): Refusal | undefined {
    const records = this.#records(refusal, lane)
    const again = records.has(record) && lane.ready.length === 0
    const lately = (each: Lane) => now - each.lastSuccessAt < latelyMs
    if (records.add(record).size < (lately(lane) ? 3 : 2) && !again) return undefined
    // One record alone says nothing about other lanes, nor do several where the service takes those of others.
    const ofKey = records.size > 1 && !this.#lanes.some((each) => each !== lane && lately(each))
    return ofKey ? refusal : { ...refusal, scope: 'lane' }
  }

  /** The service took a record of this lane, or judged one. */
  clear(lane: Lane): void {
    if (this.#ofKey.size > 0) this.#ofKey.clear()
    if (this.#ofLanes.size > 0) this.#ofLanes.delete(lane)
  }

  #records({ scope, status }: Refusal, lane: Lane): Set<Pending> {
    let tally = scope === 'key' ? this.#ofKey : this.#ofLanes.get(lane)
    if (tally === undefined) {
      tally = new Map()
      this.#ofLanes.set(lane, tally)
    }
    let records = tally.get(status)
    if (records === undefined) {
      records = new Set()
      tally.set(status, records)
    }
    return records
  }
}
