import type { Clock } from '../delivery/clock.js'

/** Wait before the disk is tried again; doubled with each failure. */
const firstWaitMs = 1000
const longestWaitMs = 30_000

/** Whether the disk takes what it is given. While it does not, it is tried from time to time, and both ends of the trouble are told. */
export class Health {
  readonly #dir: string
  readonly #clock: Clock
  readonly #tell: (text: string) => void
  #failures = 0
  #retryAt = 0
  #missed = 0

  constructor(plan: { readonly dir: string; readonly clock: Clock; readonly tell: (text: string) => void }) {
    this.#dir = plan.dir
    this.#clock = plan.clock
    this.#tell = plan.tell
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
    const { message } = error as Error
    this.#tell(
      `the spool in ${this.#dir} cannot be written (${message}): records are held in memory alone until it can`,
    )
  }

  succeeded(): void {
    if (this.#failures === 0) return
    this.#failures = 0
    const missed = this.#missed
    this.#missed = 0
    this.#tell(`the spool in ${this.#dir} can be written again; ${missed} records were held in memory alone`)
  }
}
