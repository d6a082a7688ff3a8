import type { Clock } from '../runtime/clock.js'
import type { Hold } from './breaker.js'
import type { Lane } from './lane.js'
import type { Ledger } from './ledger.js'

/** One `flush` or `close` under way: it waits for what each lane had accepted when it began, and for nothing later. */
export class Drain {
  /** On the clock. */
  readonly startedAt: number
  readonly deadline: number
  readonly #waiting: Map<Lane, number>
  readonly #finish: () => void

  constructor(plan: {
    readonly lanes: readonly Lane[]
    readonly startedAt: number
    readonly deadline: number
    readonly finish: () => void
  }) {
    this.startedAt = plan.startedAt
    this.deadline = plan.deadline
    this.#waiting = new Map(plan.lanes.map((lane) => [lane, lane.turnGeneration()]))
    this.#finish = plan.finish
  }

  /** Look whether the lane has settled all that this drain waits for, but for suspects that had their attempt. */
  check(lane: Lane): void {
    const generation = this.#waiting.get(lane)
    if (generation === undefined) return
    const left = lane.outstandingThrough(generation)
    const { suspects } = lane
    if (left === 0 || (left <= suspects.length && left === suspects.givenUp(generation, this))) this.giveUp(lane)
  }

  /** Look whether the service asked for more patience than this drain has. */
  checkHold(lane: Lane, hold: Hold): void {
    if (hold.wait.notBefore > this.deadline && !lane.probing) this.giveUp(lane)
  }

  /** Stop waiting for a lane: it made its attempt and is still paused, or may make none in time. */
  giveUp(lane: Lane): void {
    if (this.#waiting.delete(lane) && this.#waiting.size === 0) this.#finish()
  }
}

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
