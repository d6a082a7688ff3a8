import { type BackoffBounds, fullJitter } from '../delivery/backoff.js'
import type { Clock } from '../runtime/clock.js'
import type { Loop } from '../runtime/loop.js'
import type { Exchange } from './answer-collector.js'
import { retryAfterMs } from './classify.js'
import { UndiciPool, type UndiciRequest } from './undici-pool.js'

export interface RequesterPlan {
  /** Base URL. */
  readonly url: string
  readonly maxConnections: number
  readonly requestTimeoutMs: number
  /** @default none */
  readonly proxyUrl?: string | undefined
  readonly retry: BackoffBounds
  readonly loop: Loop
  /** Uniform in [0, 1). */
  readonly random: () => number
}

/** Attempts at one request, the first included. */
const maxAttempts = 5
/** Where the service asks for a longer pause, the caller gets the answer at once, and nothing is sent again. */
const longestRetryAfterMs = 60_000
/** No answer has a longer body. Nothing is read beyond it. */
const maxBodyBytes = 16_777_216

/**
 * Makes requests whose answers the caller waits for. A request that reads is repeated while the service cannot answer. One that writes is
 * repeated only when it was never sent. Redirects are not followed.
 */
export class Requester {
  readonly #plan: RequesterPlan
  readonly #pool: UndiciPool
  readonly #basePath: string
  #closed = false

  constructor(plan: RequesterPlan) {
    this.#plan = plan
    const { origin, pathname } = new URL(plan.url)
    this.#basePath = pathname.replace(/\/+$/, '')
    const { maxConnections, requestTimeoutMs, loop, proxyUrl } = plan
    const bounds = { maxConnections, requestTimeoutMs, maxBodyBytes }
    this.#pool = new UndiciPool({ origin, ...bounds, loop, proxyUrl, holdsProcess: true })
  }

  /**
   * Returns the exchange of the last attempt. Rejects only with the reason of `signal`.
   *
   * @param request whose path follows that of the base URL
   */
  async send(request: UndiciRequest): Promise<Exchange> {
    for (let attempt = 0; ; attempt++) {
      request.signal?.throwIfAborted()
      const exchange = await this.#pool.exchange({ ...request, path: this.#basePath + request.path })
      if (exchange.type === 'broken' || !exchange.complete) request.signal?.throwIfAborted()
      const waitMs = attempt + 1 < maxAttempts ? this.#waitMs(exchange, { request, attempt }) : undefined
      if (waitMs === undefined) return exchange
      await pause(this.#plan.loop, { ms: waitMs, signal: request.signal })
    }
  }

  /** Wait for the answers under way, then release every connection. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#pool.close()
  }

  /** Milliseconds before the next attempt. Undefined when there must be none. */
  #waitMs(exchange: Exchange, { request, attempt }: { request: UndiciRequest; attempt: number }): number | undefined {
    if (this.#closed) return undefined
    const reads = request.method === 'GET'
    const jitterMs = fullJitter(attempt, this.#plan.retry, this.#plan.random)
    if (exchange.type === 'broken') return reads || !exchange.sent ? jitterMs : undefined
    const { status, retryAfter } = exchange.answer
    if (!reads || !(isPassing(status) || (status < 300 && !exchange.complete))) return undefined
    const askedMs = retryAfterMs(retryAfter, Date.now()) ?? 0
    return askedMs > longestRetryAfterMs ? undefined : Math.max(askedMs, jitterMs)
  }
}

/** True for a status that may change when the request is repeated. */
function isPassing(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500
}

/** Wait, and keep the process alive. Rejects with the reason of `signal` when that comes first. */
export function pause(
  clock: Clock,
  { ms, signal }: { readonly ms: number; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const timer = clock.schedule(
      () => {
        signal?.removeEventListener('abort', abort)
        resolve()
      },
      ms,
      true,
    )
    const abort = () => {
      timer.cancel()
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', abort, { once: true })
  })
}
