import { ApiError } from '../../content/api-error.js'
import { type BackoffBounds, fullJitter } from '../../delivery/backoff.js'
import type { ApiErrorCode } from '../../errors/sluice-error.js'
import { textOf } from '../../errors/text-of.js'
import { pause } from '../../http/requester.js'
import type { Clock } from '../../runtime/clock.js'
import type { Progress } from '../progress.js'
import { readEntry } from './entry.js'
import type { Journal } from './journal.js'
import type { Line } from './line-reader.js'
import type { Rejection, RejectsFile } from './rejects-file.js'

/** Where entries go. */
export interface EntryTarget {
  /** Make an entry of the body of a request. Resolves with its id; rejects with an {@link ApiError}. */
  send(entry: { readonly body: string; readonly idempotencyKey: string }): Promise<string>
}

export interface MigrationPlan {
  readonly lines: AsyncGenerator<Line, void>
  readonly target: EntryTarget
  readonly journal: Journal
  readonly rejects: RejectsFile
  readonly progress: Progress
  /** Entries that are under way at the same time. */
  readonly concurrency: number
  /** Waits while the service asks for fewer requests. */
  readonly retry: BackoffBounds
  readonly clock: Clock
  readonly random: () => number
  /** Ends it from outside: no further line is taken. */
  readonly signal: AbortSignal
}

/** What has become of the lines that were taken. They add up to `lines`, but for those that were under way at a stop. */
export interface Account {
  lines: number
  /** Arrived in an earlier run. */
  before: number
  /** Arrived in this one. */
  arrived: number
  /** No entry, by their form; never sent. */
  invalid: number
  /** Sent, and not taken. */
  refused: number
  /** Sent, and nobody knows. */
  unknown: number
}

/** Attempts of a line while the service asks for fewer requests. */
const maxAttempts = 8

/** Failures that the next line would meet as well. */
const hopeless: ReadonlySet<ApiErrorCode> = new Set([
  'unauthorized',
  'not-found',
  'plan-required',
  'redirected',
  'not-the-service',
  'unsent',
])

/** Failures after which there may be an entry all the same. */
const mayHaveDone: ReadonlySet<ApiErrorCode> = new Set([
  'no-answer',
  'server-error',
  'unreadable-answer',
  'not-the-service',
])

/** Statuses that speak of one line, and not of the service. */
const lineFaults: ReadonlySet<number | undefined> = new Set([400, 409, 413, 422])

/** A longer wait is told. */
const longWaitMs = 10_000

/**
 * Sends the lines of a file, so many at a time. A line that the service refuses goes to the rejects; a failure that the next line would
 * meet as well stops it, and so does a series of failures of any kind. Then, and when `signal` comes, what is under way is waited for.
 */
export class Migration {
  readonly account: Account = { lines: 0, before: 0, arrived: 0, invalid: 0, refused: 0, unknown: 0 }
  readonly #plan: MigrationPlan
  readonly #stopping = new AbortController()
  #failuresInARow = 0

  constructor(plan: MigrationPlan) {
    this.#plan = plan
    const stop = () => this.#stop(textOf(plan.signal.reason))
    if (plan.signal.aborted) stop()
    else plan.signal.addEventListener('abort', stop, { once: true })
  }

  /** Why it did not go through all lines. */
  get stopped(): string | undefined {
    return this.#stopping.signal.aborted ? textOf(this.#stopping.signal.reason) : undefined
  }

  /** Resolves when every line that was taken is settled. Rejects when a file cannot be read or written. */
  async run(): Promise<void> {
    const { lines, concurrency } = this.#plan
    const work = async () => {
      while (this.stopped === undefined) {
        const next = await lines.next()
        if (next.done === true) return
        await this.#settle(next.value)
      }
    }
    const workers = Array.from({ length: concurrency }, work)
    try {
      await Promise.all(workers)
    } catch (error) {
      this.#stop('a file cannot be read or written')
      await Promise.allSettled(workers)
      throw error
    }
    await lines.return()
  }

