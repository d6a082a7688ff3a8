import type { RecordKind } from '../records/wire.js'
import type { ReadAnswer } from './read-answer.js'

/** The age of a connection, and its foreseen end. */
export interface Aged {
  /** Answers so far. */
  readonly served: number
  /** Answers after which the server says that it closes it. Infinite where the server says nothing. */
  readonly limit: number
}

/** Answers without an unforeseen close, after which a rule is put to the test, and a server without a rule is trusted again. */
const answersToTrust = 10_000

/**
 * Foresees the number of requests that a server takes on a connection, from its word (`keep-alive: max=N`) or from the closes so far. Many
 * servers process pipelined requests side by side, so that those behind the last answer of a connection may have been processed. So nothing
 * is written beyond a foreseen end: the connection is ended there, because the close of the server may be on its way. After a close that was
 * not foreseen, one request at a time goes out on each connection, until the closes follow a rule or stay away.
 */
export class ConnectionLife {
  /** The word of the server for new connections. */
  #limit = Number.POSITIVE_INFINITY
  /** Answers before the last close that was not foreseen. */
  #closedAfter: number | undefined
  /** Answers before each of two closes in a row. */
  #rule: number | undefined
  #answersSince = 0

  /** The last word of the server on any connection: it counts for new ones. */
  get limit(): number {
    return this.#limit
  }

  announced(limit: number): void {
    this.#limit = limit
  }

  answered(count: number): void {
    if (this.#closedAfter === undefined) return
    this.#answersSince += count
    if (this.#answersSince < answersToTrust) return
    if (this.#rule === undefined) this.#closedAfter = undefined
    else this.#distrust(this.#rule)
  }

  /** Requests that may be written at once on a connection without unanswered ones. 0 when it is about to end. */
  allowance(kind: RecordKind, { served, limit }: Aged): number {
    if (served >= limit) return 0
    // A repeated value is a wrong number. The first answer of a connection that may close can tell when it does.
    if (kind === 'values' && served === 0 && this.#mayClose(limit)) return 1
    if (this.#rule !== undefined) return Math.max(0, Math.min(limit, this.#rule) - served)
    return this.#closedAfter === undefined ? limit - served : 1
  }

  /** Call it when a connection has ended as the server announced. */
  closed({ served, limit }: Aged): void {
    if (served === limit || served === this.#rule) return
    if (served === this.#closedAfter) this.#rule = served
    else this.#distrust(served)
  }

  /** Call it after an answer that announces no end of its connection. One at the end of a rule breaks it: equal closes may come by chance. */
  goesOn({ served }: Aged): void {
    if (served === this.#rule) this.#distrust(served)
  }

  /** True when the server has announced a limit, or has closed a connection before. */
  #mayClose(limit: number): boolean {
    return limit !== Number.POSITIVE_INFINITY || this.#closedAfter !== undefined
  }

  #distrust(served: number): void {
    this.#rule = undefined
    this.#closedAfter = served
    this.#answersSince = 0
  }
}

/** The age of one connection. Until the server says something on it, its word on earlier ones counts. */
export class ConnectionAge implements Aged {
  served = 0
  limit: number
  readonly #life: ConnectionLife
  #max: number | undefined

  constructor(life: ConnectionLife) {
    this.#life = life
    this.limit = life.limit
  }

  /**
   * Take `keep-alive: max=N` from the next answer, which does not count as served yet. Some servers send the number of all requests of a
   * connection, like node:http. Others count down the requests that are left, like Apache.
   */
  read(max: number | undefined): void {
    if (max === undefined || max === this.#max) return
    const countsDown = this.#max !== undefined && max < this.#max
    this.limit = countsDown ? this.served + 1 + max : max
    if (this.#max === undefined) this.#life.announced(max)
    this.#max = max
  }
}

/** Is called with the facts that show the server's support for pipelining. */
export interface PipelineWatch {
  /** An answer that differs from the one before it on its connection. `echoes`: it has the idempotency key of its request. */
  saw(answer: ReadAnswer, echoes: boolean): void
  /** Answers have come in good order. */
  answered(count: number): void
  /** `probe`: the bytes came while a record tested the service. */
  misunderstood(reason: string, probe: boolean): void
  /**
   * A connection, opened at this time of the loop, has broken. Of several requests that had been written together one had no answer. The
   * server had not announced it, and it was no usual end: a time-out without any answer, as of a server that is stuck, or that of a
   * connection that had been idle, which servers close without a word.
   */
  broke(openedAt: number): void
}
