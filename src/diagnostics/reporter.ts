import { channel } from 'node:diagnostics_channel'
import { tellOutageAfterMs } from '../delivery/gates.js'
import type { DropReason, LaneName, LaneReport } from '../delivery/ledger.js'
import type { Losses, Observer } from '../delivery/observer.js'
import type { Rejection } from '../delivery/rules.js'
import type { Outcome } from '../delivery/sender.js'
import { counted } from '../errors/counted.js'
import { SluiceError, type SluiceErrorCode } from '../errors/sluice-error.js'
import { oneLine } from '../errors/text-of.js'
import type { Clock } from '../runtime/clock.js'
import { isNews } from '../runtime/shared-state.js'
import type { SluiceMessages } from './channel-messages.js'
import { notify } from './error-listeners.js'
import { lastErrorText, printLine, stderrQuietMs } from './stderr.js'
import { type Held, Throttle } from './throttle.js'

/** The application's listeners, in whichever thread they are. */
export interface Listeners {
  error(error: SluiceError): void
  channel(name: string, message: unknown): void
}

/** The listeners of this thread: `onError`, and those on node:diagnostics_channel. */
export function ownListeners(onError: ((error: SluiceError) => void) | undefined): Listeners {
  return {
    channel: (name, message) => channel(name).publish(message),
    error: (error) => notify(onError, error),
  }
}

/** At most one call of `onError` for each cause in this time: a listener that logs must not cause its next call. */
const listenerQuietMs = 1000
/** Characters of a rejected record in its message. */
export const mostRecordChars = 4096

function printNews(text: string): void {
  if (isNews(text)) printLine(text)
}

/**
 * Reports losses and trouble: to `onError` at most once a second per cause, to `node:diagnostics_channel` (`sluice:dropped`,
 * `sluice:rejected`, `sluice:paused`, `sluice:outage`, `sluice:resumed`), and to stderr with at most one line a minute per cause.
 */
export class Reporter implements Observer {
  readonly #clock: Clock
  readonly #listeners: Listeners
  readonly #causes = new Map<string, Cause>()
  readonly #nowhere: string | undefined
  readonly #warn: (message: string) => void
  readonly #print: (text: string) => void
  /** Prints facts of the whole process, once in it. */
  readonly #printOnce: (text: string) => void
  readonly #end: { leaveToMain(): boolean }

  constructor(plan: {
    readonly clock: Clock
    readonly listeners: Listeners
    /** Writes one line for people. @default to stderr */
    readonly print?: ((text: string) => void) | undefined
    /** The text that says at once that nothing listens at the address of the service. @default none: such an outage is told when it has lasted */
    readonly nowhere?: string | undefined
    /** Asked at each loss at the end: true where the main thread reports them. The first answer stays. @default never */
    readonly end?: { leaveToMain(): boolean } | undefined
    /** Deliver a log record of level warn. @default not at all: only a delivery finds a gap in the logs */
    readonly warn?: (message: string) => void
  }) {
    this.#clock = plan.clock
    this.#listeners = plan.listeners
    this.#nowhere = plan.nowhere
    this.#warn = plan.warn ?? (() => {})
    this.#end = plan.end ?? { leaveToMain: () => false }
    const { print = printLine, print: printOnce = printNews } = plan
    this.#print = (text) => print(oneLine(text))
    this.#printOnce = (text) => printOnce(oneLine(text))
  }

  dropped(lane: LaneName, { reason, count }: { reason: DropReason; count: number }): void {
    // `ended` reports all of them at once, also where the main thread begins to report the end between the two: it leaves out these.
    if (reason === 'shutdown') this.#end.leaveToMain()
    else this.#dropped(lane, { reason, count, explanation: explanations[reason] })
  }

  /** Records that a worker held when it failed. One line about its failure counts them for all engines. */
  lostWithWorker(lane: LaneName, count: number): void {
    const explanation = explanations['worker-failed']
    this.#dropped(lane, { reason: 'worker-failed', count, explanation, listenersOnly: true })
  }

  /** The end: report what the lanes have dropped by `shutdown`, and all that throttles have held back. */
  ended(lanes: readonly LaneReport[]): void {
    for (const { kind, bucket, dropped, lastError } of lanes) {
      const explanation = `not delivered before the end${lastErrorText(lastError)}`
      if (dropped.shutdown === 0) continue
      const listenersOnly = this.#end.leaveToMain()
      const loss = { reason: 'shutdown', count: dropped.shutdown, explanation, listenersOnly } as const
      this.#dropped({ kind, bucket }, loss)
    }
    this.tellAll()
  }

  /** Report all that throttles have held back: the process may end next, and no later moment comes. */
  tellAll(): void {
    for (const { listener, stderr } of this.#causes.values()) {
      listener.close()
      stderr.close()
    }
    this.#causes.clear()
  }

