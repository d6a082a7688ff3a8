import { isWaiting } from '../log/due-heap.js'
import { alone, none, type Trial, together, waiting } from '../log/segment.js'
import { doubled } from './backoff.js'
import type { Drains } from './drains.js'
import { Gate, type Lane } from './lane.js'
import type { DeliveryPlan } from './plan.js'
import { Refusals } from './refusals.js'
import { noWait, type Refusal, type Wait } from './rules.js'
import type { Suspects } from './suspects.js'
import type { Turn } from './turn.js'

interface GatesPlan extends Pick<DeliveryPlan, 'probe'> {
  readonly turn: Turn
  readonly lanes: readonly Lane[]
  readonly drains: Drains
  readonly suspects: Suspects
  /** Sends one record of the lane to test the service; false when there is none to send. */
  readonly sendProbe: (lane: Lane) => boolean
}

/** Decides which lanes of an engine stop sending, which of them wait together, and when they send again. */
export class Gates {
  readonly #plan: GatesPlan
  readonly #outage = new Gate('outage')
  readonly #key = new Gate('paused')
  readonly #refusals: Refusals

  constructor(plan: GatesPlan) {
    this.#plan = plan
    this.#refusals = new Refusals(plan.lanes)
  }

  /** On the clock: the moment of the next probe, or of the next outage to be told. */
  get next(): number {
    let next = Number.POSITIVE_INFINITY
    for (const { gate, outage } of this.#plan.lanes) {
      if (gate !== undefined) next = Math.min(next, gate.probeAt)
      if (outage?.isTold === false) next = Math.min(next, outage.tellAt)
    }
    return next
  }

  /** Nothing of a lane succeeded: it probes with one record at a time, the first at once where the failed record may be at fault. */
  open(lane: Lane, { wait, reason }: { readonly wait: Wait; readonly reason: string }): void {
    const gate = lane.gate ?? this.#outage
    this.#shut(gate, lane, { wait, atOnce: lane.isConfirming })
    if (gate.cause === 'outage') this.#outageGoesOn(lane, reason)
    this.#plan.drains.attemptFailed(lane)
  }

  /** A record was refused and nothing succeeded beside it. Returns the refusal that pauses its lane, when other refusals confirm it. */
  confirmed(lane: Lane, trial: Trial, refusal: Refusal): Refusal | undefined {
    return this.#refusals.confirmed(refusal, { lane, trial, now: this.#plan.turn.now })
  }

  /** The key, the bucket or the plan has to change before the service takes records of the lane. */
  pause(lane: Lane, refusal: Refusal): void {
    const before = lane.gate?.cause === 'paused' ? lane.gate : undefined
    const isNews = before?.status !== refusal.status
    const own = before === this.#key ? undefined : before
    const gate = refusal.scope === 'key' ? this.#key : (own ?? new Gate('paused'))
    const concerned = refusal.scope === 'key' ? this.#plan.lanes : [lane]
    for (const each of concerned) {
      each.outage = undefined
      if (each.gate !== undefined && each.gate !== gate) this.#leave(each.gate, each, { others: true })
      gate.status = refusal.status
      this.#shut(gate, each, { wait: noWait, atOnce: each.isConfirming })
    }
    for (const each of concerned) this.#plan.drains.giveUp(each)
    if (isNews) this.#plan.turn.tell({ type: 'paused', lane, refusal })
  }

  /** The service took or judged a record of the lane: it sends again, and so do all others when the key was paused. */
  recover(lane: Lane): void {
    const { gate } = lane
    const { lanes, turn } = this.#plan
    this.#refusals.clear(lane)
    turn.toFill.add(lane)
    if (gate === undefined) return
    const isNews = gate.cause === 'paused' || lane.outage?.isTold === true
    const released = gate === this.#key ? lanes.filter((each) => each.gate === gate) : [lane]
    for (const each of released) {
      this.#refusals.clear(each)
      each.outage = undefined
      this.#release(each, gate, { isProven: each === lane })
      turn.toFill.add(each)
    }
    if (isNews) turn.tell({ type: 'resumed', lane })
  }

  /** Send the probes that are due, and tell the outages that last. */
  tick(): void {
    const { turn, lanes } = this.#plan
    for (const lane of lanes) {
      if (lane.outage?.isTold === false && lane.outage.tellAt <= turn.now) this.#outageLasts(lane)
      if (lane.gate !== undefined && lane.gate.probeAt <= turn.now) this.#fire(lane.gate)
    }
  }

  /** The lane may have something to send. */
  look(lane: Lane): void {
    const { gate } = lane
    if (gate === undefined) return
    if (gate.isDue && !gate.isProbing) this.#fire(gate)
    else if (lane.isProbing ? this.#plan.turn.isLastDrain : lane.isConfirming && lane.ready + lane.adopted.ready > 0) {
      this.#plan.sendProbe(lane)
    }
  }

