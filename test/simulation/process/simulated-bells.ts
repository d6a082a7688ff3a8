import type { Bell, BellMaker } from '../../../src/control/bell.js'
import type { SimulatedThread } from '../simulated-thread.js'

interface Listener {
  readonly thread: SimulatedThread
  readonly task: () => void
  isCalled: boolean
}

/**
 * The bells of the words that the threads of a process share: a ring is an event in each thread that hears it. Another thread hears it after a
 * while, the one that rings in its next turn.
 */
export class SimulatedBells {
  /** Lets other threads work for so long while this one is blocked. */
  whileBlocked: (ms: number) => void = () => {}
  readonly #latencyMs: () => number
  readonly #listeners = new Map<ArrayBufferLike, Map<number, Set<Listener>>>()
  readonly #originals = new Map<ArrayBufferLike, ArrayBufferLike>()

  constructor(plan: { readonly latencyMs: () => number }) {
    this.#latencyMs = plan.latencyMs
  }

  /** The words of `copy` have the bells of the words of `original`. */
  share(original: ArrayBufferLike, copy: ArrayBufferLike): void {
    this.#originals.set(copy, original)
  }

  /** The bells as the code in a thread sees them. */
  of(thread: SimulatedThread): BellMaker {
    return ({ buffer }, word): Bell => {
      const listeners = this.#at(buffer, word)
      return {
        ring: () => {
          for (const each of listeners) this.#call(each, each.thread === thread ? 0 : this.#latencyMs())
        },
        heard: (task) => {
          const listener: Listener = { thread, task, isCalled: false }
          listeners.add(listener)
          return () => void listeners.delete(listener)
        },
        wait: (condition, waitMs) => {
          if (condition()) return true
          if (waitMs <= 0) return false
          const until = thread.clock.now() + waitMs
          this.whileBlocked(waitMs)
          if (condition()) return true
          thread.block(Math.max(0, until - thread.clock.now()))
          return false
        },
      }
    }
  }

  /** What a thread has to hear is called now. */
  call(thread: SimulatedThread): void {
    for (const words of this.#listeners.values()) {
      for (const listeners of words.values()) {
        for (const each of listeners) if (each.thread === thread) each.task()
      }
    }
  }

  #call(listener: Listener, latencyMs: number): void {
    if (listener.isCalled) return
    listener.isCalled = true
    listener.thread.post(() => {
      listener.isCalled = false
      listener.task()
    }, latencyMs)
  }

  #at(buffer: ArrayBufferLike, word: number): Set<Listener> {
    const original = this.#originals.get(buffer) ?? buffer
    const words = this.#listeners.get(original) ?? new Map<number, Set<Listener>>()
    this.#listeners.set(original, words)
    const listeners = words.get(word) ?? new Set()
    words.set(word, listeners)
    return listeners
  }
}
