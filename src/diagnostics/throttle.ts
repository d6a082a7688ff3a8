import { type Clock, queueMicrotask, type Timer } from '../runtime/clock.js'

/**
 * Passes the first occasions on at once, and adds up those within the quiet time that follows into one more. A listener that causes the
 * next occasion is therefore called once in a quiet time, and not without end.
 */
export class Throttle {
  readonly #clock: Clock
  readonly #quietMs: number
  #state: 'idle' | 'waiting' | 'quiet' = 'idle'
  #timer: Timer | undefined
  #held = 0
  #say: (count: number) => void = () => {}

  constructor(plan: { clock: Clock; quietMs: number }) {
    this.#clock = plan.clock
    this.#quietMs = plan.quietMs
  }

  add(count: number, say: (count: number) => void): void {
    this.#held += count
    this.#say = say
    if (this.#state !== 'idle') return
    this.#state = 'waiting'
    queueMicrotask(() => this.#speak())
  }

  close(): void {
    this.#timer?.cancel()
    this.#state = 'idle'
    this.#speak()
  }

  #speak(): void {
    this.#timer?.cancel()
    const count = this.#held
    this.#held = 0
    if (count === 0) {
      this.#state = 'idle'
      return
    }
    this.#state = 'quiet'
    this.#timer = this.#clock.schedule(() => this.#speak(), this.#quietMs)
    this.#say(count)
  }
}
