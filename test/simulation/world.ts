import { seeded } from '../support/seeded.js'
import { TimeHeap } from '../support/time-heap.js'
import type { QueuedEvent } from './queued-event.js'
import { SimulatedThread } from './simulated-thread.js'

/** Milliseconds since 1970 at which every simulation begins. */
export const epochMs = Date.UTC(2026, 0, 1)

/** Turns of Node's event loop for work that is no event. */
const mostTurns = 10_000

/**
 * A world in which only this program moves time: a queue of events, threads that run them one after another, and random sources that
 * follow from a seed. All that happens in it is decided by the seed, so that a run can be repeated.
 *
 * Code under simulation may use microtasks, `process.nextTick` and `setImmediate` of Node; these take no time here. It must not use real
 * timers, sockets, files, or another random source.
 */
export class World {
  readonly seed: number
  /** By how much the clock of the machine is ahead. */
  clockJumpMs = 0
  readonly #queue = new TimeHeap<QueuedEvent>()
  readonly #threads: SimulatedThread[] = []
  readonly #keepsTrace: boolean
  #now = 0
  #steps = 0
  #hash = 0x811c9dc5
  readonly #trace: string[] = []
  readonly #failures: string[] = []
  readonly #afterEach = new Set<() => void>()
  readonly #busy = new Set<() => boolean>()

  /** @param options `keepsTrace`: keep the lines of {@link note}, not only their hash. @default false */
  constructor(seed: number, { keepsTrace = false }: { readonly keepsTrace?: boolean } = {}) {
    this.seed = seed
    this.#keepsTrace = keepsTrace
  }

  /** Milliseconds since the begin of the simulation. */
  get now(): number {
    return this.#now
  }

  /** Milliseconds since 1970 that the clock of the machine shows at a time of the world. It may have jumped. */
  wallClock(now: number): number {
    return epochMs + this.clockJumpMs + now
  }

  /** Events that have run. */
  get steps(): number {
    return this.#steps
  }

  /** A random source of its own for each name, from 0 to below 1: one that is used more often changes no other. */
  random(name: string): () => number {
    return seeded(hashOf(name, this.seed ^ 0x9e3779b9))
  }

  thread(name: string): SimulatedThread {
    const thread = new SimulatedThread(this, name)
    this.#threads.push(thread)
    return thread
  }

  get threads(): readonly SimulatedThread[] {
    return this.#threads
  }

  /** Run `task` after `delayMs`, in a thread or, without one, as an event of the world itself: a fault, or bytes that arrive. */
  schedule(task: () => void, delayMs: number, thread?: SimulatedThread): QueuedEvent {
    const event: QueuedEvent = { at: this.#now + Math.max(0, delayMs), task, thread, cancelled: false }
    this.#queue.add(event)
    return event
  }

  /** Put back an event that its thread cannot run before `at`. */
  postpone(event: QueuedEvent, at: number): void {
    event.at = at
    this.#queue.add(event)
  }

  /** Add a line to the trace. It must say the same in each run of the seed: no ids that differ from run to run. */
  note(text: string): void {
    const line = `${this.#now.toFixed(3)} ${text}`
    this.#hash = hashOf(line, this.#hash)
    if (this.#keepsTrace) this.#trace.push(line)
  }

  /** Call `task` after each event. Returns an end of that. */
  afterEach(task: () => void): () => void {
    this.#afterEach.add(task)
    return () => void this.#afterEach.delete(task)
  }

  /** Time stands still while `isBusy`: work goes on that is no event. Returns an end of that. */
  standStillWhile(isBusy: () => boolean): () => void {
    this.#busy.add(isBusy)
    return () => void this.#busy.delete(isBusy)
  }

  /** Report a violation. The simulation goes on. */
  fail(text: string): void {
    this.note(`VIOLATION ${text}`)
    this.#failures.push(`at ${(this.#now / 1000).toFixed(3)} s: ${text}`)
  }

  get failures(): readonly string[] {
    return this.#failures
  }

  get trace(): readonly string[] {
    return this.#trace
  }

  /** Of all lines of the trace. */
  get traceHash(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, '0')
  }

  /** Run the events of the next `ms`, one after another; or until `done` is true, which is asked after each. */
  async run(ms: number, done: () => boolean = () => false): Promise<void> {
    const end = this.#now + ms
    await turn()
    for (let next = this.#queue.first; next !== undefined && next.at <= end; next = this.#queue.first) {
      this.#queue.removeFirst()
      if (next.cancelled) continue
      this.#now = Math.max(this.#now, next.at)
      if (next.thread !== undefined && !next.thread.takes(next)) continue
      this.#steps++
      try {
        next.task()
      } catch (error) {
        this.fail(`an exception that nobody caught: ${error instanceof Error ? error.stack : error}`)
      }
      await this.#standStill()
      for (const task of this.#afterEach) task()
      if (done()) return
    }
    if (!done()) this.#now = end
  }

  async #standStill(): Promise<void> {
    await turn()
    for (const isBusy of this.#busy) {
      for (let turns = 0; isBusy(); turns++) {
        if (turns > mostTurns) {
          this.fail('work that is no event does not end')
          this.#busy.delete(isBusy)
          break
        }
        await turn()
      }
    }
  }
}

/** Let microtasks, ticks and immediates run, also the immediates that these set. */
export function turn(): Promise<void> {
  // Immediates that microtasks and ticks set stand behind the first one.
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
}

/** FNV-1a. */
function hashOf(text: string, start: number): number {
  let hash = start
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash
}