  /** Probe with this lane at once, for a drain, unless the service asked to wait. */
  probeNow(lane: Lane): void {
    const { gate } = lane
    if (gate === undefined || !this.#maySend(gate, lane)) return
    gate.probeAt = Number.POSITIVE_INFINITY
    if (!lane.isProbing && !this.#plan.sendProbe(lane) && !gate.isProbing) gate.isDue = true
  }

  /** A probe has ended and says nothing: the next one comes as if it had never been. */
  goOn(gate: Gate): void {
    if (gate.probeAt === Number.POSITIVE_INFINITY && !gate.isProbing) this.#planProbe(gate, gate.attempt)
  }

  /**
   * The gate keeps the lane from sending, or does so still after a probe failed. With `atOnce` another record of the lane is sent at once, when
   * there is one: the wait that the service asked for may be meant for the first record alone.
   */
  #shut(gate: Gate, lane: Lane, { wait, atOnce }: { readonly wait: Wait; readonly atOnce: boolean }): void {
    gate.lanes.add(lane)
    lane.gate = gate
    lane.report()
    if (wait.notBefore > gate.wait.notBefore) gate.wait = wait
    const others = lane.ready + lane.adopted.ready > 0 || (gate.cause === 'paused' && lane.tried.size > 1)
    const asks = atOnce ? others : wait.excessive && lane.hasLastChance
    if (asks && (atOnce || this.#maySend(gate, lane)) && this.#plan.sendProbe(lane)) return
    gate.probeAt = Math.max(gate.probeAt, gate.wait.notBefore)
    if (gate.probeAt !== Number.POSITIVE_INFINITY || gate.isProbing) return
    gate.isDue = false
    this.#planProbe(gate, gate.attempt++)
  }

  /** The lane sends again. With `others` the lanes that still wait send probes at once, one at a time. */
  #leave(gate: Gate, lane: Lane, { others }: { readonly others: boolean }): void {
    gate.lanes.delete(lane)
    lane.gate = undefined
    if (others || gate.lanes.size === 0) {
      gate.attempt = 0
      gate.wait = noWait
      gate.probeAt = gate.lanes.size > 0 ? this.#plan.turn.now : Number.POSITIVE_INFINITY
    } else this.goOn(gate)
  }

  /** `isProven`: a record of this lane was taken. The success of another lane says nothing about the records that failed in this one. */
  #release(lane: Lane, gate: Gate, { isProven }: { readonly isProven: boolean }): void {
    const wasNoOutage = isProven && lane.isConfirming
    this.#judgeTried(lane, { isProven })
    lane.isConfirming = false
    this.#leave(gate, lane, { others: !wasNoOutage })
    if (!wasNoOutage) lane.window.restart()
    lane.endGathering()
    lane.report()
  }

  /** What the end of an outage says of the records that failed in it. */
  #judgeTried(lane: Lane, { isProven }: { readonly isProven: boolean }): void {
    const { turn, suspects } = this.#plan
    for (const trial of lane.tried) {
      if (!isWaiting(trial)) continue
      if (trial.blame === none) lane.due.add(trial, turn.now + (turn.isDraining ? 0 : turn.backoffMs(0)))
      else if (isProven && isToBlame(trial, { isConfirming: lane.isConfirming, now: turn.now })) {
        suspects.addLate(lane, trial)
        trial.segment.log.mark(trial.segment, trial.index, 1, waiting)
      } else {
        trial.wasAlone ||= isProven && trial.blame !== together
        trial.blame = none
        lane.makeReady(trial)
      }
    }
    lane.tried.clear()
    lane.lastTried = undefined
  }

  #maySend(gate: Gate, lane: Lane): boolean {
    const { now } = this.#plan.turn
    return gate.wait.notBefore <= now || lane.honour(gate.wait) <= now
  }

  /** Send the next probe. Lanes probe in turn. */
  #fire(gate: Gate): void {
    gate.probeAt = Number.POSITIVE_INFINITY
    for (const lane of gate.lanes) {
      if (!this.#plan.sendProbe(lane)) continue
      gate.lanes.delete(lane)
      gate.lanes.add(lane)
      gate.isDue = false
      return
    }
    gate.isDue = true
  }

  #planProbe(gate: Gate, attempt: number): void {
    const { turn, probe } = this.#plan
    const waitMs = gate.cause === 'paused' ? doubled(attempt, probe) : turn.probeBackoffMs(attempt)
    gate.probeAt = Math.max(turn.now + waitMs, gate.wait.notBefore)
  }

  #outageGoesOn(lane: Lane, reason: string): void {
    if (lane.outage === undefined) {
      lane.outage = { reason, isTold: false, tellAt: this.#plan.turn.now + tellOutageAfterMs }
    } else lane.outage.reason = reason
  }

  #outageLasts(lane: Lane): void {
    const { turn } = this.#plan
    const outage = lane.outage!
    if (turn.now - outage.tellAt > maxLateMs) {
      outage.tellAt = turn.now + tellOutageAfterMs
      return
    }
    outage.isTold = true
    turn.tell({ type: 'outage', lane, reason: outage.reason })
  }
}

/** An outage is told after this time: most are over before anybody could act. */
export const tellOutageAfterMs = 10_000
/** A moment that is noticed later than this was held up: the thread was busy or stopped, and delivered nothing for that reason. */
const maxLateMs = 1000
/** Twice the longest wait between probes by default: a few records at most fail alone within it. */
const shortlyMs = 60_000

/**
 * True for a record that failed before its lane recovered, and is a suspect now. When the first other record was taken, all records that may
 * be at fault are. Else the records are that failed alone, so shortly before that the service was hardly to blame, or in the second outage.
 */
function isToBlame(
  { blame, wasAlone, failedAt }: Pick<Trial, 'blame' | 'wasAlone' | 'failedAt'>,
  { isConfirming, now }: { readonly isConfirming: boolean; readonly now: number },
): boolean {
  return isConfirming || (blame === alone && (wasAlone || failedAt >= now - shortlyMs))
}
