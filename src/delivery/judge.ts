import type { Backing } from '../log/backing.js'
import { alone, gone, none, type Segment, suspect, type Trial, together, waiting } from '../log/segment.js'
import { trialOf } from '../log/trial.js'
import { fullJitter } from './backoff.js'
import type { Batch } from './batch.js'
import type { Gates } from './gates.js'
import type { Failed, Flight, Lane } from './lane.js'
import type { LedgerBook } from './ledger-book.js'
import type { DeliveryPlan } from './plan.js'
import type { Reach } from './reach.js'
import {
  asksForLess,
  blamedOf,
  failureReason,
  isAmbiguous,
  isDenial,
  isFailure,
  longestWait,
  mayBeItsOwn,
  noWait,
  type Refusal,
  type Rejection,
  waitOf,
} from './rules.js'
import type { Outcome } from './sender.js'
import { pressureIsTheirOwn, type Suspects } from './suspects.js'
import type { Turn } from './turn.js'

interface JudgePlan extends Pick<DeliveryPlan, 'retry' | 'random'> {
  readonly turn: Turn
  readonly book: LedgerBook
  readonly backing: Backing
  readonly reach: Reach
  readonly gates: Gates
  readonly suspects: Suspects
}

/** What is asked of a failure before its record is judged. */
interface Circumstances {
  /** Another record of the lane succeeded since it left, and it was no answer to a question. */
  readonly others: boolean
  /** It was the probe of a gate. */
  readonly asked: boolean
  readonly blamed: readonly Failed[]
}

/** Says what the outcomes of a batch mean: for its records, for the window of its lane, and for the gate. */
export class Judge {
  readonly #plan: JudgePlan

  constructor(plan: JudgePlan) {
    this.#plan = plan
  }

  /** The outcome of `count` records of a flight, from `index` on. */
  settled(flight: Flight, index: number, count: number, outcome: Outcome): void {
    if (isFailure(outcome)) {
      const { now } = this.#plan.turn
      for (let each = index; each < index + count; each++) {
        flight.failed.push({ index: each, outcome, wait: waitOf(outcome, now) })
      }
      return
    }
    this.#succeeded(flight.lane, count, { taken: outcome.type === 'delivered' })
    for (let each = index; each < index + count; ) {
      const end = outcome.type === 'delivered' ? runEnd(flight.batch, each, index + count) : each + 1
      const segment = flight.batch.segments[each]!
      const first = flight.batch.indexes[each]!
      this.#acquit(flight.lane, segment, first, end - each)
      if (outcome.type === 'rejected') this.#reject(flight, each, outcome)
      else segment.log.mark(segment, first, end - each, gone, 'delivered')
      each = end
    }
  }

  /** Every record of the flight has its outcome. */
  ended(flight: Flight): void {
    const { lane, way } = flight
    const others = lane.settled > flight.settledBefore
    if (way !== 'alone') this.#adapt(flight, { others })
    const [first] = flight.failed
    if (first === undefined) this.#plan.gates.recover(lane)
    else if (blameOf(flight, first) === suspect) this.#suspectFailed(flight, first, { others })
    else this.#failed(flight, { others })
    lane.report()
  }

