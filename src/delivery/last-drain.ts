import { Refusals } from './breakers.js'
import { DrainingLane, type Sent } from './draining-lane.js'
import type { Lane } from './lane.js'
import type { DeliveryPlan } from './plan.js'
import type { Reach } from './reach.js'
import type { RecordBuffer } from './record-buffer.js'
import {
  asksForLess,
  type Failure,
  isDenial,
  isFailure,
  mayBeItsOwn,
  noWait,
  patienceMs,
  type Refusal,
  waitOf,
} from './rules.js'
import type { BlockingSender, Outcome } from './sender.js'
import { Suspicion } from './suspicion.js'

interface LastDrainPlan
  extends Pick<DeliveryPlan, 'clock' | 'random' | 'retry' | 'maxConnections' | 'requestTimeoutMs' | 'observer'> {
  readonly lanes: readonly Lane[]
  readonly buffer: RecordBuffer
  readonly sender: BlockingSender
  /** Undefined where the service is waited for in any case. */
  readonly reach: Reach | undefined
  /** On the clock. */
  readonly deadline: number
}

/**
 * The drain of a process that is ending. The event loop does not turn any more, so that this thread sends and waits step by step. It
 * keeps the rules of every drain: value records and the most severe lines first, one probe at a time while a breaker is open, no request
 * inside a Retry-After, no waiting for a lane that is paused, and no record that holds up the others.
 */
export class LastDrain {
  readonly #plan: LastDrainPlan
  readonly #lanes: readonly DrainingLane[]
  readonly #inFlight = new Map<number, Sent>()
  readonly #refusals: Refusals
  #nextId = 0
  #hasFailed = false

  constructor(plan: LastDrainPlan) {
    this.#plan = plan
    this.#refusals = new Refusals(plan.lanes)
    plan.reach?.beginBrief()
    const settings = { ...plan, patienceMs: patienceMs(plan.requestTimeoutMs, { draining: true }) }
    // Value records before log records.
    const lanes = [...plan.lanes].sort((a, b) => Number(b.name.kind === 'values') - Number(a.name.kind === 'values'))
    this.#lanes = lanes.map((lane) => new DrainingLane(lane, settings))
  }

  /** Send what may be sent, and wait for answers, for `waitMs` at most. True when nothing more can be done, or no time is left. */
  step(waitMs: number): boolean {
    const { clock, sender, deadline, reach } = this.#plan
    const now = clock.now()
    // Nothing listens there, after one more attempt: waiting for it would only be slow.
    if (now >= deadline || (this.#hasFailed && this.#inFlight.size === 0 && reach?.isGivenUp)) return this.#end()
    for (const each of this.#lanes) each.send(now, (sent) => this.#begin(sent))
    const next = Math.min(...this.#lanes.map((each) => each.nextMoment(now)))
    if (this.#inFlight.size === 0 && next >= deadline) return this.#end()
    const until =
      this.#hasFailed && this.#inFlight.size === 0 ? Math.min(deadline, reach?.briefUntil ?? deadline) : deadline
    for (const { id, outcome } of sender.answers(Math.min(next, until, now + waitMs) - now)) {
      this.#settle(id, outcome)
    }
    return false
  }

  #end(): true {
    for (const each of this.#lanes) each.takeBack()
    this.#inFlight.clear()
    return true
  }

  #begin(sent: Sent): void {
    const id = this.#nextId++
    this.#inFlight.set(id, sent)
    this.#plan.sender.begin({ ...sent.draining.lane.name, id, record: sent.record })
  }

  #settle(id: number, outcome: Outcome): void {
    const sent = this.#inFlight.get(id)
    if (sent === undefined) return
    this.#inFlight.delete(id)
    const { draining, record } = sent
    this.#hasFailed ||= isFailure(outcome)
    draining.answered(sent)
    if (!isFailure(outcome)) {
      this.#plan.buffer.settle(draining.lane, record, outcome)
      this.#refusals.clear(draining.lane)
      draining.succeeded()
    } else if (record.suspicion === undefined) this.#failed(sent, outcome)
    else this.#suspectFailed(sent, outcome)
  }

  #failed(sent: Sent, outcome: Failure): void {
    const { draining, record, asked, settledBefore } = sent
    const { lane } = draining
    const others = !asked && lane.settled > settledBefore
    if (asksForLess(outcome, { others, own: false })) draining.slowDown()
    lane.cameBack(outcome)
    if (isDenial(outcome)) {
      lane.ready.putBack(record)
      this.#pause(draining, outcome)
    } else if (!others) this.#question(sent, outcome)
    else if (mayBeItsOwn(outcome)) {
      record.suspicion = new Suspicion()
      draining.wait(record, { attempt: 0, wait: this.#waitOf(outcome) })
    } else draining.wait(record, { attempt: record.attempts - 1 })
  }

  /** The failure of a suspect says nothing about the lane, unless the service is out of reach or the key is wrong. */
  #suspectFailed({ draining, record, settledBefore }: Sent, outcome: Failure): void {
    const { lane } = draining
    const own = mayBeItsOwn(outcome)
    const suspicion = record.suspicion!
    const rejection = own ? suspicion.failed(outcome, { lane, now: this.#plan.clock.now() }) : undefined
    if (rejection !== undefined) {
      this.#plan.buffer.giveUp(lane, record, rejection)
      return
    }
    lane.cameBack(outcome)
    draining.wait(record, { attempt: suspicion.attempts, wait: this.#waitOf(outcome) })
    if (isDenial(outcome)) this.#pause(draining, outcome)
    else if (!own && lane.settled === settledBefore) draining.openBreaker(noWait)
  }

  /** Nothing succeeded beside this record: it is at fault, or the service is. */
  #question({ draining, record, asked }: Sent, outcome: Failure): void {
    const { lane, breakerOpen: open } = draining
    const now = this.#plan.clock.now()
    const own = mayBeItsOwn(outcome)
    const paused = lane.breaker?.cause === 'paused'
    const wait = this.#waitOf(outcome)
    const failed = { record, wait }
    lane.probes.failedAlone(failed, { blamed: own ? [failed] : [], asked, open, paused, now })
    if (!own && !asked) lane.ready.putBack(record)
    const counts = own && (asked || !open)
    const confirmed =
      counts && outcome.type === 'pause' ? this.#refusals.confirmed(outcome, { lane, record, now }) : undefined
    if (confirmed !== undefined) this.#pause(draining, confirmed)
    else draining.openBreaker(wait)
  }

  #pause(draining: DrainingLane, cause: Refusal): void {
    if (!draining.over) this.#plan.observer.paused(draining.lane.name, cause)
    for (const each of cause.scope === 'key' ? this.#lanes : [draining]) each.end()
  }

  #waitOf(outcome: Failure) {
    return waitOf(outcome, this.#plan.clock.now())
  }
}
