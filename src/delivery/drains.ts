import type { Clock } from './clock.js'
import { Drain } from './drain.js'
import type { Lane } from './lane.js'
import type { Ledger } from './ledger.js'

/** The drains of one delivery that are under way. */
export class Drains {
  readonly open: ReadonlySet<Drain>
  readonly #open = new Set<Drain>()
  readonly #lanes: readonly Lane[]
  readonly #clock: Clock
  readonly #stats: () => Ledger

  constructor(plan: { readonly lanes: readonly Lane[]; readonly clock: Clock; readonly stats: () => Ledger }) {
    this.open = this.#open
    this.#lanes = plan.lanes
    this.#clock = plan.clock
    this.#stats = plan.stats
  }

  /** Every lane makes one attempt at once. Resolves with the ledger, at the deadline at the latest; `end` ends it before. */
  begin(timeoutMs: number): { readonly ledger: Promise<Ledger>; readonly end: () => void } {
    let end = () => {}
    const ledger = new Promise<Ledger>((resolve) => {
      end = () => {
        timer.cancel()
        this.#open.delete(drain)
        resolve(this.#stats())
      }
    })
    const timer = this.#clock.schedule(end, timeoutMs, true)
    const drain = new Drain({ lanes: this.#lanes, deadline: this.#clock.now() + timeoutMs, finish: end })
    this.#open.add(drain)
    for (const lane of this.#lanes) {
      lane.delayed.releaseNow()
      lane.hold?.probeNow(lane)
      drain.check(lane)
      if (lane.hold !== undefined) drain.checkHold(lane, lane.hold)
    }
    return { ledger, end }
  }

  /** A lane has settled records: some drain may have what it waits for. */
  check(lane: Lane): void {
    for (const drain of this.#open) drain.check(lane)
  }
}
