import type { Carriage, Outcome, Outgoing, OutgoingBatch, Sender } from '../delivery/sender.js'
import type { RecordKind } from '../records/wire.js'
import type { Exchange } from './answer-collector.js'
import { classify } from './classify.js'
import { type LaneSlots, laneSlots } from './connection-slots.js'
import { maxBodyBytes, recordPath, requestHeaders } from './request-head.js'
import type { SenderPlan } from './sender-plan.js'
import { brokenOutcome, endSafely, safeOutcome, settleSafely } from './settlement.js'
import { UndiciPool } from './undici-pool.js'

export interface UndiciSenderPlan extends SenderPlan {
  /** @default none */
  readonly proxyUrl?: string | undefined
}

/**
 * The sure sender: one request at a time on each connection of an undici pool, with any framing and any answer. Undici repeats nothing,
 * because nothing is pipelined.
 */
export class UndiciSender implements Sender {
  readonly #plan: UndiciSenderPlan
  readonly #base: URL
  readonly #slots: LaneSlots
  /** One pool for each kind of record. The lanes never wait for each other's connections. */
  readonly #pools = new Map<RecordKind, UndiciPool>()
  readonly #paths = new Map<string, string>()
  #carriage: Carriage = carriages.plain

  constructor(plan: UndiciSenderPlan) {
    this.#plan = plan
    this.#base = new URL(plan.url)
    this.#slots = plan.slots ?? laneSlots(plan.maxConnections, plan.loop)
  }

  carriage(): Carriage {
    return this.#carriage
  }

  send(batch: OutgoingBatch): void {
    void this.#sendAll(batch)
  }

  async #sendAll(batch: OutgoingBatch): Promise<void> {
    const path = this.#path(batch.kind, batch.bucket)
    for (let index = 0; index < batch.length; index++) {
      settleSafely(batch, { index, outcome: await this.#post(batch, { path, record: batch.textOf(index) }) })
    }
    endSafely(batch)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()))
  }

  async #post(batch: OutgoingBatch, { path, record }: { path: string; record: Outgoing }): Promise<Outcome> {
    const { apiKey: source, userAgent } = this.#plan
    const { body, idempotencyKey } = record
    const usedKey = source.reveal()
    const headers = { ...requestHeaders({ apiKey: usedKey, userAgent }), 'idempotency-key': idempotencyKey }
    const { kind, connection } = batch
    const begin = () => batch.begin()
    const exchange = await this.#pool(kind).exchange({ method: 'POST', path, body, headers, connection, begin })
    this.#learn(exchange, idempotencyKey)
    return safeOutcome(() => outcomeOf(exchange), { source, usedKey })
  }

  #pool(kind: RecordKind): UndiciPool {
    let pool = this.#pools.get(kind)
    if (pool === undefined) {
      const { maxConnections, requestTimeoutMs, connection, proxyUrl, loop } = this.#plan
      const { origin } = this.#base
      const common = { origin, maxConnections, requestTimeoutMs, maxBodyBytes, proxyUrl, loop }
      pool = new UndiciPool({ ...common, slots: this.#slots[kind], ...(connection && { connection }) })
      this.#pools.set(kind, pool)
    }
    return pool
  }

  /** Learn from a success whether the server knows a repeated request by its key. */
  #learn(exchange: Exchange, idempotencyKey: string): void {
    if (exchange.type !== 'answered' || !exchange.complete) return
    const { answer, headers } = exchange
    if (answer.status < 200 || answer.status >= 300) return
    this.#carriage = headers['idempotency-key'] === idempotencyKey ? carriages.repeatable : carriages.plain
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

const carriages = {
  plain: { sender: 'undici', maxDepth: 1 },
  repeatable: { sender: 'undici', maxDepth: 1, repeatable: true },
} as const satisfies Record<string, Carriage>

function outcomeOf(exchange: Exchange): Outcome {
  return exchange.type === 'answered' ? classify(exchange.answer, Date.now()) : brokenOutcome(exchange)
}
