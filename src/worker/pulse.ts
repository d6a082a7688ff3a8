import { clearInterval, setInterval, systemClock } from '../delivery/clock.js'

/** How often a worker is asked, and how many questions in a row it may leave unanswered. */
const intervalMs = 1000
const maxMissed = 5

/**
 * Finds out whether a worker still turns its event loop. One that is stuck reads nothing, and never says so by itself.
 *
 * What counts is questions, not time: a process that was stopped for an hour, or was itself busy, has asked nothing meanwhile.
 */
export class Pulse {
  readonly #ask: () => void
  readonly #answers: Int32Array
  readonly #busy: () => boolean
  readonly #stopped: () => void
  #asked = 0
  #missed = 0
  #timer: NodeJS.Timeout | undefined

  constructor(plan: {
    /** Put a question to the worker. */
    readonly ask: () => void
    /** One word in shared memory, increased by the worker with each answer. */
    readonly answers: SharedArrayBuffer
    /** Whether anything depends on the worker now. */
    readonly busy: () => boolean
    /** It has not answered for some seconds. */
    readonly stopped: () => void
  }) {
    this.#ask = plan.ask
    this.#answers = new Int32Array(plan.answers)
    this.#busy = plan.busy
    this.#stopped = plan.stopped
  }

  /** Something has been given to the worker: ask from time to time until nothing depends on it any more. */
  watch(): void {
    if (this.#timer !== undefined) return
    this.#question()
    this.#timer = setInterval(() => this.#check(), intervalMs).unref()
  }

  /** Hold this thread until the worker answers, for `patienceMs` at most; whether it did. */
  isFelt(patienceMs: number): boolean {
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
    this.#ask()
  }

  #check(): void {
    this.#missed = Atomics.load(this.#answers, 0) === this.#asked ? 0 : this.#missed + 1
    if (this.#missed === maxMissed) {
      this.stop()
      this.#stopped()
    } else if (this.#missed === 0 && !this.#busy()) this.stop()
    else if (this.#missed === 0) this.#question()
  }
}

/** The worker's side: answer a question. */
export function answerPulse(answers: SharedArrayBuffer): void {
  const word = new Int32Array(answers)
  Atomics.add(word, 0, 1)
  Atomics.notify(word, 0)
}
