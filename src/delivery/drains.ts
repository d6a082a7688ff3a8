import type { Clock } from '../runtime/clock.js'
import { Drain } from './drain.js'
import type { Lane } from './lane.js'
import type { Ledger } from './ledger.js'

export interface DrainsPlan {
  readonly lanes: readonly Lane[]
  readonly clock: Clock
  readonly stats: () => Ledger
}

/** The drains of one delivery that are under way. */
export class Drains {
  readonly open: ReadonlySet<Drain>
  readonly #open = new Set<Drain>()
  readonly #plan: DrainsPlan

  constructor(plan: DrainsPlan) {
    this.open = this.#open
    this.#plan = plan
  }

  /**
   * Every lane makes one attempt at once; with `last`, also where the service asks for a longer wait than is honoured, for nothing comes
   * after. Resolves with the ledger, at the deadline at the latest; `end` ends it before.
   */
  begin(timeoutMs: number, { last = false } = {}): { readonly ledger: Promise<Ledger>; readonly end: () => void } {
    const { lanes, clock, stats } = this.#plan
    const startedAt = clock.now()
    let end = () => {}
    const ledger = new Promise<Ledger>((resolve) => {
      end = () => {
        timer.cancel()
        this.#open.delete(drain)
        resolve(stats())
      }
    })
    const timer = clock.schedule(end, timeoutMs, true)
    const drain = new Drain({ lanes, startedAt, deadline: startedAt + timeoutMs, finish: end })
    this.#open.add(drain)
    for (const lane of lanes) {
      lane.lastChance ||= last
      lane.delayed.releaseNow({ last })
      lane.suspects.releaseNow({ last })
      lane.hold?.probeNow(lane)
      drain.check(lane)
      if (lane.hold !== undefined) drain.checkHold(lane, lane.hold)
    }
    return { ledger, end }
  }

  /** A lane has settled records, or suspects of it have failed: some drain may have what it waits for. */
  check(lane: Lane): void {
    for (const drain of this.#open) drain.check(lane)
  }
}
