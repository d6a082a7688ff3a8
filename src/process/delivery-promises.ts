import { UsersListeners } from '../diagnostics/error-listeners.js'
import type { AcceptanceWatch, RecordPort } from '../engine/ports.js'
import { reasonOf } from '../errors/text-of.js'
import type { ResolvedOptions } from '../options/options.js'
import { setImmediate } from '../runtime/clock.js'
import { hasRequestContexts, type RequestContext, requestContext } from './request-context.js'
import { TurnFlushes } from './turn-flushes.js'

/** The promise for the records of one turn of the event loop. */
interface Turn {
  readonly delivered: Promise<void>
  /** The functions that have the promise, and the contexts of requests. */
  readonly told: Set<unknown>
}

/**
 * Promises of delivery for serverless platforms, which freeze a process that has answered: one promise for each turn of the event loop in
 * which an engine accepts records.
 *
 *     first record ─▶ waitUntil(promise)    end of the turn ─▶ flush ─▶ the promise resolves
 *
 * Every `waitUntil` of the engine's users gets it. For a user without one, the request that logs gets it, where the platform describes
 * its requests. The request is asked for during the call that logs: of two requests in one turn, each gets the promise.
 */
export class DeliveryPromises implements AcceptanceWatch {
  /** The option `waitUntil` of each user. */
  readonly users = new UsersListeners<ResolvedOptions['waitUntil']>()
  readonly #port: () => Pick<RecordPort, 'flush' | 'misused' | 'options'>
  readonly #flushes: TurnFlushes
  #turn: Turn | undefined
  #isReported = false

  /** @param port the engine, asked for when it has accepted a record */
  constructor(port: () => Pick<RecordPort, 'flush' | 'misused' | 'options'>) {
    this.#port = port
    this.#flushes = new TurnFlushes(port)
  }

  readonly accepted = (): boolean => {
    let asksPlatform = false
    for (const waitUntil of this.users.all) {
      if (waitUntil === undefined) asksPlatform = this.#hasRequests()
      else this.#tell(waitUntil, () => waitUntil(this.#current.delivered))
    }
    if (asksPlatform) this.#tellRequest()
    return !asksPlatform
  }

  get #current(): Turn {
    this.#turn ??= this.#begin()
    return this.#turn
  }

  #begin(): Turn {
    const delivered = new Promise<void>((resolve) => {
      setImmediate(() => {
        // Later records are not part of this flush. A platform that waits keeps the process alive itself: the natural end of another process
        // has a time of its own.
        this.#turn = undefined
        void this.#flushes.flush().then(resolve)
      })
    })
    return { delivered, told: new Set() }
  }

  #hasRequests(): boolean {
    try {
      return hasRequestContexts()
    } catch (error) {
      this.#report(error)
      return false
    }
  }

  #tellRequest(): void {
    try {
      const context = requestContext()
      if (context === undefined || this.#knows(context)) return
      this.#current.told.add(context.waitUntil)
      this.#tell(context, () => context.waitUntil(this.#current.delivered))
    } catch (error) {
      this.#report(error)
    }
  }

  /** A platform that makes a context for each question has one function for each request. Others may have one function for all requests. */
  #knows(context: RequestContext): boolean {
    const { told } = this.#current
    return told.has(context) || (told.has(context.waitUntil) && requestContext() !== context)
  }

  /** Hand the promise over, once in a turn to each receiver. */
  #tell(receiver: unknown, handOver: () => unknown): void {
    const { told } = this.#current
    if (told.has(receiver)) return
    // It may log itself.
    told.add(receiver)
    try {
      const result = handOver()
      if (result instanceof Promise) result.catch((error) => this.#report(error))
    } catch (error) {
      this.#report(error)
    }
  }

  #report(error: unknown): void {
    if (this.#isReported) return
    this.#isReported = true
    const text = `waitUntil failed, records are kept: ${reasonOf(error)}`
    this.#port().misused('SLUICE_WAIT_UNTIL', text)
  }
}
