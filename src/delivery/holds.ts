import { type BackoffBounds, doubled, fullJitter } from './backoff.js'
import type { Clock } from './clock.js'
import type { Drain } from './drain.js'
import type { Returned } from './exchange.js'
import { Hold } from './hold.js'
import type { Lane } from './lane.js'
import { OutageWatch } from './outage-watch.js'
import type { Outcome } from './sender.js'

type Pause = Outcome & { type: 'pause' }

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

  constructor(plan: HoldsPlan) {
    this.#plan = plan
    this.#outage = this.#hold('outage')
    this.#keyPause = this.#hold('paused')
    this.#outages = new OutageWatch({ clock: plan.clock, tell: plan.lasting })
  }

  /** A whole batch without a success, and none beside it: the service is out of reach, one probe at a time from here. */
  keepOut(lane: Lane, returned: readonly Returned[]): void {
    const hold = lane.hold ?? this.#outage
    hold.keep(lane, Math.max(...returned.map(({ notBefore }) => notBefore)))
    if (hold.kind === 'outage') this.#outages.goesOn(lane, returned[0]!.outcome.reason)
    this.#plan.changed(lane)
    for (const drain of this.#plan.drains) {
      if (hold.kind === 'paused') drain.giveUp(lane)
      else drain.checkHold(lane, hold)
    }
  }

  /** Somebody has to mend something first. Returns whether that is news. */
  pause(lane: Lane, cause: Pause): boolean {
    const wasPaused = lane.hold?.kind === 'paused'
    const news = !wasPaused || lane.pauseStatus !== cause.status
    const own = wasPaused && lane.hold !== this.#keyPause ? lane.hold : undefined
    const hold = cause.scope === 'key' ? this.#keyPause : (own ?? this.#hold('paused'))
    const concerned = cause.scope === 'key' ? this.#plan.lanes : [lane]
    for (const each of concerned) {
      this.#outages.over(each)
      if (each.hold !== hold) each.hold?.release(each)
      hold.keep(each)
      each.pauseStatus = cause.status
      this.#plan.changed(each)
    }
    for (const drain of this.#plan.drains) for (const each of concerned) drain.giveUp(each)
    return news
  }

  /** The service took or judged a record: whatever kept the lane is over. The lanes that are free now, and whether that is news. */
  recover(lane: Lane): { readonly released: readonly Lane[]; readonly news: boolean } {
    const { hold } = lane
    if (hold === undefined) return { released: [], news: false }
    const released = hold === this.#keyPause ? [...hold.lanes] : [lane]
    const news = this.#outages.over(lane) || hold.kind === 'paused'
    for (const each of released) {
      hold.release(each)
      each.concurrency.restart()
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

/** While a drain waits, the backoff of an outage grows no further than this: the deadline is seconds away. */
const maxDrainAttempt = 2