  #succeeded(lane: Lane, count: number, { taken }: { readonly taken: boolean }): void {
    if (taken) lane.delivered += count
    lane.settled += count
    lane.lastSuccessAt = this.#plan.turn.now
    this.#plan.reach.succeeded()
  }

  #acquit(lane: Lane, { trials }: Segment, from: number, count: number): void {
    if (trials === undefined) return
    for (let index = from; index < from + count; index++) {
      const trial = trials.get(index)
      if (trial !== undefined) this.#plan.suspects.acquitted(lane, trial)
    }
  }

  /** A record in flight is rejected, by the service or because it failed too often. */
  #reject({ lane, batch }: Flight, index: number, rejection: Rejection): void {
    const { backing, turn } = this.#plan
    const segment = batch.segments[index]!
    const { body, idempotencyKey: key } = batch.textOf(index)
    lane.failed(rejection.reason)
    backing.rejected(lane.index, { ref: { segment, index: batch.indexes[index]! }, body, key, rejection })
    segment.log.mark(segment, batch.indexes[index]!, 1, gone, 'rejected')
    turn.tell({ type: 'rejected', lane, rejection, body })
  }

  #adapt(flight: Flight, { others }: { readonly others: boolean }): void {
    const { lane, batch, startedAt, successes, firstAt, lastAt, failed } = flight
    const own = pressureIsTheirOwn(lane)
    const pressed = failed.filter(({ outcome }) => asksForLess(outcome, { others, own }))
    lane.window.add({
      startedAt,
      endedAt: this.#plan.turn.now,
      successes,
      firstAnswerMs: firstAt === undefined ? undefined : firstAt - startedAt,
      betweenAnswersMs: batch.wasParted || successes < 2 ? undefined : (lastAt - firstAt!) / (successes - 1),
      pressed: pressed.length,
      asksToWait: pressed.some(({ wait }) => wait !== noWait),
      // What a lane gathers waits of itself, but for what the limit would hold back when it goes out.
      limited: lane.ready > (lane.gathersUntil > this.#plan.turn.now ? lane.window.connections * lane.window.depth : 0),
    })
  }

  /** Records come back. A record that failed among successes is a suspect. When nothing succeeded the gate shuts. */
  #failed(flight: Flight, { others }: { readonly others: boolean }): void {
    const { gates } = this.#plan
    const { lane, way, failed, successes } = flight
    const isSame =
      lane.lastTried !== undefined && flight.batch.segments[0]!.trials?.get(flight.batch.indexes[0]!) === lane.lastTried
    const denial = failed.map(({ outcome }) => outcome).find(isDenial)
    const asked = way === 'probe' && lane.gate !== undefined
    const about = { others: denial === undefined && !asked && others, asked, blamed: blamedOf(failed) }
    for (const { outcome } of failed) this.#cameBack(lane, outcome)
    for (const each of failed) this.#putBack(flight, each, about)
    const confirmed = about.others ? undefined : this.#question(flight, { ...about, isSame })
    if (denial !== undefined) {
      lane.isConfirming = false
      gates.pause(lane, denial)
    } else if (successes > 0) gates.recover(lane)
    else if (confirmed !== undefined) gates.pause(lane, confirmed)
    else if (!about.others) this.#shut(lane, failed)
  }

  /** The table of a record that failed: what becomes of it. */
  #putBack(flight: Flight, failed: Failed, { others, asked, blamed }: Circumstances): void {
    const { turn, suspects, retry, random } = this.#plan
    const { lane, batch, successes } = flight
    const { index, outcome, wait } = failed
    const segment = batch.segments[index]!
    const at = batch.indexes[index]!
    const { log } = segment
    if (blamed.includes(failed) && !(others && this.#wasRefusedTogether(flight, failed))) {
      const trial = trialOf(segment, at)
      if (others) suspects.add(lane, trial, { wait, pressed: outcome.type === 'retry' && outcome.backPressure })
      else this.#tried(lane, trial, { failed, isAlone: asked || (lane.gate === undefined && blamed.length === 1) })
      log.mark(segment, at, 1, waiting)
    } else if (others && successes === 0 && (isBusy(outcome) || isUnsent(outcome))) {
      const trial = trialOf(segment, at)
      trial.notBefore = wait.notBefore
      trial.excessive = wait.excessive
      log.mark(segment, at, 1, waiting)
      const backoff = fullJitter(segment.attempts[at]! - 1, retry, random)
      lane.due.add(trial, Math.max(wait.notBefore, turn.now + backoff))
    } else if (asked) {
      const trial = trialOf(segment, at)
      trial.blame = none
      keep(lane, trial, failed)
      log.mark(segment, at, 1, waiting)
    } else lane.makeReady({ segment, index: at })
  }

  /** At its first attempt the record was in a batch that the service refused as a whole, for its rate: that shows nothing about the record. */
  #wasRefusedTogether({ batch, failed, successes }: Flight, { index, outcome }: Failed): boolean {
    const isFirst = batch.segments[index]!.attempts[batch.indexes[index]!] === 1
    return isFirst && successes === 0 && failed.length > 1 && isBusy(outcome)
  }

  /** The record failed when nothing succeeded. It is sent again when there are no others. */
  #tried(lane: Lane, trial: Trial, { failed, isAlone }: { readonly failed: Failed; readonly isAlone: boolean }): void {
    if (isAlone) trial.failedAt = this.#plan.turn.now
    trial.blame = isAlone ? alone : together
    keep(lane, trial, failed)
  }

  /** Nothing succeeded beside these records: one of them is at fault, or the service is. Returns the refusal that this confirms. */
  #question(
    { lane, batch }: Flight,
    { asked, blamed, isSame }: Circumstances & { readonly isSame: boolean },
  ): Refusal | undefined {
    const own = blamed.length > 0
    if (asked) {
      // Another record is sent at once, unless this was the second one, for the next probe of a pause is far away.
      const isFirst = lane.gate!.cause === 'paused' && !lane.isConfirming
      lane.isConfirming = own && ((lane.isConfirming && isSame) || isFirst)
    } else if (lane.gate === undefined) lane.isConfirming = own
    // Of a batch one record counts: records that stood together confirm nothing of each other.
    const [first] = asked || lane.gate === undefined ? blamed : []
    if (first?.outcome.type !== 'pause') return undefined
    const trial = trialOf(batch.segments[first.index]!, batch.indexes[first.index]!)
    return this.#plan.gates.confirmed(lane, trial, first.outcome)
  }

  /** The failure of a suspect says nothing about the lane, unless the service is out of reach or the key is wrong. */
  #suspectFailed(flight: Flight, failed: Failed, { others }: { readonly others: boolean }): void {
    const { suspects, gates } = this.#plan
    const { lane, batch, way } = flight
    const { outcome, index, wait } = failed
    const segment = batch.segments[index]!
    const at = batch.indexes[index]!
    const trial = trialOf(segment, at)
    const own = mayBeItsOwn(outcome)
    const rejection = own ? suspects.failed(lane, trial, outcome) : undefined
    if (rejection === undefined) {
      this.#cameBack(lane, outcome)
      segment.log.mark(segment, at, 1, waiting)
      suspects.wait(lane, trial, wait)
    } else this.#reject(flight, index, rejection)
    if (way === 'probe') lane.isConfirming = own
    if (isDenial(outcome)) gates.pause(lane, outcome)
    else if (way === 'probe' || (!own && !others)) this.#shut(lane, [failed])
    else this.#plan.turn.toFill.add(lane)
  }

  #shut(lane: Lane, failed: readonly Failed[]): void {
    const wait = longestWait(failed.map((each) => each.wait))
    this.#plan.gates.open(lane, { wait, reason: failureReason(failed[0]!.outcome) })
  }

  /** An attempt has failed. */
  #cameBack(lane: Lane, outcome: Failed['outcome']): void {
    if (isAmbiguous(outcome)) this.#plan.book.count(lane.index, 'ambiguousRetries', 1)
    lane.failed(failureReason(outcome))
    this.#plan.reach.failed(outcome)
  }
}

/** The records of a batch from `from` on, `most` at most, that stand one behind another in one segment, end before this one. */
function runEnd({ segments, indexes }: Batch, from: number, most: number): number {
  let end = from + 1
  while (end < most && segments[end] === segments[from] && indexes[end] === indexes[end - 1]! + 1) end++
  return end
}

function blameOf({ batch }: Flight, { index }: Failed): number | undefined {
  return batch.segments[index]!.trials?.get(batch.indexes[index]!)?.blame
}

/** The record goes behind all others of its lane that failed when nothing succeeded. */
function keep(lane: Lane, trial: Trial, { wait }: Failed): void {
  trial.notBefore = wait.notBefore
  trial.excessive = wait.excessive
  lane.tried.delete(trial)
  lane.tried.add(trial)
  lane.lastTried = trial
}

/** True for an answer that asks for less. A time-out asks for less, too, but may be the record's own. */
function isBusy(outcome: Failed['outcome']): boolean {
  return outcome.type === 'retry' && outcome.exchange === 'answered' && outcome.backPressure
}

function isUnsent(outcome: Failed['outcome']): boolean {
  return outcome.type === 'retry' && outcome.exchange === 'unsent'
}
