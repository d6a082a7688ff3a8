import type { Backing } from '../../log/backing.js'
import type { Segment, SegmentFile } from '../../log/segment.js'
import { Rejections } from '../rejections.js'
import type { RecordsToSend, SentPlace } from './records-to-send.js'

/** The answers of the service. */
export interface ReplayAccount {
  delivered: number
  readonly rejected: Rejections
}

/**
 * The files of a replay as the backing of a delivery: the records that it holds in memory stand in files already, and stay there until they
 * are delivered. Records that are rejected, or left when it ends, stay for good.
 */
export class RecordsInMemory implements Backing {
  readonly takes = true
  readonly lossReason = 'shutdown'
  readonly account: ReplayAccount = { delivered: 0, rejected: new Rejections() }
  readonly #records: RecordsToSend
  readonly #settled: (place: SentPlace) => void
  readonly #places = new Map<Segment, SentPlace[]>()
  readonly #rejected = new Set<SentPlace>()

  /** @param settled called with each record that is delivered or rejected */
  constructor(records: RecordsToSend, settled: (place: SentPlace) => void) {
    this.#records = records
    this.#settled = settled
  }

  open(segment: Segment): SegmentFile {
    const places: SentPlace[] = []
    this.#places.set(segment, places)
    return {
      // None is read again: the bound of the memory is never reached, and nothing is sent once they have left it.
      load: () => 'later',
      settled: (index, count) => {
        for (const place of places.slice(index, index + count)) this.#settle(place)
      },
      remove: () => void this.#places.delete(segment),
    }
  }

  /** The place of the record that was added to a segment last. */
  add(segment: Segment, place: SentPlace): void {
    this.#places.get(segment)!.push(place)
  }

  commit(): void {
    for (const segment of this.#places.keys()) segment.log.written(segment, segment.count)
  }

  rejected(_lane: number, { ref, rejection }: Parameters<Backing['rejected']>[1]): void {
    this.#rejected.add(this.#places.get(ref.segment)![ref.index]!)
    this.account.rejected.add(rejection.reason)
  }

  #settle(place: SentPlace): void {
    if (!this.#rejected.delete(place)) {
      this.account.delivered++
      this.#records.delivered(place)
    }
    this.#settled(place)
  }
}
