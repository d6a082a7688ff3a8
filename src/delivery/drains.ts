import { isWaiting } from '../log/due-heap.js'
import { suspect } from '../log/segment.js'
import type { Lane } from './lane.js'
import { briefMs, type Reach } from './reach.js'
import { isHopeless } from './suspects.js'
import type { Turn } from './turn.js'

/** A `flush` or `close` under way. It waits for what each lane had accepted when it began, and for nothing later. */
interface Drain {
  readonly id: number
  /** On the clock. */
  readonly startedAt: number
  readonly deadline: number
  /** It waits for records whose sequence is below this. */
  readonly before: number
  readonly lanes: Set<Lane>
  /** A service at whose address nothing has ever listened is waited for until this moment, on the clock. */
  readonly patientUntil: number
  readonly isBrief: boolean
  /** Nothing comes after it. */
  readonly isLast: boolean
  hasFailed: boolean
}

/** The drains of one delivery that are under way. They change numbers of other rules, and no rule. */
export class Drains {
  readonly #turn: Turn
  readonly #reach: Reach
  readonly #open = new Map<number, Drain>()

  constructor({ turn, reach }: { readonly turn: Turn; readonly reach: Reach }) {
    this.#turn = turn
    this.#reach = reach
  }

  /** On the clock: the moment at which one of them may end because nothing listens. */
  get next(): number {
    let next = Number.POSITIVE_INFINITY
    for (const { isBrief, patientUntil } of this.#open.values()) {
      if (isBrief && patientUntil > this.#turn.now) next = Math.min(next, patientUntil)
      if (isBrief && this.#reach.endsBriefAt > this.#turn.now) next = Math.min(next, this.#reach.endsBriefAt)
    }
    return next
  }

  begin(
    lanes: readonly Lane[],
    plan: {
      readonly id: number
      readonly deadline: number
      readonly last: boolean
      readonly brief: boolean
      readonly before: number
    },
  ): void {
    const { now } = this.#turn
    const { id, deadline, before, brief } = plan
    if (brief) this.#reach.beginBrief()
    this.#open.set(id, {
      id,
      startedAt: now,
      deadline,
      before,
      lanes: new Set(lanes),
      patientUntil: now + briefMs,
      isBrief: brief,
      isLast: plan.last,
      hasFailed: false,
    })
    this.#turn.isDraining = true
    this.#turn.drainsSince = now
    if (!plan.last) return
    this.#turn.isLastDrain = true
    this.#turn.lastDrainSince = now
    this.#turn.lastDrainUntil = deadline
  }

  /** The lane has changed: drains that have no more to wait for in it give it up. */
  check(lane: Lane): void {
    for (const drain of this.#open.values()) {
      if (!drain.lanes.has(lane)) continue
      if (isOver(lane, drain) || isTooLong(lane, drain)) this.#giveUp(drain, lane)
    }
  }

  /** An attempt of the lane failed, and nothing succeeded: drains give it up where they cannot wait for it. */
  attemptFailed(lane: Lane): void {
    for (const drain of this.#open.values()) {
      drain.hasFailed = true
      if (lane.gate?.cause === 'paused' && !lane.isProbing) this.#giveUp(drain, lane)
    }
    this.tick()
  }

  /** Drains wait for this lane no longer. */
  giveUp(lane: Lane): void {
    for (const drain of this.#open.values()) this.#giveUp(drain, lane)
  }

  /** End the brief drains where nothing listens and their time is over. */
  tick(): void {
    const { now } = this.#turn
    for (const { id, isBrief, hasFailed, patientUntil } of this.#open.values()) {
      if (!isBrief) continue
      if ((hasFailed && this.#reach.isGivenUp) || (now >= patientUntil && this.#reach.isNowhere)) this.end(id)
    }
  }

  end(id: number): void {
    if (!this.#open.delete(id)) return
    this.#turn.isDraining = this.#open.size > 0
    this.#turn.want({ type: 'drained', id })
  }

  endAll(): void {
    for (const id of [...this.#open.keys()]) this.end(id)
  }

  #giveUp({ id, lanes }: Drain, lane: Lane): void {
    if (lanes.delete(lane) && lanes.size === 0) this.end(id)
  }
}

/** True when all that the drain waits for in the lane is settled, except for suspects that it cannot wait for. */
function isOver(lane: Lane, { before, startedAt, deadline }: Drain): boolean {
  if (lane.logs.oldest < before) return false
  for (const { batch } of lane.flights) if (batch.lowest < before) return false
  for (const { waiting, trials } of waitingOf(lane)) {
    if (waiting === 0) continue
    for (const trial of trials?.values() ?? []) {
      if (!isWaiting(trial) || trial.segment.sequenceOf(trial.index) >= before) continue
      if (trial.blame !== suspect) return false
      if (trial.notBefore <= deadline && !isHopeless(trial, lane, startedAt)) return false
    }
  }
  return true
}

function* waitingOf(lane: Lane) {
  for (const log of lane.logs.all) {
    if (log.waiting === 0) continue
    for (const { tally, trials } of log.segments()) yield { waiting: tally[3], trials }
  }
}

/** True when nothing can be tried before the deadline: the service asks to wait beyond it, or the next probe of the last drain comes after it. */
function isTooLong({ gate, isProbing }: Lane, { deadline, isLast }: Drain): boolean {
  if (gate === undefined || isProbing) return false
  return (
    gate.wait.notBefore > deadline || (isLast && gate.probeAt > deadline && gate.probeAt < Number.POSITIVE_INFINITY)
  )
}
