import type { Clock, Timer } from '../runtime/clock.js'
import { doubled } from './backoff.js'
import { Breaker, type BreakerCause } from './breaker.js'
import type { Drain } from './drain.js'
import type { Lane } from './lane.js'
import type { Observer } from './observer.js'
import type { DeliveryPlan } from './plan.js'
import type { Pending } from './record-queue.js'
import { backoffMs, deliversLately, noWait, type Refusal, refusalsToPause, type Wait } from './rules.js'

interface BreakersPlan extends Pick<DeliveryPlan, 'clock' | 'random' | 'retry' | 'probe' | 'observer'> {
  readonly lanes: readonly Lane[]
  /** The drains under way. Probes come sooner during a drain, and it gives up lanes for which it cannot wait. */
  readonly drains: ReadonlySet<Drain>
}

/** Decides which lanes of an engine stop sending, which of them wait together, and when they send again. */
export class Breakers {
  readonly #plan: BreakersPlan
  readonly #outage: Breaker
  readonly #keyPause: Breaker
  readonly #outages: OutageWatch
  readonly #refusals: Refusals

  constructor(plan: BreakersPlan) {
    this.#plan = plan
    this.#refusals = new Refusals(plan.lanes)
    this.#outage = this.#breaker('outage')
    this.#keyPause = this.#breaker('paused')
    this.#outages = new OutageWatch(plan)
  }

  /** Nothing of a lane succeeded: it probes with one record at a time, the first at once where the failed record may be at fault. */
  open(lane: Lane, { wait, reason }: { readonly wait: Wait; readonly reason: string }): void {
    const breaker = lane.breaker ?? this.#outage
    breaker.open(lane, { wait, atOnce: lane.probes.confirming })
    if (breaker.cause === 'outage') this.#outages.goesOn(lane, reason)
    for (const drain of this.#plan.drains) {
      drain.attemptFailed()
      if (breaker.cause === 'outage') drain.checkWait(lane, breaker.wait)
      else if (!lane.probing) drain.giveUp(lane)
    }
  }

  /** A record was refused and nothing succeeded beside it. Returns the refusal that pauses its lane, when other refusals confirm it. */
  confirmed(lane: Lane, record: Pending, refusal: Refusal): Refusal | undefined {
    return this.#refusals.confirmed(refusal, { lane, record, now: this.#plan.clock.now() })
  }

  /** The key, the bucket or the plan has to change before the service takes records of the lane. */
  pause(lane: Lane, refusal: Refusal): void {
    const before = lane.breaker?.cause === 'paused' ? lane.breaker : undefined
    const isNews = before?.status !== refusal.status
    const own = before === this.#keyPause ? undefined : before
    const breaker = refusal.scope === 'key' ? this.#keyPause : (own ?? this.#breaker('paused'))
    const concerned = refusal.scope === 'key' ? this.#plan.lanes : [lane]
    for (const each of concerned) {
      this.#outages.over(each)
      if (each.breaker !== breaker) each.breaker?.close(each, { others: true })
      breaker.open(each, { atOnce: each.probes.confirming, status: refusal.status })
    }
    for (const drain of this.#plan.drains) for (const each of concerned) drain.giveUp(each)
    if (isNews) this.#plan.observer.paused(lane.name, refusal)
  }

  /** The service took or judged a record of the lane: it sends again, and so do all others when the key was paused. */
  recover(lane: Lane): void {
    const { breaker } = lane
    this.#refusals.clear(lane)
    if (breaker === undefined) {
      if (lane.suspects.length > 0) lane.wake()
      return
    }
    const isNews = this.#outages.over(lane) || breaker.cause === 'paused'
    const released = breaker === this.#keyPause ? this.#plan.lanes.filter((each) => each.breaker === breaker) : [lane]
    for (const each of released) {
      this.#refusals.clear(each)
      this.#release(each, breaker, { proven: each === lane })
    }
    for (const each of released) each.wake()
    if (isNews) this.#plan.observer.resumed(lane.name)
  }

  stop(): void {
    this.#outages.stop()
    this.#outage.stop()
    this.#keyPause.stop()
    for (const lane of this.#plan.lanes) lane.breaker?.stop()
  }

  /** `proven`: a record of this lane was taken. The success of another lane says nothing about the records that failed in this one. */
  #release(lane: Lane, breaker: Breaker, { proven }: { readonly proven: boolean }): void {
    const { clock, retry, random, drains } = this.#plan
    const { atFault, unsent, others, confirmed } = lane.probes.over(clock.now(), { proven })
    const noOutage = proven && confirmed
    breaker.close(lane, { others: !noOutage })
    for (const record of others) lane.ready.putBack(record)
    const waitMs = drains.size > 0 ? 0 : backoffMs(0, { retry, random, draining: false })
    for (const record of unsent) lane.delayed.add(record, { ...noWait, waitMs })
    for (const { record, wait } of atFault) lane.suspects.addLate(record, wait)
    if (!noOutage) lane.concurrency.restart()
    lane.report()
  }

  #breaker(cause: BreakerCause): Breaker {
    const { clock, retry, probe, random, drains } = this.#plan
    const waitMs = (attempt: number) =>
      cause === 'paused' ? doubled(attempt, probe) : backoffMs(attempt, { retry, random, draining: drains.size > 0 })
    return new Breaker({ cause, clock, waitMs })
  }
}

