import PQueue from 'p-queue'
import { failureWords } from '../../../../src/cli/next-step.js'
import type { Summary } from '../../../../src/cli/output.js'
import type { Progress } from '../../../../src/cli/progress.js'
import { ApiError } from '../../../../src/content/api-error.js'
import { type BackoffBounds, fullJitter } from '../../../../src/delivery/backoff.js'
import { longestWaitMs } from '../../../../src/delivery/rules.js'
import { counted } from '../../../../src/errors/counted.js'
import type { ApiErrorCode } from '../../../../src/errors/sluice-error.js'
import { textOf } from '../../../../src/errors/text-of.js'
import { pause } from '../../../../src/http/requester.js'
import type { Clock } from '../../../../src/runtime/clock.js'
import type { Line } from '../line-splitter.js'
import { type EntryLine, readEntry } from './entry.js'
import type { Journal } from './journal.js'
import type { Rejection, RejectsFile } from './rejects-file.js'

/** The service that gets the entries. */
export interface EntryTarget {
  /** Create an entry. Resolves with its id. Rejects with an {@link ApiError}. */
  send(entry: { readonly body: string; readonly idempotencyKey: string }): Promise<string>
}

export interface MigrationPlan {
  readonly lines: AsyncGenerator<Line, void>
  readonly target: EntryTarget
  readonly journal: Journal
  readonly rejects: RejectsFile
  readonly progress: Progress
  /** Entries under way at the same time. */
  readonly concurrency: number
  /** Backoff while the service asks for fewer requests. */
  readonly retry: BackoffBounds
  readonly clock: Clock
  readonly random: () => number
  /** Ends the migration: no further line is taken. */
  readonly signal: AbortSignal
}

/** The outcomes of the lines that were taken. They add up to `lines`, except for lines that were under way at a stop. */
export interface Account {
  lines: number
  /** Arrived in an earlier run. */
  before: number
  /** Arrived in this run. */
  arrived: number
  /** Not valid, so never sent. */
  invalid: number
  /** Sent, and refused by the service. */
  refused: number
  /** Sent, with an unknown result. */
  unknown: number
}

/** Attempts for one line while the service asks for fewer requests. */
const maxAttempts = 8

/** Failures that the next line would meet, too. */
const hopeless: ReadonlySet<ApiErrorCode> = new Set([
  'unauthorized',
  'not-found',
  'plan-required',
  'redirected',
  'not-the-service',
  'unsent',
])

/** Failures after which the entry may exist nevertheless. */
const mayHaveArrivedAfter: ReadonlySet<ApiErrorCode> = new Set([
  'no-answer',
  'server-error',
  'unreadable-answer',
  'not-the-service',
])

/** Statuses that are about one line, and not about the service. */
const lineFaults: ReadonlySet<number | undefined> = new Set([400, 409, 413, 422])

/** A longer wait is printed. */
const longWaitMs = 10_000

