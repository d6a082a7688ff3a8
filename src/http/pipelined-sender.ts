import type { Carriage, OutgoingBatch, Sender } from '../delivery/sender.js'
import type { RecordKind } from '../records/wire.js'
import { ConnectionLife, type PipelineWatch } from './connection-life.js'
import { ConnectionPool } from './connection-pool.js'
import { laneSlots } from './connection-slots.js'
import { quietConnector } from './connector.js'
import { type PrebuiltHead, prebuiltHead } from './request-head.js'
import { PartBounds } from './request-writer.js'
import type { SenderPlan } from './sender-plan.js'
import { Transmission } from './transmission.js'
import { type Dial, socketDial } from './wire.js'

export interface PipelinedSenderPlan extends SenderPlan {
  /** Most requests in flight on one connection. */
  readonly maxDepth: number
  /** @default sockets of Node */
  readonly dial?: Dial
  /** @default none */
  readonly watch?: PipelineWatch
}

/**
 * The fast sender. It writes the requests of a batch to one connection in one go, and reads the answers as they come. Use it without a
 * proxy, and with several records in a batch only for servers that are known to speak plain HTTP/1.1. It repeats nothing: requests
 * that are written and not answered when a connection ends are ambiguous, whether the server announced the end or not. Each answer has
 * `requestTimeoutMs` after the one before it, so that a long batch to a slow server does not time out.
 */
export class PipelinedSender implements Sender {
  readonly #plan: PipelinedSenderPlan
  readonly #base: URL
  /** One pool for each kind of record. The lanes never wait for each other's connections. */
  readonly #pools: Readonly<Record<RecordKind, ConnectionPool>>
  readonly #parts: Readonly<Record<RecordKind, PartBounds>>
  readonly #heads = new Map<string, PrebuiltHead>()

  constructor(plan: PipelinedSenderPlan) {
    const {
      url,
      maxConnections,
      requestTimeoutMs,
      loop,
      slots = laneSlots(maxConnections, loop),
      connection,
      dial = socketDial(quietConnector({ connectTimeoutMs: requestTimeoutMs, ...connection }), new URL(url)),
      watch = noWatch,
    } = plan
    this.#plan = plan
    this.#base = new URL(url)
    const common = { dial, life: new ConnectionLife(), requestTimeoutMs, loop, watch }
    const pool = (kind: RecordKind) => new ConnectionPool({ ...common, kind, slots: slots[kind] })
    this.#pools = { logs: pool('logs'), values: pool('values') }
    const secure = this.#base.protocol === 'https:'
    this.#parts = { logs: new PartBounds({ secure }), values: new PartBounds({ secure }) }
  }

  carriage(kind: RecordKind): Carriage {
    return { sender: 'pipelined', maxDepth: Math.min(this.#plan.maxDepth, this.#parts[kind].depth) }
  }

  send(batch: OutgoingBatch): void {
    const { kind, bucket } = batch
    const { apiKey } = this.#plan
    const head = () => this.#head(kind, bucket)
    this.#pools[kind].carry(new Transmission({ batch, apiKey, head, parts: this.#parts[kind] }))
  }

  async close(): Promise<void> {
    for (const pool of Object.values(this.#pools)) pool.close()
  }

  #head(kind: RecordKind, bucket: string): PrebuiltHead {
    const name = `${kind}/${bucket}`
    const apiKey = this.#plan.apiKey.reveal()
    const built = this.#heads.get(name)
    if (built?.apiKey === apiKey) return built
    const head = prebuiltHead({ base: this.#base, kind, bucket, userAgent: this.#plan.userAgent }, apiKey)
    this.#heads.set(name, head)
    return head
  }
}

const noWatch: PipelineWatch = { saw() {}, answered() {}, misunderstood() {}, broke() {} }
