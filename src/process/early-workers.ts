import { isMainThread } from 'node:worker_threads'
import type { DrainMode } from '../control/control-block.js'
import { printLine } from '../diagnostics/stderr.js'
import { after, systemClock } from '../runtime/clock.js'
import { hostProcess } from '../runtime/host.js'
import { type RemoteEngine, undelivered } from './remote-engines.js'

/** Time after the import in which a ready worker answers, and a starting one most probably announces itself. */
const meetingMs = 1000
const lookMs = 20
/** An engine that accepts nothing in this number of looks has read its stream to the end. */
const quietLooks = 3

/**
 * The text of the listeners that pino adds: for `exit` while a worker is starting, for `beforeExit` when one is ready. By their names alone,
 * `flush` would wait for listeners of the application.
 */
const ofPino = /\bstream\.flushSync\(\)[\s\S]*\bstream\.end\(\)|\bcallRefs\w*\(["']beforeExit["']\)/

export interface EarlyWorkersPlan {
  /** Engines of other threads. */
  readonly known: () => readonly RemoteEngine[]
  /** True for a thread whose stream is known, or that has none. */
  readonly knows: (threadId: number) => boolean
  /** Flush engines of other threads. */
  readonly flush: (engines: readonly RemoteEngine[], timeoutMs: number) => Promise<unknown>
}

/**
 * Workers of pino that started before this package was imported. Their streams are unknown, so a drain finds the engines by their
 * answers, and the end of their lines by waiting until no more come.
 */
export class EarlyWorkers {
  readonly #plan: EarlyWorkersPlan
  readonly #mayExist: boolean
  readonly #meetUntil: number
  #met = false
  #passedWithout = false

  constructor(plan: EarlyWorkersPlan) {
    this.#plan = plan
    const listeners = [...hostProcess.listeners('exit'), ...hostProcess.listeners('beforeExit')]
    this.#mayExist = isMainThread && listeners.some((each) => ofPino.test(Function.prototype.toString.call(each)))
    this.#meetUntil = systemClock.now() + meetingMs
  }

  /** An engine has announced itself. Reports on stderr that an earlier drain missed it. */
  announced(engine: Pick<RemoteEngine, 'threadId'>): void {
    if (this.#plan.knows(engine.threadId)) return
    this.#met = true
    if (!this.#passedWithout) return
    this.#passedWithout = false
    printLine('a flush() has not waited for lines of a pino worker that had started before: import sluice before pino')
  }

  /**
   * Deliver all that was written to them before the call, within the time. Workers of other threads, whose starts this thread never sees, have
   * their time before a signal only: `flush` would take longer in every application with threads of threads.
   */
  async drain(timeoutMs: number, mode: DrainMode): Promise<void> {
    if (!this.#mayExist && (mode !== 'park' || this.#engines.length === 0)) return
    const deadline = systemClock.now() + timeoutMs
    while (!this.#met && this.#engines.length === 0) {
      if (systemClock.now() >= Math.min(deadline, this.#meetUntil)) {
        this.#passedWithout = true
        return
      }
      await after(lookMs, true).over
    }
    for (let quiet = 0; quiet < quietLooks && systemClock.now() < deadline; ) {
      const before = accepted(this.#engines)
      if (this.#engines.some((engine) => undelivered(engine.stats()) > 0)) {
        await this.#plan.flush(this.#engines, deadline - systemClock.now())
      }
      await after(lookMs, true).over
      quiet = accepted(this.#engines) === before ? quiet + 1 : 0
    }
  }

  get #engines(): readonly RemoteEngine[] {
    return this.#plan.known().filter(({ threadId }) => !this.#plan.knows(threadId))
  }
}

function accepted(engines: readonly RemoteEngine[]): number {
  return engines.reduce((sum, engine) => sum + engine.stats().accepted, 0)
}
