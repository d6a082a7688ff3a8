import { asking, type Question } from './postgres-rows.js'
import type { Servers } from './servers.js'

/** Ends the questions of a search that has taken its time, so that it can answer with what it has found. */
export class Hurry {
  /** Rejects when the time is over. */
  readonly ask: Question
  readonly #over = new AbortController()
  readonly #ms: number
  #timer: NodeJS.Timeout | undefined

  constructor(servers: Servers, { ms, signal }: { readonly ms: number; readonly signal: AbortSignal | undefined }) {
    const signals = [this.#over.signal, ...(signal === undefined ? [] : [signal])]
    this.ask = asking(servers.searching(AbortSignal.any(signals)))
    this.#ms = ms
  }

  /** The time runs from the first call on. */
  begin(): void {
    this.#timer ??= setTimeout(() => this.#over.abort(), this.#ms).unref()
  }

  isOver(): boolean {
    return this.#over.signal.aborted
  }
}
