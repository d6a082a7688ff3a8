import { subscribe } from 'node:diagnostics_channel'
import type { RejectedMessage } from '../diagnostics/channel-messages.js'
import { systemClock, type Timer } from '../runtime/clock.js'

/** Rejected records that are held, at most. */
const maxHeld = 100
/** Other threads hear of rejected records this often, at most. */
const gatherMs = 100

/** The last rejected records of the process: those of this thread come by `node:diagnostics_channel`, those of others by messages. */
export class RecentRejections {
  readonly #tellOthers: (rejected: readonly RejectedMessage[]) => void
  #held: readonly RejectedMessage[] = []
  /** Records of this thread of which the others have not heard. */
  #news: RejectedMessage[] = []
  #timer: Timer | undefined

  constructor(tellOthers: (rejected: readonly RejectedMessage[]) => void) {
    this.#tellOthers = tellOthers
    subscribe('sluice:rejected', (message) => this.#add(message as RejectedMessage))
  }

  /** The newest is last. */
  get list(): readonly RejectedMessage[] {
    return this.#held
  }

  /** Take what another thread has told. */
  receive(rejected: readonly RejectedMessage[]): void {
    this.#held = [...this.#held, ...rejected].sort((a, b) => a.at - b.at).slice(-maxHeld)
  }

  /** Tell other threads at once. */
  tell(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    if (this.#news.length === 0) return
    this.#tellOthers(this.#news)
    this.#news = []
  }

  #add(message: RejectedMessage): void {
    // An older copy of the package leaves the record and the time out.
    if (!Number.isFinite(message.at)) return
    this.receive([message])
    this.#news.push(message)
    if (this.#news.length > maxHeld) this.#news.shift()
    this.#timer ??= systemClock.schedule(() => this.tell(), gatherMs)
  }
}
