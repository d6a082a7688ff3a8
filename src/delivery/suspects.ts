import { suspect, type Trial } from '../log/segment.js'
import { fullJitter } from './backoff.js'
import type { Lane } from './lane.js'
import type { DeliveryPlan } from './plan.js'
import { type Failure, isUnanswered, noWait, type Rejection, type Wait } from './rules.js'
import type { Turn } from './turn.js'

/** A suspect is rejected after this many failures, each with another record of its lane delivered since the one before. */
export const failuresToReject = 8
/** A drain gives up a suspect that failed within it, and this many times in a row without a success of its lane. */
const failuresInVain = 2
/** Suspects slow down after more failures in a row than this, without a success of their lane in between. */
const freeFailures = 4

interface SuspectsPlan extends Pick<DeliveryPlan, 'retry' | 'random'> {
  readonly turn: Turn
}

/**
 * The rules for suspects: records that failed where others of their lane succeeded. Each waits for its own retry, then goes out alone: in a
 * batch its neighbours could fail with it. While the lane has no success, suspects go out one after the other with growing gaps, so that
 * many of them make no storm.
 */
export class Suspects {
  readonly #plan: SuspectsPlan

  constructor(plan: SuspectsPlan) {
    this.#plan = plan
  }

  /** The record failed where others succeeded. `pressed`: by an answer that asks for less. */
  add(lane: Lane, trial: Trial, { wait, pressed }: { readonly wait: Wait; readonly pressed: boolean }): void {
    begin(trial, pressed)
    this.wait(lane, trial, wait)
  }

  /**
   * The record failed before others succeeded. During a drain it has its next attempt at once, except inside a Retry-After. The last drain
   * honours none that is too long.
   */
  addLate(lane: Lane, trial: Trial): void {
    const { turn } = this.#plan
    const { notBefore, excessive } = trial
    begin(trial, false)
    if (!turn.isDraining) {
      this.wait(lane, trial, { notBefore, excessive })
      return
    }
    hold(trial, excessive && turn.isLastDrain ? noWait : { notBefore, excessive })
    lane.due.add(trial, Math.max(turn.now, trial.notBefore))
  }

  /** The record was taken at its first attempt as a suspect: it was none. */
  acquitted(lane: Lane, trial: Trial): void {
    if (trial.blame === suspect && trial.fails === 0) learn(lane, trial, 0)
  }

  /** The suspect failed again, perhaps by its own fault. Returns its rejection after one failure too many. */
  failed(lane: Lane, trial: Trial, outcome: Failure): Rejection | undefined {
    const { turn, retry, random } = this.#plan
    if (trial.fails === 0) learn(lane, trial, 1)
    lane.inVain = lane.settled > lane.settledAtFailure ? 1 : lane.inVain + 1
    lane.settledAtFailure = lane.settled
    const excess = lane.inVain - freeFailures
    lane.suspectsFrom = excess > 0 ? turn.now + fullJitter(excess, retry, random) : Number.NEGATIVE_INFINITY

    if (lane.delivered > trial.deliveredBefore) trial.failures++
    trial.vain = vainOf(trial, lane) + 1
    trial.deliveredBefore = lane.delivered
    trial.settledBefore = lane.settled
    trial.fails++
    trial.failedAt = turn.now
    trial.unanswered = isUnanswered(outcome)
    return trial.failures < failuresToReject ? undefined : rejection(outcome)
  }

  /** The suspect waits for its next retry. */
  wait(lane: Lane, trial: Trial, wait: Wait): void {
    const { turn } = this.#plan
    hold(trial, wait)
    lane.due.add(trial, Math.max(wait.notBefore, turn.now + turn.backoffMs(trial.fails)))
  }

  /** The suspect may go out. */
  isDue(lane: Lane, trial: Trial): void {
    const queue = trial.fails === 0 ? lane.fresh : lane.known
    queue.push(trial)
  }

  /** Take one that may go out now. One that every drain has given up goes on waiting: many of them would keep a drain busy. */
  take(lane: Lane): Trial | undefined {
    const { turn } = this.#plan
    while (lane.dueSuspects > 0 && this.nextAt(lane) <= turn.now) {
      const trial = lane.takeSuspect()
      if (trial === undefined || !turn.isDraining || !isHopeless(trial, lane, turn.drainsSince)) return trial
      this.wait(lane, trial, noWait)
    }
    return undefined
  }

  /** On the clock: suspects that are due go out from this moment on. */
  nextAt(lane: Lane): number {
    const { turn } = this.#plan
    return turn.isDraining || lane.settled > lane.settledAtFailure ? turn.now : Math.max(turn.now, lane.suspectsFrom)
  }
}

/** True when a drain that began at `startedAt` gives the suspect up. */
export function isHopeless(trial: Trial, lane: Lane, startedAt: number): boolean {
  return trial.failedAt >= startedAt && vainOf(trial, lane) >= failuresInVain
}

/**
 * True while back-pressure that comes among successes is meant for single records and not for the rate: most suspects with
 * back-pressure fail again when they go alone.
 */
export function pressureIsTheirOwn({ ownShare }: Lane): boolean {
  return ownShare > 1 / 2
}

/** Failures in a row since the last success of the lane. */
function vainOf({ vain, settledBefore }: Trial, { settled }: Lane): number {
  return settled > settledBefore ? 0 : vain
}

function begin(trial: Trial, pressed: boolean): void {
  trial.blame = suspect
  trial.pressed = pressed
  trial.unanswered = false
  trial.failures = 0
  trial.fails = 0
  trial.vain = 0
  trial.failedAt = Number.NEGATIVE_INFINITY
  // Others had succeeded when it became a suspect: its first failure counts.
  trial.deliveredBefore = -1
  trial.settledBefore = -1
}

function hold(trial: Trial, { notBefore, excessive }: Wait): void {
  trial.notBefore = notBefore
  trial.excessive = excessive
}

function learn(lane: Lane, { pressed }: Trial, own: 0 | 1): void {
  if (pressed) lane.ownShare += (own - lane.ownShare) / 4
}

/** The status is that of the last answer; 0 when the last attempt got none. */
function rejection({ status = 0, reason }: Failure): Rejection {
  return {
    type: 'rejected',
    status,
    reason: `failed again and again while others were delivered; last: ${reason}`,
    validationErrors: [],
  }
}
