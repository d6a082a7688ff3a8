import { type DropReason, dropReasons } from '../delivery/ledger.js'
import type { Clock } from '../runtime/clock.js'
import { type Health, type HealthStatus, healthStatuses, type LaneHealth } from './health-status.js'
import type { LaneFigures } from './lane-figures.js'

/** So long after records were dropped for want of room the lane is failing, in milliseconds. */
const fullMs = 30_000
/** So long after records were dropped for any reason the lane is degraded, in milliseconds. */
const lossMs = 300_000
/** The reasons of drops for want of room. */
const wantOfRoom: readonly DropReason[] = ['queue-full', 'hand-off-full', 'spool-full']

interface HealthWatchPlan {
  readonly clock: Pick<Clock, 'now'>
  /** Milliseconds since 1970. */
  readonly wallClock: () => number
}

/** The health, as far as it follows from lanes. */
type Judgement = Omit<Health, 'capacity'>

/** A status with the reason for it. */
interface Verdict {
  readonly status: HealthStatus
  readonly reason: string | undefined
}

/** Judges the figures of lanes. It remembers the losses that it has seen, and since when each status holds. */
export class HealthWatch {
  readonly #clock: Pick<Clock, 'now'>
  readonly #wallClock: () => number
  readonly #lanes = new Map<string, { readonly losses: Losses; readonly since: Since }>()
  readonly #since = new Since()

  constructor({ clock, wallClock }: HealthWatchPlan) {
    this.#clock = clock
    this.#wallClock = wallClock
  }

  /** Judge the figures of all lanes now. @param off why Sluice is off in a thread where a variable is missing or wrong */
  look(figures: readonly LaneFigures[], off?: string): Judgement {
    const time = { now: this.#clock.now(), wall: this.#wallClock() }
    const lanes = figures.map((lane) => this.#laneHealth(lane, time))
    if (off !== undefined) return this.#off(off, { lanes, wall: time.wall })
    const status = healthStatuses.findLast((each) => lanes.some((lane) => lane.status === each)) ?? 'ok'
    const worst = lanes.filter((lane) => lane.status === status).map(({ reason }) => reason)
    // A lane that waits with another one, for the same key, may have had no answer of its own. Its reason names no error.
    const reason = worst.find((each) => each?.includes(': ')) ?? worst[0]
    return { status, lanes, since: this.#since.of(status, time.wall), reason }
  }

  /** A person must act: no lane shows it. */
  #off(off: string, { lanes, wall }: { readonly lanes: readonly LaneHealth[]; readonly wall: number }): Judgement {
    return { status: 'failing', lanes, since: this.#since.of('failing', wall), reason: `no records are sent: ${off}` }
  }

  #laneHealth(lane: LaneFigures, { now, wall }: { readonly now: number; readonly wall: number }): LaneHealth {
    const { kind, bucket, state } = lane
    const name = `${kind}/${bucket}`
    const memory = this.#lanes.get(name) ?? { losses: new Losses(), since: new Since() }
    this.#lanes.set(name, memory)
    memory.losses.see(lane.dropped, now)
    const { status, reason } = verdictOf(lane, memory.losses, now)
    return { kind, bucket, status, state, since: memory.since.of(status, wall), reason }
  }
}

const allWell: Verdict = { status: 'ok', reason: undefined }

function verdictOf(lane: LaneFigures, losses: Losses, now: number): Verdict {
  const { kind, bucket, state, lastError } = lane
  const error = lastError === undefined ? '' : `: ${lastError}`
  const name = `${kind} of bucket ${bucket}`
  const waits = `${name} wait until the key, the bucket or the plan is corrected`
  if (state === 'paused') return { status: 'failing', reason: `${waits}${error}` }
  const full = losses.within(fullMs, now).filter((reason) => wantOfRoom.includes(reason))
  if (full.length > 0) return { status: 'failing', reason: `${name} are dropped for want of room: ${full.join(', ')}` }
  if (state === 'outage') return { status: 'degraded', reason: `${name} wait for the service${error}` }
  const lost = losses.within(lossMs, now)
  if (lost.length > 0) return { status: 'degraded', reason: `${name} were dropped: ${lost.join(', ')}` }
  return allWell
}

/** When the drops of a lane were last seen to grow, by reason. */
class Losses {
  readonly #counts = new Map<DropReason, number>()
  readonly #grewAt = new Map<DropReason, number>()

  see(dropped: LaneFigures['dropped'], now: number): void {
    for (const reason of dropReasons) {
      if (dropped[reason] > (this.#counts.get(reason) ?? 0)) this.#grewAt.set(reason, now)
      this.#counts.set(reason, dropped[reason])
    }
  }

  /** The reasons for which records were dropped in the last `ms` milliseconds. */
  within(ms: number, now: number): DropReason[] {
    return [...this.#grewAt].filter(([, at]) => now - at < ms).map(([reason]) => reason)
  }
}

/** When a status began. */
class Since {
  #status: HealthStatus | undefined
  #text = ''

  /** ISO text. @param wall milliseconds since 1970 */
  of(status: HealthStatus, wall: number): string {
    if (status !== this.#status) this.#text = new Date(wall).toISOString()
    this.#status = status
    return this.#text
  }
}