  async #settle(line: Line): Promise<void> {
    const { account } = this
    const { journal, progress } = this.#plan
    const before = journal.arrived.has(line.number)
    const entry = before ? undefined : readEntry(line)
    if (entry?.type === 'entry') await this.#send(line, entry.body)
    else if (entry?.type === 'invalid') await this.#reject(line, 'invalid', entry)
    else if (before) account.before++
    if (entry?.type !== 'blank') account.lines++
    progress.advance(line.size, before)
  }

  async #send(line: Line, body: string): Promise<void> {
    const { journal, progress, target } = this.#plan
    const again = journal.unanswered.has(line.number)
    await journal.sending(line)
    let id: string | null
    try {
      id = await this.#patiently(line, () => target.send({ body, idempotencyKey: journal.idempotencyKey(line) }))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      // Any web server answers 200 to whatever it is asked; 201 says that there is something new.
      if (error.code !== 'unreadable-answer' || error.status !== 201) return await this.#failed(line, { error, again })
      id = null
    }
    this.#failuresInARow = 0
    this.account.arrived++
    journal.hasArrived(line, id)
    if (again) {
      progress.say(
        `line ${line.number}: sent again, for its answer was lost before; a service that does not heed idempotency keys may have it twice`,
      )
    }
    if (id === null) progress.say(`line ${line.number}: has arrived, but its id could not be read`)
  }

  /** Again while the service asks for fewer requests, which it has then not carried out. */
  async #patiently(line: Line, send: () => Promise<string>): Promise<string> {
    const { clock, progress, retry, random } = this.#plan
    for (let attempt = 0; ; attempt++) {
      try {
        return await send()
      } catch (error) {
        const busy = error instanceof ApiError && error.code === 'too-many-requests'
        if (!busy || attempt + 1 === maxAttempts || this.stopped !== undefined) throw error
        const ms = Math.max(error.retryAfterMs ?? 0, fullJitter(attempt, retry, random))
        if (ms > longWaitMs) progress.say(`line ${line.number}: waits ${Math.ceil(ms / 1000)} s, as the service asks`)
        const stopped = await pause(clock, { ms, signal: this.#stopping.signal }).then(
          () => false,
          () => true,
        )
        if (stopped) throw error
      }
    }
  }

  async #failed(line: Line, { error, again }: { error: ApiError; again: boolean }): Promise<void> {
    const { journal, progress } = this.#plan
    const { code, message, status, correlationId } = error
    const unknown = mayHaveDone.has(code)
    // A line that may have arrived, now or in an earlier run, stays in the journal as sent.
    if (!unknown && !again) journal.hasNotArrived(line, code)
    if (hopeless.has(code) || (code === 'too-many-requests' && this.stopped !== undefined)) {
      this.#stop(`line ${line.number}: ${message}`)
      return
    }
    const reasons = error.validationErrors.map((each) => `${each.name}: ${each.message}`)
    const rejection: Rejection = { reasons: reasons.length === 0 ? [message] : reasons, code, status, correlationId }
    if (unknown) {
      progress.say(`line ${line.number}: may have arrived; the next run sends it again: ${message}`)
      await this.#reject(line, 'unknown', { ...rejection, mayHaveArrived: true })
    } else await this.#reject(line, 'refused', rejection)
    this.#failuresInARow = lineFaults.has(status) ? 0 : this.#failuresInARow + 1
    const most = Math.max(20, 2 * this.#plan.concurrency)
    if (this.#failuresInARow >= most) this.#stop(`${this.#failuresInARow} failures in a row, the last: ${message}`)
  }

  async #reject(line: Line, as: 'invalid' | 'refused' | 'unknown', rejection: Rejection): Promise<void> {
    this.account[as]++
    const { reasons, code, status, correlationId, mayHaveArrived } = rejection
    await this.#plan.rejects.add(line, {
      reasons,
      code,
      status,
      correlationId,
      ...(mayHaveArrived === undefined ? {} : { mayHaveArrived }),
    })
  }

  #stop(reason: string): void {
    if (this.stopped === undefined) this.#stopping.abort(reason)
  }
}
