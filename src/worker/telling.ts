import { channel } from 'node:diagnostics_channel'
import { writeSync } from 'node:fs'
import type { Clock, Timer } from '../delivery/clock.js'
import type { DropReason, LaneName } from '../delivery/ledger.js'
import type { Losses } from '../delivery/losses.js'
import type { Observer } from '../delivery/observer.js'
import type { Outcome } from '../delivery/sender.js'
import { SluiceError } from '../errors/sluice-error.js'

const channels = {
  dropped: channel('sluice:dropped'),
  rejected: channel('sluice:rejected'),
  paused: channel('sluice:paused'),
  resumed: channel('sluice:resumed'),
}

/** At most one line on stderr for each cause in this time. */
const quietMs = 60_000

/** One line on stderr, also in a worker at its end; never throws. */
export function printLine(text: string): void {
  try {
    writeSync(2, `sluice: ${text}\n`)
  } catch {
    // Nobody reads stderr; there is nowhere left to say so.
  }
}

/**
 * Tells what went wrong, to whom it may concern: `onError`, `node:diagnostics_channel` (`sluice:dropped`, `sluice:rejected`,
 * `sluice:paused`, `sluice:resumed`), and stderr with at most one line a minute per cause.
 */
export class Telling implements Observer {
  readonly #clock: Clock
  readonly #onError: ((error: Error) => void) | undefined
  readonly #causes = new Map<string, Cause>()
  readonly #drops = new Map<string, { lane: LaneName; reason: DropReason; count: number }>()
  readonly #warn: (message: string) => void
  #dropsScheduled = false
  #listening = false

  constructor(plan: {
    readonly clock: Clock
    readonly onError: ((error: Error) => void) | undefined
    /** Delivers a log record of ours, of level warn. */
    readonly warn: (message: string) => void
  }) {
    this.#clock = plan.clock
    this.#onError = plan.onError
    this.#warn = plan.warn
  }

  dropped(lane: LaneName, { reason, count }: { reason: DropReason; count: number }): void {
    const name = `${lane.kind}/${lane.bucket}/${reason}`
    const known = this.#drops.get(name)
    if (known === undefined) this.#drops.set(name, { lane, reason, count })
    else known.count += count
    if (this.#dropsScheduled) return
    this.#dropsScheduled = true
    queueMicrotask(() => this.#tellDrops())
  }

  rejected(lane: LaneName, { status, reason, validationErrors }: Outcome & { type: 'rejected' }): void {
    channels.rejected.publish({ ...lane, status, reason, validationErrors })
    this.#report('SLUICE_REJECTED', reason)
    this.#print(`rejected ${lane.kind}`, 1, (count) => `${records(count, lane)} rejected: ${reason}`)
  }

  paused(lane: LaneName, { status, reason, scope }: Outcome & { type: 'pause' }): void {
    channels.paused.publish({ ...lane, status, reason, scope })
    this.#report('SLUICE_PAUSED', reason)
    this.#print(`paused ${lane.kind} ${status}`, 1, () => `${laneText(lane)} paused, records are kept: ${reason}`)
  }

  resumed(lane: LaneName): void {
    channels.resumed.publish({ ...lane })
    this.#print(`resumed ${lane.kind}`, 1, () => `${laneText(lane)} resumed`)
  }

  /** The gap in a lane is told in the logs themselves, where somebody will look for what is missing. */
  recovered(lane: LaneName, { byReason, sinceMs, untilMs }: Losses): void {
    const wallClock = (moment: number) => new Date(Date.now() - (this.#clock.now() - moment)).toISOString()
    const total = [...byReason.values()].reduce((sum, count) => sum + count, 0)
    const reasons = [...byReason].map(([reason, count]) => `${reason} ${count}`).join(', ')
    this.#warn(`sluice: ${records(total, lane)} lost from ${wallClock(sinceMs)} to ${wallClock(untilMs)} (${reasons})`)
  }

  /** Something that concerns no lane, such as a bad event number. */
  misused(code: string, text: string): void {
    this.#report(code, text)
    this.#print(code, 1, () => text)
  }

  /** Print now what was held back. */
  close(): void {
    this.#tellDrops()
    for (const cause of this.#causes.values()) cause.close()
    this.#causes.clear()
  }

  #tellDrops(): void {
    this.#dropsScheduled = false
    const drops = [...this.#drops.values()]
    this.#drops.clear()
    for (const { lane, reason, count } of drops) {
      channels.dropped.publish({ ...lane, reason, count })
      const text = (total: number) => `${records(total, lane)} dropped (${reason}): ${explanations[reason]}`
      this.#report('SLUICE_DROPPED', text(count))
      this.#print(`dropped ${lane.kind} ${reason}`, count, text)
    }
  }

  /** Call `onError`; what it throws, and what it causes while it runs, changes nothing. */
  #report(code: string, text: string): void {
    if (this.#onError === undefined || this.#listening) return
    this.#listening = true
    try {
      const result: unknown = this.#onError(new SluiceError(code, text))
      if (result instanceof Promise) result.catch(() => {})
    } catch {
      // The application's listener must not disturb delivery.
    } finally {
      this.#listening = false
    }
  }

  #print(name: string, count: number, text: (count: number) => string): void {
    let cause = this.#causes.get(name)
    if (cause === undefined) {
      cause = new Cause(this.#clock)
      this.#causes.set(name, cause)
    }
    cause.add(count, text)
  }
}

/** One cause of lines: the first is printed at once, what follows within a minute is added up into one more. */
class Cause {
  readonly #clock: Clock
  #timer: Timer | undefined
  #held = 0
  #text: (count: number) => string = String

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(count: number, text: (count: number) => string): void {
    this.#text = text
    this.#held += count
    if (this.#timer !== undefined) return
    this.#flush()
  }

  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    if (this.#held > 0) printLine(this.#text(this.#held))
    this.#held = 0
  }

  #flush(): void {
    this.#timer = undefined
    if (this.#held === 0) return
    printLine(this.#text(this.#held))
    this.#held = 0
    this.#timer = this.#clock.schedule(() => this.#flush(), quietMs)
  }
}

const explanations: Readonly<Record<DropReason, string>> = {
  'queue-full': 'the queue is full; see SLUICE_MAX_QUEUE_RECORDS and SLUICE_MAX_QUEUE_BYTES',
  'hand-off-full': 'the delivery worker does not keep up',
  'spool-full': 'the spool is full',
  'too-old': 'older than the spool keeps records',
  closed: 'logged after close()',
  shutdown: 'not delivered before the end',
}

function records(count: number, { kind }: LaneName): string {
  const noun = kind === 'logs' ? 'log record' : 'value record'
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function laneText({ kind, bucket }: LaneName): string {
  return `lane ${kind} of bucket ${bucket}`
}