/** Records by the status with which they were refused. */
type Tally = Map<number, Set<Pending>>

/**
 * Refusals (403, 404, 412 and so on) since the service last took or judged a record. One alone may be the record's own fault. A second
 * record with the same status pauses the lane. Where there is no other record, the same one again does.
 */
export class Refusals {
  readonly #lanes: readonly Lane[]
  readonly #ofLanes = new Map<Lane, Tally>()
  /** Of records of all lanes, which share the key. */
  readonly #ofKey: Tally = new Map()

  constructor(lanes: readonly Lane[]) {
    this.#lanes = lanes
  }

  /** A record was refused. Returns the refusal that pauses the lane, or every lane of the key, when it is confirmed. */
  confirmed(
    refusal: Refusal,
    { lane, record, now }: { lane: Lane; record: Pending; now: number },
  ): Refusal | undefined {
    const records = this.#records(refusal, lane)
    const again = records.has(record) && lane.ready.length === 0
    if (records.add(record).size < refusalsToPause(now - lane.lastSuccessAt) && !again) return undefined
    const otherDelivers = this.#lanes.some((each) => each !== lane && deliversLately(now - each.lastSuccessAt))
    // One record alone says nothing about other lanes.
    const ofKey = records.size > 1 && !otherDelivers
    return ofKey ? refusal : { ...refusal, scope: 'lane' }
  }

  /** The service took a record of this lane, or judged one. */
  clear(lane: Lane): void {
    if (this.#ofKey.size > 0) this.#ofKey.clear()
    if (this.#ofLanes.size > 0) this.#ofLanes.delete(lane)
  }

  #records({ scope, status }: Refusal, lane: Lane): Set<Pending> {
    let tally = scope === 'key' ? this.#ofKey : this.#ofLanes.get(lane)
    if (tally === undefined) {
      tally = new Map()
      this.#ofLanes.set(lane, tally)
    }
    let records = tally.get(status)
    if (records === undefined) {
      records = new Set()
      tally.set(status, records)
    }
    return records
  }
}

/** An outage is reported after this time: most are over before anybody could act. */
export const tellOutageAfterMs = 10_000

/** A timer that fires later than this was held up: the thread was busy or stopped, and delivered nothing for that reason. */
const maxLateMs = 1000

interface Outage {
  /** Why the last attempt failed. */
  reason: string
  reported: boolean
  timer: Timer
}

/** Reports the outages of lanes that last. */
class OutageWatch {
  readonly #clock: Clock
  readonly #observer: Observer
  readonly #outages = new Map<Lane, Outage>()

  constructor({ clock, observer }: { readonly clock: Clock; readonly observer: Observer }) {
    this.#clock = clock
    this.#observer = observer
  }

  /** The lane is in an outage. It may have been for a while. */
  goesOn(lane: Lane, reason: string): void {
    const outage = this.#outages.get(lane)
    if (outage !== undefined) outage.reason = reason
    else this.#outages.set(lane, { reason, reported: false, timer: this.#watch(lane) })
  }

  /** The lane is in no outage. True when an outage of it was reported. */
  over(lane: Lane): boolean {
    const outage = this.#outages.get(lane)
    outage?.timer.cancel()
    this.#outages.delete(lane)
    return outage?.reported ?? false
  }

  stop(): void {
    for (const lane of [...this.#outages.keys()]) this.over(lane)
  }

  #watch(lane: Lane): Timer {
    const dueAt = this.#clock.now() + tellOutageAfterMs
    return this.#clock.schedule(() => this.#lasts(lane, this.#clock.now() - dueAt), tellOutageAfterMs)
  }

  #lasts(lane: Lane, lateMs: number): void {
    const outage = this.#outages.get(lane)!
    if (lateMs > maxLateMs) {
      outage.timer = this.#watch(lane)
      return
    }
    outage.reported = true
    const { reason } = outage
    this.#observer.outage(lane.name, lane.reach.isNowhere ? { reason, isTold: true } : { reason })
  }
}
