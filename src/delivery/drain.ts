import type { Clock, Timer } from '../runtime/clock.js'
import type { Lane } from './lane.js'
import type { Ledger } from './ledger.js'
import { briefMs, type Reach } from './reach.js'
import type { Wait } from './rules.js'

/** The time of a flush. */
export interface FlushTime {
  readonly timeoutMs: number
  /** True where the process stays alive until the end of the flush. @default true */
  readonly holdsProcess?: boolean | undefined
  /** True where a service at whose address nothing has ever listened is not waited for. @default false */
  readonly brief?: boolean | undefined
}

/** A `flush` or `close` under way. It waits for what each lane had accepted when it began, and for nothing later. */
export class Drain {
  /** On the clock. */
  readonly startedAt: number
  readonly deadline: number
  /** Nothing comes after it. */
  readonly last: boolean
  /** Undefined where the service is waited for in any case. */
  readonly #reach: Reach | undefined
  readonly #waiting: Map<Lane, number>
  readonly #finish: () => void
  #hasFailed = false

  constructor(plan: {
    readonly lanes: readonly Lane[]
    readonly startedAt: number
    readonly deadline: number
    readonly last: boolean
    readonly reach: Reach | undefined
    readonly finish: () => void
  }) {
    this.startedAt = plan.startedAt
    this.deadline = plan.deadline
    this.last = plan.last
    this.#reach = plan.reach
    this.#waiting = new Map(plan.lanes.map((lane) => [lane, lane.outstanding.turn()]))
    this.#finish = plan.finish
  }

  /** Give the lane up once all that this drain waits for is settled, except for suspects that had their attempts. */
  check(lane: Lane): void {
    const generation = this.#waiting.get(lane)
    if (generation === undefined) return
    const left = lane.outstanding.through(generation)
    const { suspects } = lane
    if (left === 0 || (left <= suspects.length && left === suspects.givenUp(generation, this))) this.giveUp(lane)
  }

  /** Give the lane up when the service asks to wait beyond the deadline. */
  checkWait(lane: Lane, { notBefore }: Wait): void {
    if (notBefore > this.deadline && !lane.probing) this.giveUp(lane)
  }

  /** An attempt has failed again. Give all up where nothing listens and the time of brief drains is over. */
  attemptFailed(): void {
    this.#hasFailed = true
    this.endIfBrief()
  }

  /** Give all up where nothing listens, this drain has seen it itself, and the time of brief drains is over. */
  endIfBrief(): void {
    if (this.#hasFailed && this.#reach?.isGivenUp) this.end()
  }

  /** Resolve now. */
  end(): void {
    this.#finish()
  }

  /** Stop waiting for a lane. */
  giveUp(lane: Lane): void {
    if (this.#waiting.delete(lane) && this.#waiting.size === 0) this.#finish()
  }
}

/** The drains of one delivery that are under way. */
export class Drains {
  readonly open: ReadonlySet<Drain>
  readonly #open = new Set<Drain>()
  readonly #clock: Clock
  readonly #reach: Reach
  readonly #stats: () => Ledger

  constructor({ clock, reach, stats }: { readonly clock: Clock; readonly reach: Reach; readonly stats: () => Ledger }) {
    this.open = this.#open
    this.#clock = clock
    this.#reach = reach
    this.#stats = stats
  }

  /**
   * Make one attempt at once in every lane. Nothing comes after the `last` drain: it also makes one where the service asks for a longer
   * wait than is honoured. The ledger resolves at the deadline at the latest, and before it when `end` is called.
   */
  begin(
    lanes: readonly Lane[],
    { timeoutMs, last, holdsProcess = true, brief = false }: FlushTime & { readonly last: boolean },
  ): { readonly ledger: Promise<Ledger>; readonly end: () => void } {
    const startedAt = this.#clock.now()
    let end = () => {}
    const ledger = new Promise<Ledger>((resolve) => {
      end = () => {
        timer.cancel()
        for (const each of patience) each.cancel()
        this.#open.delete(drain)
        resolve(this.#stats())
      }
    })
    const timer = this.#clock.schedule(end, timeoutMs, holdsProcess)
    const reach = brief ? this.#reach : undefined
    const drain = new Drain({ lanes, startedAt, deadline: startedAt + timeoutMs, last, reach, finish: end })
    this.#open.add(drain)
    reach?.beginBrief()
    const patience = reach === undefined ? [] : this.#patience(drain, { reach, startedAt, holdsProcess })
    for (const lane of lanes) {
      lane.attemptNow({ last })
      drain.check(lane)
      if (lane.breaker !== undefined) drain.checkWait(lane, lane.breaker.wait)
    }
    return { ledger, end }
  }

  /** A drain that follows another brief one ends with it. Where the time of that one is over, the next refusal ends this one. */
  #patience(
    drain: Drain,
    {
      reach,
      startedAt,
      holdsProcess,
    }: { readonly reach: Reach; readonly startedAt: number; readonly holdsProcess: boolean },
  ): Timer[] {
    const leftMs = reach.endsBriefAt - startedAt
    const timers = [this.#clock.schedule(() => reach.isNowhere && drain.end(), briefMs, holdsProcess)]
    if (leftMs > 0 && leftMs < briefMs) {
      timers.push(this.#clock.schedule(() => drain.endIfBrief(), Math.ceil(leftMs), holdsProcess))
    }
    return timers
  }

  /** Nothing is delivered any more: end all drains. A `flush` with a later deadline would hold the process until then. */
  endAll(): void {
    for (const drain of [...this.#open]) drain.end()
  }

  /** A lane has settled records, or suspects of it have failed: end the drains that have no more to wait for. */
  check(lane: Lane): void {
    for (const drain of this.#open) drain.check(lane)
  }
}
