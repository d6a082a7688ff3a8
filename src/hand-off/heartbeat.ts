import { clearInterval, setInterval, systemClock } from '../runtime/clock.js'

/** How often a worker is asked, and how many questions in a row it may leave unanswered: while it starts, and after that. */
const intervalMs = 1000
const maxMissedAtStart = 60
const maxMissed = 5

/**
 * Finds out that a worker does not turn its event loop any more. One that is stuck reads nothing, and never says so by itself. One that
 * is starting is not stuck: on a busy machine that takes a while.
 *
 * What counts is questions, not time: a process that was stopped for an hour, or was itself busy, has asked nothing meanwhile.
 */
export class Heartbeat {
  readonly #plan: HeartbeatPlan
  readonly #answers: Int32Array
  #asked = 0
  #missed = 0
  #started = false
  #timer: NodeJS.Timeout | undefined

  constructor(plan: HeartbeatPlan) {
    this.#plan = plan
    this.#answers = new Int32Array(plan.answers)
  }

  /** Something has been given to the worker: ask from time to time until nothing depends on it any more. */
  watch(): void {
    if (this.#timer !== undefined) return
    this.#question()
    this.#timer = setInterval(() => this.#check(), intervalMs).unref()
  }

  /** Hold this thread until the worker answers, for `patienceMs` at most; true when it did. */
  answersWithin(patienceMs: number): boolean {
    this.#question()
    const deadline = systemClock.now() + patienceMs
    for (let left = patienceMs; left > 0; left = deadline - systemClock.now()) {
      const answers = Atomics.load(this.#answers, 0)
      if (answers === this.#asked) return true
      Atomics.wait(this.#answers, 0, answers, left)
    }
    return Atomics.load(this.#answers, 0) === this.#asked
  }

  stop(): void {
    clearInterval(this.#timer)
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
    } else if (this.#missed === 0 && !this.#plan.busy()) this.stop()
    else if (this.#missed === 0) this.#question()
  }
}

export interface HeartbeatPlan {
  /** Put a question to the worker. */
  readonly ask: () => void
  /** One word in shared memory, increased by the worker with each answer. */
  readonly answers: SharedArrayBuffer
  /** True from the moment at which the worker takes lines. */
  readonly started: () => boolean
  /** True while anything depends on the worker. */
  readonly busy: () => boolean
  /** Called when it has not answered for 5 s, or 60 s while it was starting. */
  readonly stopped: () => void
}

/** The worker's side: answer a question. */
export function answerHeartbeat(answers: SharedArrayBuffer): void {
  const word = new Int32Array(answers)
  Atomics.add(word, 0, 1)
  Atomics.notify(word, 0)
}
