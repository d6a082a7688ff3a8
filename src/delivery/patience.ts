import type { Flight, Lane, Way } from './lane.js'
import type { DeliveryPlan } from './plan.js'
import { patienceMs } from './rules.js'
import type { Sender } from './sender.js'
import type { Turn } from './turn.js'

interface PatiencePlan extends Pick<DeliveryPlan, 'requestTimeoutMs'> {
  readonly turn: Turn
  /** The one that sends now. */
  readonly sender: Pick<Sender, 'carriage'>
}

/** A request that may be lost is sent once more after this time. */
const raceMs = 500

/** How long what is in flight may wait for its answer before something else is tried. */
export class Patience {
  readonly #plan: PatiencePlan

  constructor(plan: PatiencePlan) {
    this.#plan = plan
  }

  /** Requests that have waited for an answer longer than patience allows. */
  overdue(lane: Lane): { readonly proven: Readonly<Record<Way, number>>; readonly unproven: boolean } {
    const proven = { batch: 0, probe: 0, alone: 0 }
    let unproven = false
    for (const flight of lane.flights) {
      if (this.overdueAt(lane, flight) > this.#plan.turn.now) continue
      if (lane.settled > flight.settledBefore) proven[flight.way]++
      else unproven = true
    }
    return { proven, unproven }
  }

  /** On the clock: an answer that takes longer holds up its connection, and no other. A drain has less patience, from its beginning on. */
  overdueAt({ window }: Lane, { waitsSince }: Flight): number {
    const { requestTimeoutMs, turn } = this.#plan
    const usual = waitsSince + Math.max(patienceMs(requestTimeoutMs, { draining: false }), window.longAnswerMs)
    if (!turn.isDraining) return usual
    const patience = Math.max(patienceMs(requestTimeoutMs, { draining: true }), window.longAnswerMs)
    return Math.min(usual, Math.max(waitsSince, turn.drainsSince) + patience)
  }

  /** On the clock: when the next probe in flight has waited long; infinity when all have. */
  probeOverdueAt(lane: Lane): number {
    let next = Number.POSITIVE_INFINITY
    for (const flight of lane.flights) {
      const at = this.overdueAt(lane, flight)
      if (flight.way === 'probe' && at > this.#plan.turn.now) next = Math.min(next, at)
    }
    return next
  }

  /** On the clock: when the flight is sent once more; infinity when it is not. */
  raceAt(lane: Lane, flight: Flight): number {
    const mayBeLost = flight.isDoubtful || (this.#plan.turn.isDraining && flight.batch.connection === 'any')
    if (flight.raced || !mayBeLost || this.#plan.sender.carriage(lane.name.kind).repeatable !== true) {
      return Number.POSITIVE_INFINITY
    }
    return flight.waitsSince + Math.max(raceMs, lane.window.longAnswerMs)
  }
}
