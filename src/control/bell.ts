import { outsideTasks } from '../runtime/own-context.js'

/**
 * A word of shared memory that calls threads: each ring changes it, and those hear it that wait for it, whichever thread they are in. It holds
 * no process.
 */
export class Bell {
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

  /**
   * Call `task` in this thread after the rings from now on: once for several that come close together. Look at the memory after the call:
   * it may have changed before.
   *
   * @returns stops that
   */
  heard(task: () => void): () => void {
    let stopped = false
    let seen = this.#value
    const listen = (): void => {
      while (!stopped) {
        const { async, value } = Atomics.waitAsync(this.#words, this.#word, seen)
        if (async) return void value.then(hear)
        seen = this.#value
        task()
      }
    }
    const hear = (): void => {
      seen = this.#value
      if (!stopped) task()
      listen()
    }
    outsideTasks(listen)
    return () => {
      stopped = true
    }
  }

  /** Hold this thread until it rings, or `condition` holds, for `waitMs` at most. */
  wait(condition: () => boolean, waitMs: number): boolean {
    const seen = this.#value
    if (condition()) return true
    if (waitMs > 0) Atomics.wait(this.#words, this.#word, seen, waitMs)
    return condition()
  }

  get #value(): number {
    return Atomics.load(this.#words, this.#word)
  }
}
