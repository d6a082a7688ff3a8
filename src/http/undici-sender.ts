import type { LookupFunction, Socket } from 'node:net'
import { buildConnector, type Dispatcher, Pool } from 'undici'
import type { Clock, Timer } from '../delivery/clock.js'
import type { Batch, Outcome, Sender } from '../delivery/sender.js'
import type { RecordKind } from '../records/wire.js'
import { classify } from './classify.js'
import { maxBodyBytes, recordPath, requestHeaders } from './request-head.js'

/** How connections are made, where the defaults of Node do not serve. */
export interface ConnectionOptions {
  /** Name resolution. @default dns.lookup */
  readonly lookup?: LookupFunction
  /** Authorities to trust, PEM. @default those of Node */
  readonly ca?: string | Buffer
}

/** Where the key for `x-api-key` comes from. */
export interface KeySource {
  reveal(): string
  /** Whether there is another key now than the one that was refused. */
  renew(refused: string): boolean
}

export interface UndiciSenderPlan {
  /** Base URL; the paths of the API follow it. */
  readonly url: string
  /** Asked for the key at each request, and for another one when the service has refused it. */
  readonly apiKey: KeySource
  readonly userAgent: string
  readonly maxConnections: number
  readonly requestTimeoutMs: number
  readonly clock: Clock
  readonly connection?: ConnectionOptions
}

/**
 * The sure sender: one request after another on each connection of an undici pool, any framing, any answer.
 * undici repeats nothing by itself here, for nothing is pipelined.
 */
export class UndiciSender implements Sender {
  readonly maxDepth = 1
  readonly #pool: Pool
  readonly #plan: UndiciSenderPlan
  readonly #base: URL
  readonly #paths = new Map<string, string>()

  constructor(plan: UndiciSenderPlan) {
    this.#plan = plan
    this.#base = new URL(plan.url)
    this.#pool = new Pool(this.#base.origin, {
      connections: plan.maxConnections,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: quietConnector({ timeout: plan.requestTimeoutMs, ...plan.connection }),
    })
  }

  async send({ kind, bucket, records, settle }: Batch): Promise<void> {
    const path = this.#path(kind, bucket)
    for (const [index, { body, idempotencyKey }] of records.entries()) {
      settle(index, await this.#post({ path, body, idempotencyKey }))
    }
  }

  async close(): Promise<void> {
    await this.#pool.destroy().catch(() => {})
  }

  #post({ path, body, idempotencyKey }: { path: string; body: string; idempotencyKey: string }): Promise<Outcome> {
    return new Promise((resolve) => {
      const { clock, requestTimeoutMs, userAgent } = this.#plan
      const apiKey = this.#plan.apiKey.reveal()
      const handler = new AnswerHandler({
        clock,
        requestTimeoutMs,
        resolve: (outcome) => resolve(this.#afterRenewal(outcome, apiKey)),
      })
      const common = requestHeaders({ apiKey, userAgent })
      const headers = { ...common, 'idempotency-key': idempotencyKey }
      try {
        this.#pool.dispatch({ method: 'POST', path, body, headers }, handler)
      } catch (error) {
        handler.onResponseError(undefined, error as Error)
      }
    })
  }

  /** A key that was replaced meanwhile is no reason to pause. */
  #afterRenewal(outcome: Outcome, usedKey: string): Outcome {
    if (outcome.type !== 'pause' || outcome.status !== 401 || !this.#plan.apiKey.renew(usedKey)) return outcome
    return { type: 'retry', exchange: 'answered', reason: 'the key has been replaced (401)', backPressure: false }
  }

  #path(kind: RecordKind, bucket: string): string {
    const name = `${kind}/${bucket}`
    let path = this.#paths.get(name)
    if (path === undefined) {
      path = recordPath(this.#base, kind, bucket)
      this.#paths.set(name, path)
    }
    return path
  }
}

/** Collects one answer. A request that undici never started was never written, so it cannot be a duplicate later. */
class AnswerHandler implements Dispatcher.DispatchHandler {
  readonly #clock: Clock
  readonly #requestTimeoutMs: number
  readonly #resolve: (outcome: Outcome) => void
  #timer: Timer | undefined
  #controller: Dispatcher.DispatchController | undefined
  #status = 0
  #retryAfter: string | undefined
  #location: string | undefined
  #chunks: Buffer[] = []
  #bytes = 0
  #finished = false

  constructor(plan: { clock: Clock; requestTimeoutMs: number; resolve: (outcome: Outcome) => void }) {
    this.#clock = plan.clock
    this.#requestTimeoutMs = plan.requestTimeoutMs
    this.#resolve = plan.resolve
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // From here on: until the request leaves, the connector's own time-out runs.
    this.#timer = this.#clock.schedule(() => setImmediate(() => this.#expire()).unref(), this.#requestTimeoutMs)
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return
    this.#status = status
    this.#retryAfter = first(headers['retry-after'])
    this.#location = first(headers.location)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length
    this.#chunks.push(chunk)
    if (this.#bytes <= maxBodyBytes) return
    this.#finishWithStatus()
    controller.abort(new Error('the answer is too long'))
  }

  onResponseEnd(): void {
    this.#finishWithStatus(Buffer.concat(this.#chunks).toString('utf8'))
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#break({ reason: describe(error), backPressure: false })
  }

  /** The exchange broke. When the status had come, it counts: what was lost is only the body. */
  #break(cause: { reason: string; backPressure: boolean }): void {
    if (this.#status !== 0) this.#finishWithStatus()
    else this.#finish({ type: 'retry', exchange: this.#controller === undefined ? 'unsent' : 'ambiguous', ...cause })
  }

  #finishWithStatus(body = ''): void {
    const answer = { status: this.#status, retryAfter: this.#retryAfter, location: this.#location, body }
    this.#finish(classify(answer, Date.now()))
  }

  #finish(outcome: Outcome): void {
    if (this.#finished) return
    this.#finished = true
    this.#timer?.cancel()
    this.#resolve(outcome)
  }

  /** One turn of the event loop after the timer, so that an answer which came while the loop was blocked still counts. */
  #expire(): void {
    if (this.#finished) return
    this.#break({ reason: `no answer within ${this.#requestTimeoutMs} ms`, backPressure: true })
    this.#controller?.abort(new Error('timeout'))
  }
}

/** Connections whose sockets never keep the process alive: an unfinished flush does that with its own timer. */
function quietConnector(options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector(options)
  return (target, callback) => {
    const socket = connect(target, callback) as unknown as Socket | undefined
    if (socket === undefined) return
    socket.unref()
    // undici refs the socket while a request runs on it.
    socket.ref = () => socket
  }
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}

function describe(error: Error & { code?: string }): string {
  if (error instanceof AggregateError && error.message === '')
    return error.errors.map((each) => describe(each)).join('; ')
  return error.message === '' ? (error.code ?? error.name) : error.message
}
