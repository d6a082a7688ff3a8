import type { Outcome } from '../../delivery/sender.js'
import type { Place, Storable, Store } from '../../delivery/store.js'
import type { RecordsToSend, SentPlace } from './records-to-send.js'

/** What became of the records that were sent. */
export interface ReplayAccount {
  delivered: number
  /** By what the service said of them. */
  readonly rejected: Map<string, number>
}

/** The files that are replayed, as delivery sees them: what is delivered is taken out, everything else stays. */
export class ReplayStore implements Store {
  readonly lossReason = 'shutdown'
  readonly account: ReplayAccount = { delivered: 0, rejected: new Map() }
  readonly #records: RecordsToSend
  readonly #settled: (place: SentPlace) => void

  constructor(records: RecordsToSend, settled: (place: SentPlace) => void) {
    this.#records = records
    this.#settled = settled
  }

  keep(): undefined {}

  look(): void {}

  park(): boolean {
    return true
  }

  unpark(): readonly [] {
    return []
  }

  settle(place: Place): boolean {
    const sent = place as SentPlace
    if (!sent.rejected) {
      this.account.delivered++
      this.#records.delivered(sent)
    }
    this.#settled(sent)
    return true
  }

  reject(
    _lane: number,
    { place }: Storable & { readonly place: Place | undefined },
    { reason }: Outcome & { type: 'rejected' },
  ): void {
    ;(place as SentPlace).rejected = true
    const { rejected } = this.account
    // The first few reasons are enough for a person.
    const key = rejected.has(reason) || rejected.size < maxReasons ? reason : 'other reasons'
    rejected.set(key, (rejected.get(key) ?? 0) + 1)
  }

  close(): void {}
}

const maxReasons = 10
