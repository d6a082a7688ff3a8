import type { Timer } from '../../src/runtime/clock.js'
import { type Loop, systemLoop } from '../../src/runtime/loop.js'
import type { QueuedEvent } from './queued-event.js'
import type { World } from './world.js'

/** In milliseconds. */
const lookMs = 0.001

/** A timer that waits. */
interface Waiting {
  readonly keepAlive: boolean
}

/**
 * A thread of a simulated process. It runs one event at a time, and none while it is blocked, frozen or dead. Code in it uses its clock;
 * a call that blocks calls {@link block}.
 */
export class SimulatedThread {
  readonly name: string
  /** The clock of the code that runs in this thread. Its timers die with the thread. */
  readonly clock: Loop
  readonly #world: World
  readonly #waiting = new Set<Waiting>()
  readonly #whenKilled: (() => void)[] = []
  #busyUntil = 0
  /** What the clock has shown last. */
  #seen = 0
  #frozen: QueuedEvent[] | undefined
  #dead = false

  constructor(world: World, name: string) {
    this.name = name
    this.#world = world
    this.clock = {
      // Turns need no time.
      ...systemLoop,
      // Code takes time: no two looks at a clock show the same.
      now: () => (this.#seen = Math.max(world.now, this.#busyUntil, this.#seen + lookMs)),
      schedule: (task, delayMs, keepAlive = false) => this.#schedule(task, { delayMs, keepAlive }),
    }
  }

  get alive(): boolean {
    return !this.#dead
  }

  get frozen(): boolean {
    return this.#frozen !== undefined
  }

  /** Timers that wait. */
  get timers(): number {
    return this.#waiting.size
  }

  /** Those among them that hold the process. */
  get holdingTimers(): number {
    return [...this.#waiting].filter(({ keepAlive }) => keepAlive).length
  }

  /** Run `task` in this thread as soon as it can. */
  post(task: () => void, delayMs = 0): void {
    this.#world.schedule(task, delayMs, this)
  }

  /** The code that runs now makes a call that blocks the thread for `ms`. */
  block(ms: number): void {
    this.#busyUntil = this.clock.now() + ms
  }

  /** SIGSTOP: events wait until {@link thaw}. */
  freeze(): void {
    if (!this.#dead) this.#frozen ??= []
  }

  /** SIGCONT. */
  thaw(): void {
    const events = this.#frozen ?? []
    this.#frozen = undefined
    for (const event of events) this.#world.postpone(event, this.#world.now)
  }

  /** The thread ends in the middle of what it does: none of its events runs any more. */
  kill(): void {
    if (this.#dead) return
    this.#dead = true
    this.#frozen = undefined
    this.#waiting.clear()
    for (const task of this.#whenKilled.splice(0)) task()
  }

  /** Call `task` when the thread is killed. */
  whenKilled(task: () => void): void {
    this.#whenKilled.push(task)
  }

  /** Called by the world: true when the thread runs the event now; false when it runs it later or never. */
  takes(event: QueuedEvent): boolean {
    if (this.#dead) return false
    if (this.#frozen !== undefined) this.#frozen.push(event)
    else if (this.#busyUntil > event.at) this.#world.postpone(event, this.#busyUntil)
    else return true
    return false
  }

  #schedule(task: () => void, { delayMs, keepAlive }: { delayMs: number; keepAlive: boolean }): Timer {
    if (this.#dead) return { cancel: () => {} }
    const waiting = { keepAlive }
    this.#waiting.add(waiting)
    const late = this.clock.now() - this.#world.now
    const event = this.#world.schedule(
      () => {
        this.#waiting.delete(waiting)
        task()
      },
      // As in Node, a timer takes whole milliseconds, one at least.
      late + Math.max(1, Math.ceil(delayMs)),
      this,
    )
    return {
      cancel: () => {
        this.#waiting.delete(waiting)
        event.cancelled = true
      },
    }
  }
}
