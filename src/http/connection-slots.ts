import type { Socket } from 'node:net'
import type { RecordKind } from '../records/wire.js'
import { setImmediate, systemClock } from '../runtime/clock.js'

/** Somebody who wants to open a connection. */
export interface Claim {
  /** There is room for one: it is open, or the slot released, from now on. */
  granted(): void
}

/** Somebody who holds connections, and may have one that is not in use. */
export interface Holder {
  /** End one that is idle. False when there is none. */
  giveWay(): boolean
}

/** A server hears of the end of a connection before it hears of one that is dialled so much later. */
const hearingMs = 50

/**
 * The connections that one lane may have at the same time, whichever sender opens them. A connection counts from the moment at which it is
 * dialled until it is closed: one that is given up makes room for the next only then. Where all are taken, one that is idle gives way.
 */
export class ConnectionSlots {
  readonly #most: number
  readonly #claims = new Set<Claim>()
  readonly #holders = new Set<Holder>()
  #taken = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Somebody waits for a slot. */
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

  /** Nothing was dialled after all. */
  release(): void {
    this.#taken--
    this.#grant()
  }

  /** This connection has a slot until it is closed, and the server has heard of that. */
  hold(socket: Socket): void {
    socket.once('close', () => {
      const release = () => this.release()
      if (serverKnows(socket)) setImmediate(release)
      else systemClock.schedule(release, hearingMs)
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

/** It has ended the connection itself, or there never was one. */
function serverKnows({ readableEnded, errored }: Socket): boolean {
  return readableEnded || (errored as NodeJS.ErrnoException | null)?.syscall !== undefined
}

/** Slots for the lanes of each kind: they never wait for each other's connections. */
export type LaneSlots = Readonly<Record<RecordKind, ConnectionSlots>>

export function laneSlots(most: number): LaneSlots {
  return { logs: new ConnectionSlots(most), values: new ConnectionSlots(most) }
}
