import type { RecordKind } from '../records/wire.js'
import type { Loop } from '../runtime/loop.js'
import type { WireEnd } from './wire.js'

/** A request for a slot. */
export interface Claim {
  /** The slot is taken: open a connection with it, and tell of its end, or release it. */
  granted(): void
}

/** An owner of connections. */
export interface Holder {
  /** End an idle connection. Returns false when there is none. */
  giveWay(): boolean
}

/** A connection that is dialled this much later reaches the server after the end of the one before. */
const hearingMs = 50
/** After the process has run out of file descriptors, a lane has fewer connections for this time. */
const scarceMs = 600_000

/**
 * The bound for the connections of one lane, whichever sender opens them. A connection counts from dialling until it is closed. When all
 * slots are taken, an idle connection is ended to make room. When the process has no file descriptor left, half of the connections are
 * given back: the application needs descriptors, too.
 */
export class ConnectionSlots {
  readonly #most: number
  readonly #loop: Loop
  readonly #claims = new Set<Claim>()
  readonly #holders = new Set<Holder>()
  /** The lanes of one engine. */
  readonly #lanes: Set<ConnectionSlots>
  #taken = 0
  #fewer = 0
  #scarceUntil = Number.NEGATIVE_INFINITY
  /** Connections that end as soon as they are idle. */
  #surplus = 0

  constructor(most: number, loop: Loop, lanes = new Set<ConnectionSlots>()) {
    this.#most = most
    this.#loop = loop
    this.#lanes = lanes.add(this)
  }

  /** True while a claim waits for a slot. */
  get short(): boolean {
    return this.#claims.size > 0
  }

  /** How many of a lane's idle connections have to end now, for want of file descriptors. */
  spare(connections: number): number {
    // Connections that broke meanwhile need not end.
    this.#surplus = Math.min(this.#surplus, Math.max(0, this.#taken - this.#fewer))
    const count = Math.min(connections, this.#surplus)
    this.#surplus -= count
    return count
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

  /** A connection with a slot is closed. The slot is free when the server has noticed that, too. */
  closed({ error, serverKnows }: WireEnd): void {
    if (isOutOfDescriptors(error)) for (const lane of this.#lanes) lane.#giveBack()
    const release = () => this.release()
    if (serverKnows) this.#loop.immediate(release)
    else this.#loop.schedule(release, hearingMs)
  }

  #giveBack(): void {
    const isScarce = this.#loop.now() < this.#scarceUntil
    // They are on their way.
    if (isScarce && this.#taken > this.#fewer) return
    this.#scarceUntil = this.#loop.now() + scarceMs
    this.#fewer = Math.max(1, this.#taken >> 1)
    this.#surplus = Math.max(0, this.#taken - this.#fewer)
    for (const holder of this.#holders) while (this.#surplus > 0 && holder.giveWay()) this.#surplus--
  }

  #grant(): void {
    const most = this.#loop.now() < this.#scarceUntil ? Math.min(this.#fewer, this.#most) : this.#most
    for (const claim of this.#claims) {
      if (this.#taken >= most) return
      this.#taken++
      this.#claims.delete(claim)
      claim.granted()
    }
  }
}

function isOutOfDescriptors(error: NodeJS.ErrnoException | undefined): boolean {
  const code = error?.code
  return code === 'EMFILE' || code === 'ENFILE'
}

/** Slots for each kind of record. The lanes never wait for each other's connections. */
export type LaneSlots = Readonly<Record<RecordKind, ConnectionSlots>>

export function laneSlots(most: number, loop: Loop): LaneSlots {
  const lanes = new Set<ConnectionSlots>()
  return { logs: new ConnectionSlots(most, loop, lanes), values: new ConnectionSlots(most, loop, lanes) }
}
