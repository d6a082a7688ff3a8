import type { LookupFunction, Socket } from 'node:net'
import { buildConnector, Pool } from 'undici'
import type { Clock } from '../delivery/clock.js'
import type { Batch, Outcome, Sender } from '../delivery/sender.js'
import type { RecordKind } from '../records/wire.js'
import { AnswerCollector, type Exchange } from './answer-collector.js'
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
      const handler = new AnswerCollector({
        clock,
        requestTimeoutMs,
        maxBodyBytes,
        resolve: (exchange) => resolve(this.#afterRenewal(outcomeOf(exchange), apiKey)),
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

function outcomeOf(exchange: Exchange): Outcome {
  if (exchange.type === 'answered') return classify(exchange.answer, Date.now())
  const { sent, reason, timedOut } = exchange
  return { type: 'retry', exchange: sent ? 'ambiguous' : 'unsent', reason, backPressure: timedOut }
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
