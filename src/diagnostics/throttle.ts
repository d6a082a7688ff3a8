import { type Clock, queueMicrotask, type Timer } from '../runtime/clock.js'

/** Occasions that are told together. */
export interface Held {
  readonly total: number
  /** The kinds of them in words, with the number of each where there are several. */
  readonly words: string
  /** Number of kinds. */
  readonly kinds: number
}

/** Most kinds that are named. */
const mostKinds = 20

/**
 * Passes the first occasions on at once, and adds up the occasions within the quiet time that follows into one more. A listener that causes the
 * next occasion is therefore called once in a quiet time, and not without end.
 */
export class Throttle {
  readonly #clock: Clock
  readonly #quietMs: number
  #state: 'idle' | 'waiting' | 'quiet' = 'idle'
  #timer: Timer | undefined
  #held = new Map<string, number>()
  #total = 0
  #say: (held: Held) => void = () => {}

  constructor(plan: { clock: Clock; quietMs: number }) {
    this.#clock = plan.clock
    this.#quietMs = plan.quietMs
  }

  add({ count = 1, kind = '' }: { readonly count?: number; readonly kind?: string }, say: (held: Held) => void): void {
    this.#total += count
    const known = this.#held.get(kind)
    if (known !== undefined || this.#held.size < mostKinds) this.#held.set(kind, (known ?? 0) + count)
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
    const held = this.#take()
    if (held.total === 0) {
      this.#state = 'idle'
      return
    }
    this.#state = 'quiet'
    this.#timer = this.#clock.schedule(() => this.#speak(), this.#quietMs)
    this.#say(held)
  }

  #take(): Held {
    const total = this.#total
    const counts = [...this.#held]
    this.#held = new Map()
    this.#total = 0
    const others = counts.reduce((rest, [, count]) => rest - count, total)
    const named = counts.map(([kind, count]) => (counts.length > 1 && count > 1 ? `${kind} (${count})` : kind))
    return {
      total,
      kinds: counts.length,
      words: [...named, ...(others > 0 ? [`and ${others} others`] : [])].join('; '),
    }
  }
}
