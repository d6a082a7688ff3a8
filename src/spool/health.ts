import { reasonOf } from '../errors/text-of.js'
import type { Clock } from '../runtime/clock.js'

/** Wait before the disk is tried again; doubled with each failure. */
const firstWaitMs = 1000
const longestWaitMs = 30_000

/** Trouble that keeps no record from being written: what it means. */
const hindrances = {
  close: 'a file could not be closed: a crash of the machine may cost its last records',
  remove: 'a file with nothing left in it cannot be removed: it takes room until somebody removes it',
  acknowledge:
    'it cannot be noted which records are delivered: the next process may send them again, with the same keys',
  deadLetter: 'dead letters cannot be written: rejected records are counted and told, but not kept',
  read: 'records cannot be read back: they stay on disk until it can be read',
  sign: 'the lock cannot be renewed: another machine may take the records over',
  adopt: 'what other processes have left cannot be taken over: it stays on disk',
  foreign: 'something in it was not made by Sluice and is left alone',
} as const

export type Hindrance = keyof typeof hindrances

/** Whether the disk takes what it is given. While it does not, it is tried from time to time, and both ends of the trouble are told. */
export class Health {
  readonly #dir: string
  readonly #clock: Clock
  readonly #report: (text: string) => void
  readonly #hindered = new Set<string>()
  #failures = 0
  #retryAt = 0
  #missed = 0

  constructor(plan: { readonly dir: string; readonly clock: Clock; readonly report: (text: string) => void }) {
    this.#dir = plan.dir
    this.#clock = plan.clock
    this.#report = plan.report
  }

  /** Whether to write now. */
  get tries(): boolean {
    return this.#failures === 0 || this.#clock.now() >= this.#retryAt
  }

  /** Try once more, whatever it has been like: there may be no other time. */
  retry(): void {
    this.#retryAt = 0
  }

  /** Records could not be kept. */
  missed(count: number): void {
    this.#missed += count
  }

  failed(error: unknown): void {
    const wait = Math.min(longestWaitMs, firstWaitMs * 2 ** this.#failures)
    this.#retryAt = this.#clock.now() + wait
    if (this.#failures++ > 0) return
    this.#report(
      `the spool in ${this.#dir} cannot be written (${wordsOf(error)}): records are held in memory alone until it can`,
    )
  }

  succeeded(): void {
    if (this.#failures === 0) return
    this.#failures = 0
    const missed = this.#missed
    this.#missed = 0
    this.#report(`the spool in ${this.#dir} can be written again; ${missed} records were held in memory alone`)
  }

  /** Something besides writing went wrong. Each kind is told once: it costs no record that is not delivered yet. */
  hindered(what: Hindrance, error: unknown): void {
    if (this.#hindered.has(what)) return
    this.#hindered.add(what)
    this.#report(`the spool in ${this.#dir}: ${hindrances[what]} (${wordsOf(error)})`)
  }
}

function wordsOf(error: unknown): string {
  return reasonOf(error)
}
