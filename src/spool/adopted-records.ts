import type { Room, StoreOwner } from '../delivery/store.js'
import type { Clock, Timer } from '../runtime/clock.js'
import type { Adoption } from './adoption.js'
import { signIntervalMs } from './folder-lock.js'
import type { Segment } from './segment.js'

/** The first look comes after a random time up to this: many processes that start together do not all look, and send, at once. */
const maxDelayMs = 2000
const turnMs = 100
/** At most a thousand a second. */
const recordsPerTurn = 100

export interface AdoptedRecordsPlan {
  readonly adoption: Adoption
  readonly clock: Clock
  readonly random: () => number
  readonly lanes: number
  readonly owner: StoreOwner
  /** Before each look: say that this engine lives. */
  readonly live: () => void
  /** A segment cannot be read: it stays for the next engine, or for a person. */
  readonly unreadable: (error: unknown) => void
  /** A segment was read, and what it holds is ours. */
  readonly recovered: (segment: Segment, facts: { readonly damaged: number; readonly newest: number }) => void
  /** Give records of a lane that dead engines left to delivery, as far as there is room; the answer is how many there were. */
  readonly feed: (lane: number, room: Room) => number
}

/** Looks for what dead engines have left, again and again, and gives it to delivery: slowly, and while no new record waits. */
export class AdoptedRecords {
  readonly #plan: AdoptedRecordsPlan
  readonly #timers = new Map<'look' | 'feed', Timer>()
  #closed = false

  constructor(plan: AdoptedRecordsPlan) {
    this.#plan = plan
    this.#schedule('look', plan.random() * maxDelayMs, () => this.#look())
  }

  close(): void {
    this.#closed = true
    for (const timer of this.#timers.values()) timer.cancel()
    this.#timers.clear()
  }

  async #look(): Promise<void> {
    this.#plan.live()
    for (const segment of this.#plan.adoption.look()) {
      try {
        const facts = await segment.recover()
        // Else it stays in this engine's folder, for the next one.
        if (this.#closed) return
        this.#plan.recovered(segment, facts)
      } catch (error) {
        this.#plan.unreadable(error)
      }
    }
    // Also where nothing new was found: what could not be read back then may be read now.
    if (!this.#closed && !this.#timers.has('feed')) this.#feed()
    this.#schedule('look', signIntervalMs, () => this.#look())
  }

  #feed(): void {
    const { lanes, owner, feed } = this.#plan
    let left = recordsPerTurn
    let waiting = false
    for (let lane = 0; lane < lanes; lane++) {
      const room = owner.room(lane)
      if (room.records === 0) waiting = true
      else if (left > 0) left -= feed(lane, { ...room, records: Math.min(left, room.records) })
    }
    if (waiting || left < recordsPerTurn) this.#schedule('feed', turnMs, () => this.#feed())
  }

  #schedule(name: 'look' | 'feed', delayMs: number, task: () => void): void {
    if (this.#closed) return
    const run = () => {
      this.#timers.delete(name)
      task()
    }
    this.#timers.set(name, this.#plan.clock.schedule(run, delayMs))
  }
}
