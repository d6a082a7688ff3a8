import { channel } from 'node:diagnostics_channel'
import { writeSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { type DropReason, droppedTotal, type LaneName, type LaneReport, type Ledger } from '../delivery/ledger.js'
import type { Losses } from '../delivery/losses.js'
import type { Observer } from '../delivery/observer.js'
import { tellOutageAfterMs } from '../delivery/outage-watch.js'
import type { Outcome } from '../delivery/sender.js'
import { SluiceError, type SluiceErrorCode } from '../errors/sluice-error.js'
import { oneLine } from '../errors/text-of.js'
import type { Clock } from '../runtime/clock.js'
import { isNews, sharedEnd } from '../runtime/shared-state.js'
import type { SluiceMessages } from './channel-messages.js'
import { Throttle } from './throttle.js'

/** Where news goes besides stderr: to the application's listeners, in whichever thread they are. */
export interface Listeners {
  error(error: SluiceError): void
  channel(name: string, message: unknown): void
}

/** The listeners of this thread: `onError`, and those on node:diagnostics_channel. */
export function ownListeners(onError: ((error: SluiceError) => void) | undefined): Listeners {
  return {
    channel: (name, message) => channel(name).publish(message),
    error(error) {
      // What the application's listener throws or rejects is its own affair.
      try {
        const result: unknown = onError?.(error)
        if (result instanceof Promise) result.catch(() => {})
      } catch {}
    },
  }
}

/** News that somebody else may tell: of what the end has given up, of outages. */
export type Untold = 'shutdown' | 'outage'

/** At most one line on stderr for each cause in this time. */
const stderrQuietMs = 60_000
/** At most one call of `onError` for each cause in this time: one that logs must not keep itself busy. */
const listenerQuietMs = 1000

/** One line on stderr, also in a worker at its end; never throws. */
export function printLine(text: string): void {
  try {
    writeSync(2, `sluice: ${oneLine(text)}\n`)
  } catch {
    // Nobody reads stderr; there is nowhere left to say so.
  }
}

function printNews(text: string): void {
  if (isNews(text)) printLine(text)
}

/** The ledger in one line. */
export function ledgerLine(ledger: Ledger): string {
  const { accepted, delivered, rejected, spooled, queued, inFlight, adopted, ambiguousRetries } = ledger
  const balance = { accepted, delivered, rejected, dropped: droppedTotal(ledger), spooled, queued, inFlight }
  const counts = { ...balance, adopted, ambiguous: ambiguousRetries }
  const words = Object.entries(counts).map(([name, count]) => `${name}=${count}`)
  return `ledger ${words.join(' ')}`
}

/**
 * Tells what went wrong, to whom it may concern: `onError` at most once a second per cause, `node:diagnostics_channel`
 * (`sluice:dropped`, `sluice:rejected`, `sluice:paused`, `sluice:outage`, `sluice:resumed`), and stderr with at most one line a minute per cause.
 */
export class Reporter implements Observer {
  readonly #clock: Clock
  readonly #listeners: Listeners
  readonly #untold: readonly Untold[]
  readonly #causes = new Map<string, Cause>()
  readonly #warn: (message: string) => void
  readonly #print: (text: string) => void
  /** What holds for the whole process, and is said once in it. */
  readonly #printOnce: (text: string) => void

  constructor(plan: {
    readonly clock: Clock
    readonly listeners: Listeners
    /** Writes one line for people. @default to stderr */
    readonly print?: ((text: string) => void) | undefined
    /** Somebody else's to tell. @default nothing */
    readonly untold?: readonly Untold[] | undefined
    /** Delivers a log record of ours, of level warn. */
    readonly warn: (message: string) => void
  }) {
    this.#clock = plan.clock
    this.#listeners = plan.listeners
    this.#untold = plan.untold ?? []
    this.#warn = plan.warn
    const { print = printLine, print: printOnce = printNews } = plan
    this.#print = (text) => print(oneLine(text))
    this.#printOnce = (text) => printOnce(oneLine(text))
  }

  dropped(lane: LaneName, { reason, count }: { reason: DropReason; count: number }): void {
    // The end tells of all of them at once.
    if (reason !== 'shutdown') this.#dropped(lane, { reason, count, explanation: explanations[reason] })
  }

  /** Records that a worker held when it failed. The line about its failure counts those of all engines. */
  lostWithWorker(lane: LaneName, count: number): void {
    const explanation = explanations['worker-failed']
    this.#dropped(lane, { reason: 'worker-failed', count, explanation, listenersOnly: true })
  }

  /** The end: tell of what the lanes have given up now, and of all that was held back. */
  ended(lanes: readonly LaneReport[]): void {
    const listenersOnly = !isMainThread && sharedEnd.isReportedForAll
    for (const lane of this.#untold.includes('shutdown') ? [] : lanes) {
      const { kind, bucket, dropped, lastError } = lane
      const explanation = `not delivered before the end${lastErrorText(lastError)}`
      if (dropped.shutdown === 0) continue
      const loss = { reason: 'shutdown', count: dropped.shutdown, explanation, listenersOnly } as const
      this.#dropped({ kind, bucket }, loss)
    }
    for (const { listener, stderr } of this.#causes.values()) {
      listener.close()
      stderr.close()
    }
    this.#causes.clear()
  }

  #dropped(lane: LaneName, loss: Loss): void {
    const { reason, count, explanation, listenersOnly } = loss
    this.#tell(`dropped ${lane.kind} ${reason}`, {
      code: 'SLUICE_DROPPED',
      count,
      listenersOnly,
      text: (total) => `${records(total, lane)} dropped (${reason}): ${explanation}`,
      publish: (total) => this.#publish('sluice:dropped', { ...lane, reason, count: total }),
    })
  }

  rejected(lane: LaneName, { status, reason, validationErrors }: Outcome & { type: 'rejected' }): void {
    this.#publish('sluice:rejected', { ...lane, status, reason, validationErrors })
    this.#tell(`rejected ${lane.kind}`, {
      code: 'SLUICE_REJECTED',
      text: (count) => `${records(count, lane)} rejected: ${reason}`,
    })
  }

  paused(lane: LaneName, { status, reason, scope }: Outcome & { type: 'pause' }): void {
    this.#publish('sluice:paused', { ...lane, status, reason, scope })
    const text = () => `${laneText(lane)} paused, records are kept: ${reason}`
    this.#tell(`paused ${lane.kind} ${status}`, { code: 'SLUICE_PAUSED', text, once: true })
  }

  outage(lane: LaneName, { reason }: { readonly reason: string }): void {
    if (this.#untold.includes('outage')) return
    this.#publish('sluice:outage', { ...lane, reason })
    const text = () =>
      `${laneText(lane)} has delivered nothing for ${tellOutageAfterMs / 1000} s, records are kept: ${reason}`
    this.#tell(`outage ${lane.kind}`, { code: 'SLUICE_OUTAGE', text, once: true })
  }

  /** Good news is no error: `onError` does not hear of it. */
  resumed(lane: LaneName): void {
    this.#publish('sluice:resumed', { ...lane })
    this.#causeOf(`resumed ${lane.kind}`).stderr.add(1, () => this.#printOnce(`${laneText(lane)} resumed`))
  }

  /** The gap in a lane is told in the logs themselves, where somebody will look for what is missing. */
  recovered(lane: LaneName, { byReason, sinceMs, untilMs }: Losses): void {
    const wallClock = (moment: number) => new Date(Date.now() - (this.#clock.now() - moment)).toISOString()
    const total = [...byReason.values()].reduce((sum, count) => sum + count, 0)
    const reasons = [...byReason].map(([reason, count]) => `${reason} ${count}`).join(', ')
    this.#warn(`sluice: ${records(total, lane)} lost from ${wallClock(sinceMs)} to ${wallClock(untilMs)} (${reasons})`)
  }

  /** Something that concerns no lane, such as a bad event number. `onError` hears of each kind, stderr of all of them together. */
  misused(code: SluiceErrorCode, text: string, kind = ''): void {
    this.#causeOf(code).stderr.add(1, () => this.#printOnce(text))
    this.#causeOf(`${code} ${kind}`).listener.add(1, () => this.#listeners.error(new SluiceError(code, text)))
  }

  #publish<Name extends keyof SluiceMessages>(name: Name, message: SluiceMessages[Name]): void {
    this.#listeners.channel(name, message)
  }

  #tell(name: string, news: News): void {
    const { listener, stderr } = this.#causeOf(name)
    const { code, count = 1, text, publish, once = false, listenersOnly = false } = news
    const print = once ? this.#printOnce : this.#print
    if (!listenersOnly) stderr.add(count, (total) => print(text(total)))
    listener.add(count, (total) => {
      publish?.(total)
      this.#listeners.error(new SluiceError(code, text(total)))
    })
  }

  #causeOf(name: string): Cause {
    let cause = this.#causes.get(name)
    if (cause === undefined) {
      const clock = this.#clock
      cause = {
        stderr: new Throttle({ clock, quietMs: stderrQuietMs }),
        listener: new Throttle({ clock, quietMs: listenerQuietMs }),
      }
      this.#causes.set(name, cause)
    }
    return cause
  }
}

