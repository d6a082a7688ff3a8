import type { Dispatcher } from 'undici'
import type { Batch, Carriage, Outcome, Sender } from '../delivery/sender.js'
import type { RecordKind } from '../records/wire.js'
import { AnswerCollector, type Exchange } from './answer-collector.js'
import { classify } from './classify.js'
import { afterRenewal, withoutKey } from './key-source.js'
import { maxBodyBytes, recordPath, requestHeaders } from './request-head.js'
import type { SenderPlan } from './sender-plan.js'
import { certainOutcome, settleSafely } from './settlement.js'
import { type Sighting, sightingOf } from './sighting.js'
import { openUndiciPool } from './undici-pool.js'

export interface UndiciSenderPlan extends SenderPlan {
  /** Through which everything goes. @default none */
  readonly proxyUrl?: string | undefined
  /** Told what each success shows of the server. @default nobody */
  readonly saw?: (sighting: Sighting) => void
}

/**
 * The sure sender: one request after another on each connection of an undici pool, any framing, any answer.
 * undici repeats nothing by itself here, for nothing is pipelined.
 */
export class UndiciSender implements Sender {
  readonly #pool: Dispatcher
  readonly #plan: UndiciSenderPlan
  readonly #base: URL
  readonly #paths = new Map<string, string>()

  constructor(plan: UndiciSenderPlan) {
    this.#plan = plan
    this.#base = new URL(plan.url)
    const { maxConnections, requestTimeoutMs, connection, proxyUrl } = plan
    const { origin } = this.#base
    this.#pool = openUndiciPool({
      origin,
      maxConnections,
      requestTimeoutMs,
      proxyUrl,
      ...(connection && { connection }),
    })
  }

  carriage(): Carriage {
    return carriage
  }

  async send(batch: Batch): Promise<void> {
    const { kind, bucket, records } = batch
    const path = this.#path(kind, bucket)
    for (const [index, { body, idempotencyKey }] of records.entries()) {
      settleSafely(batch, { index, outcome: await this.#post({ path, body, idempotencyKey }) })
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
        resolve: (exchange) => {
          const source = this.#plan.apiKey
          const outcome = () => afterRenewal(withoutKey(outcomeOf(exchange), apiKey), { source, usedKey: apiKey })
          resolve(certainOutcome(outcome))
          this.#report(exchange, idempotencyKey)
        },
      })
      const common = requestHeaders({ apiKey, userAgent })
      const headers = { ...common, 'idempotency-key': idempotencyKey }
      try {
        this.#pool.dispatch({ origin: this.#base.origin, method: 'POST', path, body, headers }, handler)
      } catch (error) {
        handler.onResponseError(undefined, error as Error)
      }
    })
  }

  #report(exchange: Exchange, idempotencyKey: string): void {
    if (exchange.type !== 'answered' || !exchange.complete) return
    const { answer, headers } = exchange
    const { status } = answer
    if (status >= 200 && status < 300) this.#plan.saw?.(sightingOf({ status, headers }, idempotencyKey))
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

const carriage: Carriage = { sender: 'undici', maxDepth: 1 }

function outcomeOf(exchange: Exchange): Outcome {
  if (exchange.type === 'answered') return classify(exchange.answer, Date.now())
  const { sent, reason, timedOut } = exchange
  return { type: 'retry', exchange: sent ? 'ambiguous' : 'unsent', reason, backPressure: timedOut }
}