  #dropped(lane: LaneName, loss: Loss): void {
    const { reason, count, explanation, listenersOnly } = loss
    this.#report(`dropped ${lane.kind} ${reason}`, {
      code: 'SLUICE_DROPPED',
      count,
      kind: explanation,
      listenersOnly,
      text: ({ total, words }) => `${records(total, lane)} dropped (${reason}): ${words}`,
      publish: (total) => this.#publish('sluice:dropped', { ...lane, reason, count: total }),
    })
  }

  rejected(lane: LaneName, rejection: Rejection & { readonly body: string }): void {
    const { status, reason, validationErrors, body } = rejection
    const record = body.slice(0, mostRecordChars)
    this.#publish('sluice:rejected', { ...lane, status, reason, validationErrors, record, at: Date.now() })
    this.#report(`rejected ${lane.kind}`, {
      code: 'SLUICE_REJECTED',
      kind: reason,
      text: ({ total, words }) => `${records(total, lane)} rejected: ${words}`,
    })
  }

  paused(lane: LaneName, { status, reason, scope }: Outcome & { type: 'pause' }): void {
    this.#publish('sluice:paused', { ...lane, status, reason, scope })
    const text = ({ words }: Held) => `${laneText(lane)} paused, records are kept: ${words}`
    this.#report(`paused ${lane.kind} ${status}`, { code: 'SLUICE_PAUSED', kind: reason, text, once: true })
  }

  unreachable(): void {
    if (this.#nowhere !== undefined) this.#printOnce(this.#nowhere)
  }

  outage(lane: LaneName, { reason, isTold = false }: { readonly reason: string; readonly isTold?: boolean }): void {
    this.#publish('sluice:outage', { ...lane, reason })
    const text = ({ words }: Held) =>
      `${laneText(lane)} has delivered nothing for ${tellOutageAfterMs / 1000} s, records are kept: ${words}`
    this.#report(`outage ${lane.kind}`, {
      code: 'SLUICE_OUTAGE',
      kind: reason,
      text,
      once: true,
      listenersOnly: isTold && this.#nowhere !== undefined,
    })
  }

  /** Good news does not go to `onError`. */
  resumed(lane: LaneName): void {
    this.#publish('sluice:resumed', { ...lane })
    this.#causeOf(`resumed ${lane.kind}`).stderr.add({}, () => this.#printOnce(`${laneText(lane)} resumed`))
  }

  /** Reports the gap of a lane in the logs themselves, where a reader looks for what is missing. */
  recovered(lane: LaneName, losses: Losses): void {
    this.#warn(gapText(lane, losses, this.#clock))
  }

  /** A mistake that concerns no lane, such as a bad event number. `onError` gets each kind, stderr all kinds together. */
  misused(code: SluiceErrorCode, text: string, kind = ''): void {
    this.#causeOf(code).stderr.add({ kind: text }, ({ total, kinds, words }) =>
      this.#printOnce(kinds === 1 ? words : `${total} reports: ${words}`),
    )
    this.#causeOf(`${code} ${kind}`).listener.add({}, () => this.#listeners.error(new SluiceError(code, text)))
  }

  #publish<Name extends keyof SluiceMessages>(name: Name, message: SluiceMessages[Name]): void {
    this.#listeners.channel(name, message)
  }

  #report(name: string, news: News): void {
    const { listener, stderr } = this.#causeOf(name)
    const { code, text, publish, once = false, listenersOnly = false } = news
    const print = once ? this.#printOnce : this.#print
    if (!listenersOnly) stderr.add(news, (held) => print(text(held)))
    listener.add(news, (held) => {
      publish?.(held.total)
      this.#listeners.error(new SluiceError(code, text(held)))
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
  /** Count of its records. @default 1 */
  readonly count?: number
  /** The part in which news of one cause differ. One text names all kinds. */
  readonly kind: string
  readonly text: (held: Held) => string
  readonly publish?: (count: number) => void
  /** Printed once in the process, whatever engine reports it. @default false */
  readonly once?: boolean
  /** Another part prints it. @default false */
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

const explanations: Readonly<Record<Exclude<DropReason, 'shutdown'>, string>> = {
  'queue-full': 'the queue is full; see SLUICE_MAX_QUEUE_RECORDS and SLUICE_MAX_QUEUE_BYTES',
  'hand-off-full': 'the delivery worker does not keep up',
  'spool-full': 'the spool is full',
  'too-old': 'older than the spool keeps records',
  closed: 'logged after close()',
  unreadable: 'the delivery worker stopped at this line',
  'worker-failed': 'the delivery worker has failed',
}

/** The text of the log record about a gap. */
export function gapText(lane: LaneName, { byReason, sinceMs, untilMs }: Losses, clock: Pick<Clock, 'now'>): string {
  const wallClock = (moment: number) => new Date(Date.now() - (clock.now() - moment)).toISOString()
  const total = [...byReason.values()].reduce((sum, count) => sum + count, 0)
  const reasons = [...byReason].map(([reason, count]) => `${reason} ${count}`).join(', ')
  return `sluice: ${records(total, lane)} lost from ${wallClock(sinceMs)} to ${wallClock(untilMs)} (${reasons})`
}

function records(count: number, { kind }: LaneName): string {
  return counted(count, kind === 'logs' ? 'log record' : 'value record')
}

function laneText({ kind, bucket }: LaneName): string {
  return `lane ${kind} of bucket ${bucket}`
}
