import { isAborted } from './requests.js'

/** Shortest time between two questions. */
const shortestMs = 3000
/** The receiver counts for at most a part of the time. */
const pausePerMs = 20

/**
 * Asks for counts, and again a while after records have arrived. Between two answers the page adds what arrives: of a record that comes while
 * the receiver counts, nobody knows if it is in the answer.
 */
export class Recount {
  #abort = new AbortController()
  #ask: (signal: AbortSignal) => Promise<void> = async () => {}
  #timer: number | undefined
  #isAsking = false
  #isDue = false

  /** Asks at once. A question under way is given up. */
  begin(ask: (signal: AbortSignal) => Promise<void>): void {
    this.end()
    this.#ask = ask
    void this.#run()
  }

  /** Records have arrived: asks again, but not too often. */
  recordsArrived(): void {
    this.#isDue = true
    if (!this.#isAsking && this.#timer === undefined) this.#wait(shortestMs)
  }

  end(): void {
    this.#abort.abort()
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#isAsking = false
  }

  async #run(): Promise<void> {
    const abort = new AbortController()
    this.#abort = abort
    this.#isAsking = true
    this.#isDue = false
    const startedAt = performance.now()
    try {
      await this.#ask(abort.signal)
    } catch (error) {
      if (!isAborted(error)) throw error
    }
    if (abort !== this.#abort || abort.signal.aborted) return
    this.#isAsking = false
    this.#wait(Math.max(shortestMs, (performance.now() - startedAt) * pausePerMs))
  }

  #wait(ms: number): void {
    this.#timer = window.setTimeout(() => {
      this.#timer = undefined
      if (this.#isDue) void this.#run()
    }, ms)
  }
}
