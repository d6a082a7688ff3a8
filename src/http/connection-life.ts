import type { RecordKind } from '../records/wire.js'
import type { ReadAnswer } from './response-reader.js'

/** A connection, as far as its end can be foreseen. */
export interface Aged {
  /** Answers so far. */
  readonly served: number
  /** After so many answers it ends, by the word of the server; infinite where it says nothing. */
  readonly limit: number
}

/** After so many answers without a close that was not foreseen, the server is trusted again. */
const answersToTrust = 10_000

/**
 * For how many requests a server keeps a connection, as far as is known: by its own word (`keep-alive: max=N`), or from the closes that
 * were seen. What is written behind the last answer of a connection may have been processed all the same, for many servers run pipelined
 * requests side by side. So nothing is written beyond an end that is foreseen, and where a close was not foreseen, one request at a time
 * goes out on each connection, until closes prove to follow a rule or stay away.
 */
export class ConnectionLife {
  /** By the word of the server, of the connections that come. */
  #limit = Number.POSITIVE_INFINITY
  /** The close that was not foreseen and came last: after so many answers. */
  #closedAfter: number | undefined
  /** Two closes in a row came after so many answers. */
  #rule: number | undefined
  #answersSince = 0

  /** The word of the server on one connection counts for the next ones, until those say something else. */
  get limit(): number {
    return this.#limit
  }

  announced(limit: number): void {
    this.#limit = limit
  }

  answered(count: number): void {
    if (this.#closedAfter === undefined) return
    this.#answersSince += count
    if (this.#rule === undefined && this.#answersSince >= answersToTrust) this.#closedAfter = undefined
  }

  /** Requests that may be written at once on a connection that has no unanswered ones. None when it is about to end. */
  allowance(kind: RecordKind, { served, limit }: Aged): number {
    if (served >= limit) return 0
    // A value twice is a wrong number: the first answer of a connection that may close can say when it does.
    if (kind === 'values' && served === 0 && this.#mayClose(limit)) return 1
    if (this.#rule !== undefined && served >= this.#rule) this.#distrust(this.#rule)
    if (this.#rule === undefined) return this.#closedAfter === undefined ? limit - served : 1
    return Math.min(limit, this.#rule) - served
  }

  /** The server has announced that a connection ends. */
  closed({ served, limit }: Aged): void {
    if (served === limit || served === this.#rule) return
    if (served === this.#closedAfter) this.#rule = served
    else this.#distrust(served)
  }

  /** The server has announced a limit, or closed a connection before. */
  #mayClose(limit: number): boolean {
    return limit !== Number.POSITIVE_INFINITY || this.#closedAfter !== undefined
  }

  #distrust(served: number): void {
    this.#rule = undefined
    this.#closedAfter = served
    this.#answersSince = 0
  }
}

/** The end of one connection, by the word of the server: after how many answers. */
export class SpokenLimit {
  readonly #life: ConnectionLife
  #answers: number
  #max: number | undefined

  /** Until the server says something on this connection, its word on those before counts. */
  constructor(life: ConnectionLife) {
    this.#life = life
    this.#answers = life.limit
  }

  get answers(): number {
    return this.#answers
  }

  /**
   * Take the word `keep-alive: max=N` of the `served`-th answer. Some servers say how many requests a connection takes in all, as node:http
   * does; others count down how many it still takes, as Apache does.
   */
  read(max: number | undefined, served: number): void {
    if (max === undefined || max === this.#max) return
    const countsDown = this.#max !== undefined && max < this.#max
    this.#answers = countsDown ? served + max : max
    if (this.#max === undefined) this.#life.announced(max)
    this.#max = max
  }
}

/** Hears how the server takes to pipelining. */
export interface PipelineWatch {
  /** An answer that differs from the one before it on its connection, and the idempotency key of its request. */
  saw(answer: ReadAnswer, idempotencyKey: string | undefined): void
  /** So many answers have come in good order. */
  answered(count: number): void
  misunderstood(reason: string): void
  /** A connection has broken with requests on it that are unanswered, and the server had not announced it. */
  broke(breakage: Breakage): void
}

export interface Breakage {
  /** When the connection was opened, on the clock. */
  readonly openedAt: number
  /** Requests that had been written together. */
  readonly requests: number
  /**
   * It says nothing of pipelining, for none of them was answered, and it was a time-out, as servers make that are stuck, or the connection
   * had been idle before, when servers close it without a word.
   */
  readonly usual: boolean
}
