import { counted } from '../errors/counted.js'
import { reasonOf } from '../errors/text-of.js'
import type { Clock } from '../runtime/clock.js'

/** Wait before the disk is tried again. It doubles with each failure. */
const firstWaitMs = 1000
const longestWaitMs = 30_000

/** Trouble that does not stop records from being written, and its effect. */
const troubles = {
  close: 'a file could not be closed: a crash of the machine may cost its last records',
  remove: 'a file without records cannot be removed: it takes room until that succeeds',
  acknowledge: 'cannot write which records are delivered: the next process may send them again, with the same keys',
  deadLetter: 'dead letters cannot be written: rejected records are counted, but not kept',
  read: 'records cannot be read back: they stay on disk until they can',
  sign: 'the lock cannot be renewed: a process on another machine may send the records, too',
  adopt: 'records of other processes cannot be taken over: they stay on disk',
  foreign: 'a file or folder in it was not made by Sluice and is left alone',
} as const

export type Trouble = keyof typeof troubles

/** Decides when to write to a disk that fails. It is tried again from time to time, and its failure and recovery are reported once each. */
export class Health {
  readonly #dir: string
  readonly #clock: Clock
  readonly #report: (text: string) => void
  readonly #troubles = new Set<string>()
  #failures = 0
  #retryAt = 0
  #missed = 0

  constructor(plan: { readonly dir: string; readonly clock: Clock; readonly report: (text: string) => void }) {
    this.#dir = plan.dir
    this.#clock = plan.clock
    this.#report = plan.report
  }

  /** True when it is time to write. */
  get tries(): boolean {
    return this.#failures === 0 || this.#clock.now() >= this.#retryAt
  }

  /** Try the disk next time, however it failed: there may be no later time. */
  retry(): void {
    this.#retryAt = 0
  }

  /** Count records that could not be written. */
  missed(count: number): void {
    this.#missed += count
  }

  failed(error: unknown): void {
    const wait = Math.min(longestWaitMs, firstWaitMs * 2 ** this.#failures)
    this.#retryAt = this.#clock.now() + wait
    if (this.#failures++ > 0) return
    this.#report(
      `the spool in ${this.#dir} cannot be written (${reasonOf(error)}): records are in memory alone until it can`,
    )
  }

  succeeded(): void {
    if (this.#failures === 0) return
    this.#failures = 0
    const missed = this.#missed
    this.#missed = 0
    this.#report(
      `the spool in ${this.#dir} can be written again; ${counted(missed, 'record')} ${missed === 1 ? 'was' : 'were'} in memory alone`,
    )
  }

  /** Report trouble besides writing, each kind once. It costs no record that is still to be delivered. */
  trouble(what: Trouble, error: unknown): void {
    if (this.#troubles.has(what)) return
    this.#troubles.add(what)
    this.#report(`the spool in ${this.#dir}: ${troubles[what]} (${reasonOf(error)})`)
  }
}
