import { setTimeout } from 'node:timers/promises'
import { say } from '../stderr.js'
import type { RecordStorage } from '../storage/record-storage.js'
import type { Clocks } from '../storage/steady-time.js'
import { RetentionClock } from './retention-clock.js'

/** A pause is the length of the step before it times this factor: most of the time is left to writing. */
const pauseShare = 3
const shortestPauseMs = 10
const longestRoundMs = 60_000
const longestGraceMs = 24 * 60 * 60 * 1000

type OldRecords = Pick<RecordStorage, 'forget' | 'receiptsAround'>

/**
 * Forgets the records that were received longer ago than `retainMs`: at once, and then each minute, or ten times in that time if that is shorter.
 *
 * A start that finds records which got old while no receiver ran, and no record received in the `retainMs` after them, cannot tell a long break from a
 * clock that is wrong. It says so, and keeps the records for another `retainMs`, or a day if that is shorter.
 */
export class Retention {
  readonly #records: OldRecords
  readonly #retainMs: number
  readonly #graceMs: number
  readonly #clock: RetentionClock
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined
  /** Time since 1970, in ms, until which nothing is forgotten; undefined before the records have been looked at. */
  #heldUntil: number | undefined
  #hasFailed = false

  constructor(
    records: OldRecords,
    { retainMs, clocks }: { readonly retainMs: number; readonly clocks?: Clocks | undefined },
  ) {
    this.#records = records
    this.#retainMs = retainMs
    this.#graceMs = Math.min(retainMs, longestGraceMs)
    this.#clock = new RetentionClock({ graceMs: this.#graceMs, clocks })
  }

  start(): void {
    this.#running ??= this.#run()
  }

  /** Resolves when the step that runs has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const roundMs = Math.min(longestRoundMs, this.#retainMs / 10)
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#round()
        this.#hasFailed = false
      } catch (error) {
        if (!this.#hasFailed) say(`cannot delete old records, and tries again: ${(error as Error).message}`)
        this.#hasFailed = true
      }
      await this.#wait(roundMs)
    }
  }

  async #round(): Promise<void> {
    const now = this.#clock.now()
    const before = now - this.#retainMs
    this.#heldUntil ??= await this.#hold(now)
    if (now < this.#heldUntil) return
    while (!this.#stopping.signal.aborted) {
      const begin = performance.now()
      if ((await this.#records.forget(before)) === 0) return
      await this.#wait(Math.max(shortestPauseMs, (performance.now() - begin) * pauseShare))
    }
  }

  /** Looks at the records that got old before the start. Returns the time until which they are kept. */
  async #hold(now: number): Promise<number> {
    const { before, since } = await this.#records.receiptsAround(now - this.#retainMs)
    if (before === undefined || (since !== undefined && since - before <= this.#retainMs)) return now
    const until = Math.min(since ?? now, now) + this.#graceMs
    if (until > now) {
      const [last, end] = [before, until].map((ms) => new Date(ms).toISOString())
      say(
        `by the clock, the records up to ${last} are too old (--retain). They are deleted from ${end} on, unless a clock that is wrong is set`,
      )
    }
    return until
  }

  async #wait(ms: number): Promise<void> {
    await setTimeout(ms, undefined, { ref: false, signal: this.#stopping.signal }).catch(() => {})
  }
}
