import type { Clock, Timer } from '../runtime/clock.js'
import type { Returned } from './attempt.js'
import { type BackoffBounds, doubled, fullJitter } from './backoff.js'
import { Hold } from './breaker.js'
import type { Drain } from './drain.js'
import type { Lane } from './lane.js'
import type { Pending } from './record-queue.js'
import { longestWait, noWait, type Refusal, reasonOf } from './rules.js'
import { maxDrainAttempt } from './suspects.js'

export interface HoldsPlan {
  readonly lanes: readonly Lane[]
  readonly clock: Clock
  readonly random: () => number
  readonly retry: BackoffBounds
  readonly probe: BackoffBounds
  /** The drains under way: they hurry probes, and give up lanes for which there is nothing to wait. */
  readonly drains: ReadonlySet<Drain>
  /** Send one record of the lane; false when it has none to send. */
  readonly sendProbe: (lane: Lane) => boolean
  /** A lane has joined a hold or left it. */
  readonly changed: (lane: Lane) => void
  /** A lane is in an outage that lasts. */
  readonly lasting: (lane: Lane, reason: string) => void
}

/** Decides which lanes of an engine hold their records, with whom they wait, and when they are free again. */
export class Holds {
  readonly #plan: HoldsPlan
  readonly #outage: Hold
  readonly #keyPause: Hold
  readonly #outages: OutageWatch
  readonly #refusals: Refusals

  constructor(plan: HoldsPlan) {
    this.#plan = plan
    this.#refusals = new Refusals(plan.lanes)
    this.#outage = this.#hold('outage')
    this.#keyPause = this.#hold('paused')
    this.#outages = new OutageWatch({ clock: plan.clock, tell: plan.lasting })
  }

  /** Nothing succeeded: one probe at a time from here, the first at once where one record may be at fault. */
  keepOut(lane: Lane, returned: readonly Returned[]): void {
    const hold = lane.hold ?? this.#outage
    hold.keep(lane, { wait: longestWait(returned.map(({ wait }) => wait)), atOnce: lane.probes.confirming })
    if (hold.kind === 'outage') this.#outages.goesOn(lane, reasonOf(returned[0]!.outcome))
    this.#plan.changed(lane)
    for (const drain of this.#plan.drains) {
      if (hold.kind !== 'paused') drain.checkHold(lane, hold)
      else if (!lane.probing) drain.giveUp(lane)
    }
  }

  /** A record was refused without a success beside it. Returns the refusal that pauses, when it is confirmed. */
  refused(lane: Lane, record: Pending, refusal: Refusal): Refusal | undefined {
    return this.#refusals.confirmed(refusal, { lane, record, now: this.#plan.clock.now() })
  }

