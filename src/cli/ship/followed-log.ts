import { stat } from 'node:fs/promises'
import { pause } from '../../http/requester.js'
import type { Clock } from '../../runtime/clock.js'
import type { RawLine } from './line-splitter.js'
import { factsOf, unreadableWords } from './open-input.js'
import { identityOf, OpenLog } from './open-log.js'

export interface FollowPlan {
  readonly path: string
  /** Begin at the end of the file that is there now. */
  readonly fromEnd: boolean
  readonly clock: Clock
  readonly say: (text: string) => void
  /** Takes a line; false when it does not, and no further one. */
  readonly take: (line: RawLine) => Promise<boolean>
  /** Ends it. */
  readonly signal: AbortSignal
}

/** How often it looks for what is new. */
const lookMs = 250
/** A program may write on to a log for a while after that was renamed: so long after its last line it is closed. */
const lingerMs = 5000

/**
 * Reads a log as it grows, and whatever takes its name later: a new file in the place of one that was renamed or deleted, of which the
 * rest is read, too; and the same file when it was cut. The rest of a line is waited for. A file that is not there is waited for.
 */
export class FollowedLog {
  readonly #plan: FollowPlan
  #log: OpenLog | undefined
  readonly #former = new Map<OpenLog, { lastAt: number }>()
  #trouble: string | undefined
  #first = true

  constructor(plan: FollowPlan) {
    this.#plan = plan
  }

  /** Resolves after `signal`. Never rejects. */
  async run(): Promise<void> {
    const { clock, signal } = this.#plan
    while (!signal.aborted) {
      await this.#look().catch((error) => this.#tell(unreadableWords(error)))
      await pause(clock, { ms: lookMs, signal }).catch(() => {})
    }
    for (const log of this.#open()) await this.#finish(log)
  }

  async #look(): Promise<void> {
    const { path, clock, fromEnd } = this.#plan
    const facts = await stat(path, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
      return undefined
    })
    const identity = facts === undefined ? undefined : identityOf(facts)
    if (this.#log !== undefined && identity !== this.#log.identity) {
      this.#former.set(this.#log, { lastAt: clock.now() })
      this.#log = undefined
    }
    if (this.#log === undefined && identity !== undefined) {
      const back = [...this.#former.keys()].find((log) => log.identity === identity)
      if (back === undefined) await factsOf(path)
      else this.#former.delete(back)
      this.#log = back ?? (await OpenLog.open(path, { fromEnd: fromEnd && this.#first }))
      if (this.#trouble !== undefined) this.#plan.say(`${path}: is there now`)
      this.#trouble = undefined
    } else if (identity === undefined && this.#first) this.#tell('there is no such file yet')
    this.#first = false
    for (const log of this.#open()) await this.#read(log)
  }

  /** Files that have lost the name first. */
  #open(): OpenLog[] {
    return [...this.#former.keys(), ...(this.#log === undefined ? [] : [this.#log])]
  }

  async #read(log: OpenLog): Promise<void> {
    const { clock, take, signal } = this.#plan
    const former = this.#former.get(log)
    for await (const line of log.lines()) {
      if (former !== undefined) former.lastAt = clock.now()
      if (signal.aborted || !(await take(line))) return
    }
    if (former !== undefined && clock.now() - former.lastAt >= lingerMs) await this.#finish(log)
  }

  async #finish(log: OpenLog): Promise<void> {
    this.#former.delete(log)
    const rest = log.rest()
    if (rest !== undefined) await this.#plan.take(rest)
    await log.close()
  }

  /** Once for as long as it lasts. */
  #tell(trouble: string): void {
    if (this.#trouble !== trouble) this.#plan.say(`${this.#plan.path}: ${trouble}; it is waited for`)
    this.#trouble = trouble
  }
}
