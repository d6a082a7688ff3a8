import { type Clock, systemClock, type Timer } from '../runtime/clock.js'

const intervalMs = 1000
/** How often to look for work while there is none: a worker finds records on disk by itself. */
const idleIntervalMs = 10_000
/** A worker may leave this many questions in a row without an answer: while it starts, and later. */
const maxMissedAtStart = 60
const maxMissed = 5

export interface HeartbeatPlan {
  /** @default the machine's */
  readonly clock?: Clock
  /** Put a question to the worker. */
  readonly ask: () => void
  /** One word of shared memory. The worker increases it with each answer. */
  readonly answers: SharedArrayBuffer
  /** True from the moment at which the worker takes lines. */
  readonly started: () => boolean
  /** True while any work depends on the worker. */
  readonly busy: () => boolean
  /** Called when the worker has not answered for 5 s, or for 60 s during its start. */
  readonly stopped: () => void
}

/**
 * Detects a worker whose event loop stands still. A worker that is still starting has more time: on a busy machine a start takes long.
 *
 * It counts questions, not time: a process that was stopped for an hour, or was busy itself, has asked no questions meanwhile.
 */
export class Heartbeat {
  readonly #plan: HeartbeatPlan
  readonly #clock: Clock
  readonly #answers: Int32Array
  #asked = 0
  #missed = 0
  #started = false
  /** No work depends on the worker. */
  #idle = false
  #timer: Timer | undefined

  constructor(plan: HeartbeatPlan) {
    this.#plan = plan
    this.#clock = plan.clock ?? systemClock
    this.#answers = new Int32Array(plan.answers)
  }

  /** The worker has new work: ask every second until no work depends on it any more, and again when it has found some. */
  watch(): void {
    if (this.#timer !== undefined && !this.#idle) return
    this.#timer?.cancel()
    this.#idle = false
    this.#question()
    this.#schedule(() => this.#check(), intervalMs)
  }

  /** Block this thread until the worker answers, for `patienceMs` at most. True when it did. */
  answersWithin(patienceMs: number): boolean {
    this.#question()
    const deadline = this.#clock.now() + patienceMs
    for (let left = patienceMs; left > 0; left = deadline - this.#clock.now()) {
      const answers = Atomics.load(this.#answers, 0)
      if (answers === this.#asked) return true
      Atomics.wait(this.#answers, 0, answers, left)
    }
    return Atomics.load(this.#answers, 0) === this.#asked
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #question(): void {
    this.#asked++
    this.#plan.ask()
  }

  #check(): void {
    if (!this.#started && this.#plan.started()) {
      this.#started = true
      this.#missed = 0
    }
    this.#missed = Atomics.load(this.#answers, 0) === this.#asked ? 0 : this.#missed + 1
    if (this.#missed === (this.#started ? maxMissed : maxMissedAtStart)) {
      this.stop()
      this.#plan.stopped()
    } else if (this.#missed === 0 && !this.#plan.busy()) this.#rest()
    else {
      if (this.#missed === 0) this.#question()
      this.#schedule(() => this.#check(), intervalMs)
    }
  }

  /** Ask nothing until there is work. */
  #rest(): void {
    this.#idle = true
    this.#schedule(() => (this.#plan.busy() ? this.watch() : this.#rest()), idleIntervalMs)
  }

  #schedule(task: () => void, delayMs: number): void {
    this.#timer = this.#clock.schedule(task, delayMs)
  }
}

/** The worker's answer to a question. */
export function answerHeartbeat(answers: SharedArrayBuffer): void {
  const word = new Int32Array(answers)
  Atomics.add(word, 0, 1)
  Atomics.notify(word, 0)
}