  /** Somebody has to mend something first. Returns whether that is news. */
  pause(lane: Lane, cause: Refusal): boolean {
    const wasPaused = lane.hold?.kind === 'paused'
    const news = !wasPaused || lane.pauseStatus !== cause.status
    const own = wasPaused && lane.hold !== this.#keyPause ? lane.hold : undefined
    const hold = cause.scope === 'key' ? this.#keyPause : (own ?? this.#hold('paused'))
    const concerned = cause.scope === 'key' ? this.#plan.lanes : [lane]
    for (const each of concerned) {
      this.#outages.over(each)
      if (each.hold !== hold) each.hold?.release(each, { others: true })
      hold.keep(each, { atOnce: each.probes.confirming })
      each.pauseStatus = cause.status
      this.#plan.changed(each)
    }
    for (const drain of this.#plan.drains) for (const each of concerned) drain.giveUp(each)
    return news
  }

  /** The service took or judged a record: whatever kept the lane is over. The lanes that are free now, and whether that is news. */
  recover(lane: Lane): { readonly released: readonly Lane[]; readonly news: boolean } {
    const { hold } = lane
    const { clock, retry, random, drains } = this.#plan
    this.#refusals.clear(lane)
    if (hold === undefined) return lane.suspects.length > 0 ? { released: [lane], news: false } : nothing
    const released = hold === this.#keyPause ? [...hold.lanes] : [lane]
    const news = this.#outages.over(lane) || hold.kind === 'paused'
    for (const each of released) {
      this.#refusals.clear(each)
      const { atFault, unsent, others, confirmed } = each.probes.over(clock.now())
      // The success of another lane says nothing about the records of this one.
      const blames = each === lane
      hold.release(each, { others: !(blames && confirmed) })
      for (const record of blames ? others : [...others, ...atFault]) each.ready.putBack(record)
      const waitMs = drains.size > 0 ? 0 : fullJitter(0, retry, random)
      for (const record of unsent) each.delayed.add(record, { ...noWait, waitMs })
      if (blames) for (const record of atFault) each.suspects.addLate(record)
      if (!(blames && confirmed)) each.concurrency.restart()
      this.#plan.changed(each)
    }
    return { released, news }
  }

  stop(): void {
    this.#outages.stop()
    this.#outage.stop()
    this.#keyPause.stop()
    for (const lane of this.#plan.lanes) lane.hold?.stop()
  }

  #hold(kind: Hold['kind']): Hold {
    const { clock, retry, probe, random, drains, sendProbe } = this.#plan
    return new Hold({
      kind,
      clock,
      probe: sendProbe,
      waitMs: (attempt) =>
        kind === 'paused'
          ? doubled(attempt, probe)
          : fullJitter(drains.size > 0 ? Math.min(attempt, maxDrainAttempt) : attempt, retry, random),
    })
  }
}

const nothing = { released: [], news: false }

/** An outage that lasts so long is worth reporter; most are over before anybody could do something about them. */
export const tellOutageAfterMs = 10_000

/** A timer that fires later than this was held up: the thread was busy or stopped, and nobody could deliver meanwhile. */
const maxLateMs = 1000

interface Outage {
  /** Why the last attempt failed. */
  reason: string
  told: boolean
  timer: Timer
}

/** Notices the outages of lanes that last. */
export class OutageWatch {
  readonly #clock: Clock
  readonly #tell: (lane: Lane, reason: string) => void
  readonly #outages = new Map<Lane, Outage>()

  constructor(plan: { readonly clock: Clock; readonly tell: (lane: Lane, reason: string) => void }) {
    this.#clock = plan.clock
    this.#tell = plan.tell
  }

  /** The lane is in an outage; perhaps it has been for a while. */
  goesOn(lane: Lane, reason: string): void {
    const outage = this.#outages.get(lane)
    if (outage !== undefined) {
      outage.reason = reason
      return
    }
    this.#outages.set(lane, { reason, told: false, timer: this.#watch(lane) })
  }

  /** The lane is in no outage. Whether somebody was told that it was. */
  over(lane: Lane): boolean {
    const outage = this.#outages.get(lane)
    outage?.timer.cancel()
    this.#outages.delete(lane)
    return outage?.told ?? false
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
    outage.told = true
    this.#tell(lane, outage.reason)
  }
}

/** A lane that delivered so short a time ago is paused by three records: two bad ones may well stand in a row. */
const latelyMs = 60_000

/** Records by the status with which they were refused. */
type Tally = Map<number, Set<Pending>>

/**
 * Refusals (403, 404, 412 and so on) since the service last took or judged a record. One alone may be the record's own fault. A second
 * record with the same status pauses the lane; where there is no other record, the same one again does.
 */
export class Refusals {
  readonly #lanes: readonly Lane[]
  readonly #ofLanes = new Map<Lane, Tally>()
  /** Of records of all lanes, for they share the key. */
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
    const lately = (each: Lane) => now - each.lastSuccessAt < latelyMs
    if (records.add(record).size < (lately(lane) ? 3 : 2) && !again) return undefined
    // One record alone says nothing about other lanes, nor do several where the service takes those of others.
    const ofKey = records.size > 1 && !this.#lanes.some((each) => each !== lane && lately(each))
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
