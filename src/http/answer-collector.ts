import type { Dispatcher } from 'undici'
import type { Timer } from '../runtime/clock.js'
import type { Loop } from '../runtime/loop.js'
import type { Answer } from './classify.js'
import { decoded } from './content-coding.js'
import { describeError } from './describe-error.js'
import { beginningBytes } from './request-head.js'
import { givenUpReason } from './settlement.js'

/** Headers from undici: names in lower case, repeated headers as a list. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>

/** The end of one request on the wire. */
export type Exchange =
  | {
      readonly type: 'answered'
      readonly answer: Answer
      /** True when the body was read to its end. Otherwise the status counts, and the body is the part that came. */
      readonly complete: boolean
      readonly headers: AnswerHeaders
    }
  | {
      readonly type: 'broken'
      /** True when undici had begun to write. A request that was never begun cannot become a duplicate. */
      readonly sent: boolean
      readonly reason: string
      readonly timedOut: boolean
      readonly cause: Error
    }

export interface CollectorPlan {
  readonly loop: Loop
  readonly requestTimeoutMs: number
  /** A longer body is not read further. */
  readonly maxBodyBytes: number
  /** Called before the request is written. False: it is not wanted any more. */
  readonly begin?: (() => boolean) | undefined
  readonly resolve: (exchange: Exchange) => void
}

/** Collects one answer from undici. It resolves once, in time, whatever happens. */
export class AnswerCollector implements Dispatcher.DispatchHandler {
  readonly #plan: CollectorPlan
  #timer: Timer | undefined
  #controller: Dispatcher.DispatchController | undefined
  #cancelled: Error | undefined
  #status = 0
  #headers: AnswerHeaders = {}
  readonly #body = new CollectedBytes()
  #finished = false

  constructor(plan: CollectorPlan) {
    this.#plan = plan
  }

  /** Abandon the request. One that has not started is never written. */
  cancel(cause: Error): void {
    if (this.#finished) return
    this.#break(cause, { reason: describeError(cause), timedOut: false })
    if (this.#controller === undefined) this.#cancelled = cause
    else this.#controller.abort(cause)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#cancelled === undefined && this.#plan.begin?.() === false) this.cancel(new Error(givenUpReason))
    if (this.#cancelled !== undefined) {
      controller.abort(this.#cancelled)
      return
    }
    this.#controller = controller
    // Until here the connector's own time-out runs.
    const { loop, requestTimeoutMs } = this.#plan
    this.#timer = loop.schedule(() => loop.immediate(() => this.#expire()), requestTimeoutMs)
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: AnswerHeaders): void {
    if (status < 200) return
    this.#status = status
    this.#headers = headers
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#finished) return
    if (this.#body.length + chunk.length <= this.#plan.maxBodyBytes) {
      this.#body.add(chunk)
      return
    }
    // The memory of the chunks is given up at once: an answer without an end comes faster than memory is given back.
    this.#body.cut(beginningBytes, chunk)
    this.#finishWithStatus({ complete: false })
    controller.abort(new Error('the answer is too long'))
  }

  onResponseEnd(): void {
    this.#finishWithStatus({ complete: true })
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#break(error, { reason: describeError(error), timedOut: false })
  }

  #break(cause: Error, about: { reason: string; timedOut: boolean }): void {
    if (this.#status !== 0) this.#finishWithStatus({ complete: false })
    else this.#finish({ type: 'broken', sent: this.#controller !== undefined, cause, ...about })
  }

  #finishWithStatus({ complete }: { complete: boolean }): void {
    const answer: Answer = {
      status: this.#status,
      retryAfter: first(this.#headers['retry-after']),
      location: first(this.#headers.location),
      correlationId: first(this.#headers['x-correlation-id']),
      body: decoded(this.#body.bytes, this.#codings, this.#plan.maxBodyBytes),
    }
    this.#finish({ type: 'answered', answer, complete, headers: this.#headers })
  }

  get #codings(): string | undefined {
    const header = this.#headers['content-encoding']
    return Array.isArray(header) ? header.join() : header
  }

  #finish(exchange: Exchange): void {
    if (this.#finished) return
    this.#finished = true
    this.#timer?.cancel()
    this.#plan.resolve(exchange)
  }

  /** Runs one turn of the event loop after the timer, so that an answer counts that came while the loop was blocked. */
  #expire(): void {
    if (this.#finished) return
    const cause = new Error(`no answer within ${this.#plan.requestTimeoutMs} ms`)
    this.#break(cause, { reason: cause.message, timedOut: true })
    this.#controller?.abort(new Error('timeout'))
  }
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}

/** The bytes of a body in one piece, however small the pieces that come. */
class CollectedBytes {
  #bytes: Buffer = Buffer.alloc(0)
  #length = 0

  get length(): number {
    return this.#length
  }

  add(chunk: Buffer): void {
    const length = this.#length + chunk.length
    // The first piece is not copied: it is mostly the only one.
    if (this.#length === 0) this.#bytes = chunk
    else {
      if (length > this.#bytes.length) this.#grow(length)
      chunk.copy(this.#bytes, this.#length)
    }
    this.#length = length
  }

  /** Keep a copy of the first `most` bytes alone, perhaps with the beginning of a chunk. */
  cut(most: number, chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.bytes.subarray(0, most), chunk.subarray(0, most)]).subarray(0, most)
    this.#length = this.#bytes.length
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  #grow(length: number): void {
    const grown = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, length))
    this.#bytes.copy(grown, 0, 0, this.#length)
    this.#bytes = grown
  }
}
