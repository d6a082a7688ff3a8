import type { Duplex } from 'node:stream'
import type { RecordKind } from '../records/wire.js'
import { type Clock, setImmediate } from '../runtime/clock.js'

/** A request for a slot. */
export interface Claim {
  /** The slot is taken: open a connection with it, or release it. */
  granted(): void
}

/** An owner of connections. */
export interface Holder {
  /** End an idle connection. Returns false when there is none. */
  giveWay(): boolean
}

/** A connection that is dialled this much later reaches the server after the end of the one before. */
const hearingMs = 50

/**
 * The bound for the connections of one lane, whichever sender opens them. A connection counts from dialling until it is closed. When all
 * slots are taken, an idle connection is ended to make room.
 */
export class ConnectionSlots {
  readonly #most: number
  readonly #clock: Clock
  readonly #claims = new Set<Claim>()
  readonly #holders = new Set<Holder>()
  #taken = 0

  constructor(most: number, clock: Clock) {
    this.#most = most
    this.#clock = clock
  }

  /** True while a claim waits for a slot. */
  get short(): boolean {
    return this.#claims.size > 0
  }

  attend(holder: Holder): void {
    this.#holders.add(holder)
  }

  claim(claim: Claim): void {
    this.#claims.add(claim)
    this.#grant()
    if (!this.#claims.has(claim)) return
    for (const holder of this.#holders) if (holder.giveWay()) return
  }

  withdraw(claim: Claim): void {
    this.#claims.delete(claim)
  }

  /** Return a slot that was not used. */
  release(): void {
    this.#taken--
    this.#grant()
  }

  /** Use the slot for this connection, until it is closed and the server has noticed that. */
  hold(socket: Duplex): void {
    socket.once('close', () => {
      const release = () => this.release()
      if (serverKnows(socket)) setImmediate(release)
      else this.#clock.schedule(release, hearingMs)
    })
  }

  #grant(): void {
    for (const claim of this.#claims) {
      if (this.#taken >= this.#most) return
      this.#taken++
      this.#claims.delete(claim)
      claim.granted()
    }
  }
}

/** True when the server has ended the connection itself, or there never was one. */
function serverKnows({ readableEnded, errored }: Duplex): boolean {
  return readableEnded || (errored as NodeJS.ErrnoException | null)?.syscall !== undefined
}

/** Slots for each kind of record. The lanes never wait for each other's connections. */
export type LaneSlots = Readonly<Record<RecordKind, ConnectionSlots>>

export function laneSlots(most: number, clock: Clock): LaneSlots {
  return { logs: new ConnectionSlots(most, clock), values: new ConnectionSlots(most, clock) }
}