interface News {
  readonly code: SluiceErrorCode
  /** Records that it concerns. @default 1 */
  readonly count?: number
  readonly text: (count: number) => string
  readonly publish?: (count: number) => void
  /** The same from another engine is no news on stderr. @default false */
  readonly once?: boolean
  /** Somebody else says it on stderr. @default false */
  readonly listenersOnly?: boolean | undefined
}

interface Loss {
  readonly reason: DropReason
  readonly count: number
  readonly explanation: string
  readonly listenersOnly?: boolean
}

interface Cause {
  readonly listener: Throttle
  readonly stderr: Throttle
}

/** What went wrong last, as the end of a line. */
export function lastErrorText(lastError: string | undefined): string {
  return lastError === undefined ? '' : `; last error: ${lastError}`
}

const explanations: Readonly<Record<Exclude<DropReason, 'shutdown'>, string>> = {
  'queue-full': 'the queue is full; see SLUICE_MAX_QUEUE_RECORDS and SLUICE_MAX_QUEUE_BYTES',
  'hand-off-full': 'the delivery worker does not keep up',
  'spool-full': 'the spool is full',
  'too-old': 'older than the spool keeps records',
  closed: 'logged after close()',
  unreadable: 'the delivery worker stopped at this line',
  'worker-failed': 'the delivery worker has failed',
}

function records(count: number, { kind }: LaneName): string {
  const noun = kind === 'logs' ? 'log record' : 'value record'
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function laneText({ kind, bucket }: LaneName): string {
  return `lane ${kind} of bucket ${bucket}`
}