/**
 * Sends the lines of a file, several at a time. A refused line goes to the file of rejects. It stops at a failure that the next line would
 * meet, too, and after a series of failures of any kind. At a stop and at `signal` it waits for the lines under way.
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

  /** Why it did not take all lines. */
  get stopped(): string | undefined {
    return this.#stopping.signal.aborted ? textOf(this.#stopping.signal.reason) : undefined
  }

  /** Resolves when every taken line is settled. Rejects when a file cannot be read or written. */
  async run(): Promise<void> {
    const { lines, concurrency } = this.#plan
    const queue = new PQueue({ concurrency })
    const failures: unknown[] = []
    const fail = (error: unknown) => {
      failures.push(error)
      this.#stop('a file cannot be read or written')
    }
    try {
      for await (const line of lines) {
        if (this.stopped !== undefined) break
        queue.add(() => this.#settle(line)).catch(fail)
        // One line waits for those under way, so that no more of the file is in memory.
        await queue.onSizeLessThan(1)
      }
    } catch (error) {
      fail(error)
    }
    await queue.onIdle()
    if (failures.length > 0) throw failures[0]
  }

  async #settle(line: Line): Promise<void> {
    if (this.stopped !== undefined) return
    const { account } = this
    const { journal, progress } = this.#plan
    const before = journal.arrived.has(line.number)
    const entry = before ? undefined : readEntry(line)
    if (entry?.type === 'entry') await this.#send(line, entry)
    else if (entry?.type === 'invalid') await this.#reject(line, 'invalid', { reasons: entry.reasons })
    else if (before) account.before++
    if (entry?.type !== 'blank') account.lines++
    progress.advance(line.size, before)
  }

  async #send(line: Line, { body, contentTypeKey }: EntryLine & { type: 'entry' }): Promise<void> {
    const { journal, progress, target } = this.#plan
    const again = journal.unanswered.has(line.number)
    await journal.sending(line)
    let id: string | null
    try {
      id = await this.#patiently(line, () => target.send({ body, idempotencyKey: journal.idempotencyKey(line) }))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      // Any web server may answer 200 to any request. 201 means that something was created.
      if (error.code !== 'unreadable-answer' || error.status !== 201) {
        return await this.#failed(line, { error, again, contentTypeKey })
      }
      id = null
    }
    this.#failuresInARow = 0
    this.account.arrived++
    journal.hasArrived(line, id)
    if (again) {
      progress.say(
        `line ${line.number}: sent again, because its answer was lost; a service that ignores idempotency keys may have it twice`,
      )
    }
    if (id === null) progress.say(`line ${line.number}: has arrived, but its id could not be read`)
  }

  /** Repeat while the service asks for fewer requests. It has not carried out a request that it answers so. */
  async #patiently(line: Line, send: () => Promise<string>): Promise<string> {
    const { clock, progress, retry, random } = this.#plan
    for (let attempt = 0; ; attempt++) {
      try {
        return await send()
      } catch (error) {
        const busy = error instanceof ApiError && error.code === 'too-many-requests'
        if (!busy || attempt + 1 === maxAttempts || this.stopped !== undefined) throw error
        const { retryAfterMs: askedMs = 0 } = error
        const ms = Math.max(Math.min(askedMs, longestWaitMs), fullJitter(attempt, retry, random))
        const asked = askedMs > longestWaitMs ? `; the service asks for ${seconds(askedMs)}` : ', as the service asks'
        if (ms > longWaitMs) progress.say(`line ${line.number}: waits ${seconds(ms)}${asked}`)
        const stopped = await pause(clock, { ms, signal: this.#stopping.signal }).then(
          () => false,
          () => true,
        )
        if (stopped) throw error
      }
    }
  }

  async #failed(
    line: Line,
    { error, again, contentTypeKey }: { error: ApiError; again: boolean; contentTypeKey: string | undefined },
  ): Promise<void> {
    const { journal, progress } = this.#plan
    const { code, message, status, correlationId } = error
    const unknown = mayHaveArrivedAfter.has(code)
    // A line that may have arrived, now or in an earlier run, stays in the journal as sent.
    if (!unknown && !again) journal.hasNotArrived(line, code)
    // The next line may have another content type, or none of its own.
    const isOfLine = code === 'not-found' && contentTypeKey !== undefined
    if ((hopeless.has(code) && !isOfLine) || (code === 'too-many-requests' && this.stopped !== undefined)) {
      this.#stop(`line ${line.number}: ${failureWords(error)}`)
      return
    }
    const reasons = error.validationErrors.map((each) => `${each.name}: ${each.message}`)
    const rejection: Rejection = { reasons: reasons.length === 0 ? [message] : reasons, code, status, correlationId }
    if (unknown) {
      const words = this.#failuresInARow === 0 ? failureWords(error) : message
      progress.say(`line ${line.number}: may have arrived; the next run sends it again: ${words}`)
      await this.#reject(line, 'unknown', { ...rejection, mayHaveArrived: true })
    } else await this.#reject(line, 'refused', rejection)
    this.#failuresInARow = lineFaults.has(status) ? 0 : this.#failuresInARow + 1
    const most = Math.max(20, 2 * this.#plan.concurrency)
    if (this.#failuresInARow >= most)
      this.#stop(`${this.#failuresInARow} failures in a row, the last: ${failureWords(error)}`)
  }

  async #reject(line: Line, as: 'invalid' | 'refused' | 'unknown', rejection: Rejection): Promise<void> {
    this.account[as]++
    await this.#plan.rejects.add(line, rejection)
  }

  #stop(reason: string): void {
    if (this.stopped === undefined) this.#stopping.abort(reason)
  }
}

export function migrationSummary(
  account: Account,
  { stopped, rejects }: { readonly stopped: string | undefined; readonly rejects: Pick<RejectsFile, 'path' | 'lines'> },
): Summary {
  const { lines, before, arrived, invalid, refused, unknown } = account
  const have = before + arrived
  const ok = have === lines && stopped === undefined
  const all = stopped === undefined ? lines : have
  const arrivedText = `${stopped === undefined ? `${have} of ` : ''}${counted(all, 'line')} ${all === 1 ? 'has' : 'have'}`
  const earlier = before === 0 ? '' : ` (${before} of them in earlier runs)`
  const rejected = invalid + refused + unknown
  const kinds = [
    [invalid, 'not valid'],
    [refused, 'refused by the service'],
    [unknown, 'may have arrived'],
  ] as const
  const words = kinds.flatMap(([count, kind]) => (count === 0 ? [] : `${count} ${kind}`)).join(', ')
  // Without a correction, the next run would end like this one.
  const correct = stopped === undefined && unknown === 0 ? 'correct them in FILE and ' : ''
  return {
    ok,
    facts: { ...account, rejects: rejected === 0 ? null : rejects.path, stopped: stopped ?? null },
    lines: [
      `${arrivedText} arrived${earlier}`,
      rejected > 0 && `${rejected} ${rejected === 1 ? 'has' : 'have'} not, see ${rejects.path}: ${words}`,
      ...rejects.lines,
      !ok && `to go on, ${correct}give the same command again`,
    ],
  }
}

const seconds = (ms: number) => `${Math.ceil(ms / 1000)} s`
