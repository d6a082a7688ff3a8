import { type Clock, systemClock, type Timer } from '../runtime/clock.js'
import { outsideTasks } from '../runtime/own-context.js'

/** Calls its listeners. */
export interface Bell {
  ring(): void
  /**
   * Call `task` in this thread after the rings from now on: once for several that come close together. Look at the memory after the call:
   * it may have changed before.
   *
   * @returns stops that
   */
  heard(task: () => void): () => void
  /** Hold this thread until `condition` holds, for `waitMs` at most. It is asked after each ring. True when it holds. */
  wait(condition: () => boolean, waitMs: number): boolean
}

/** A wake-up that is lost costs no more than this. */
const lookAgainMs = 10_000

/**
 * A word of shared memory: a ring changes it, and every thread hears the ring that waits for it. It holds no process.
 */
export class SharedBell implements Bell {
  readonly #words: Int32Array
  readonly #word: number

  constructor(words: Int32Array, word: number) {
    this.#words = words
    this.#word = word
  }

  ring(): void {
    Atomics.add(this.#words, this.#word, 1)
    Atomics.notify(this.#words, this.#word)
  }

  /** @param clock calls `task` once in a while, too, in case a runtime loses a wake-up */
  heard(task: () => void, clock: Clock = systemClock): () => void {
    let stopped = false
    let seen = this.#value
    let timer: Timer | undefined
    // Where the word has changed meanwhile, the value is no promise: the task is called after this code all the same.
    const listen = () => Promise.resolve(Atomics.waitAsync(this.#words, this.#word, seen).value).then(hear)
    const hear = (): void => {
      if (stopped) return
      seen = this.#value
      void listen()
      task()
    }
    const lookAgain = (): void => {
      timer = clock.schedule(() => {
        lookAgain()
        task()
      }, lookAgainMs)
    }
    outsideTasks(() => {
      lookAgain()
      void listen()
    })
    return () => {
      stopped = true
      timer?.cancel()
      // A wait without end would hold the memory for ever. Other waiters look once for nothing.
      Atomics.notify(this.#words, this.#word)
    }
  }

  wait(condition: () => boolean, waitMs: number): boolean {
    const until = systemClock.now() + waitMs
    for (;;) {
      const seen = this.#value
      if (condition()) return true
      const leftMs = until - systemClock.now()
      if (!(leftMs > 0)) return false
      Atomics.wait(this.#words, this.#word, seen, leftMs)
    }
  }

  get #value(): number {
    return Atomics.load(this.#words, this.#word)
  }
}

/** Makes the bell of a word of shared memory. */
export type BellMaker = (words: Int32Array, word: number) => Bell

export const sharedBell: BellMaker = (words, word) => new SharedBell(words, word)
