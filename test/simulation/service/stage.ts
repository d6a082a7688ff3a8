import type { Outcome, Outgoing, Sender } from '../../../src/delivery/sender.js'
import type { TextBatchPlan } from '../../../src/delivery/text-batch.js'
import { openSender } from '../../../src/http/auto-sender.js'
import type { RecordKind } from '../../../src/records/wire.js'
import { sendRecords } from '../../support/batch.js'
import { useTimeOf } from '../global-time.js'
import { SimulatedNetwork } from '../network/simulated-network.js'
import type { SimulatedThread } from '../simulated-thread.js'
import { World } from '../world.js'
import type { Tenant } from './shared-receiver.js'
import { type ServiceOptions, SimulatedService } from './simulated-service.js'

export interface StageOptions extends ServiceOptions {
  /** @default 1 */
  readonly seed?: number
  /** @default 'auto' */
  readonly pipelining?: 'auto' | 'off'
  /** @default 4 */
  readonly maxConnections?: number
  readonly tenant?: Tenant
}

/** A batch under way. */
export interface Sent {
  readonly outcomes: readonly Outcome[]
  readonly settled: Promise<void>
  done: boolean
}

export const requestTimeoutMs = 10_000

/** A real sender, the network and the service, in one world. */
export class Stage {
  readonly world: World
  readonly network: SimulatedNetwork
  readonly service: SimulatedService
  readonly thread: SimulatedThread
  readonly sender: Sender
  /** Names of what has happened. */
  readonly reached = new Set<string>()
  /** Reasons for which pipelining has ended. */
  readonly left: string[] = []
  readonly #bucket: string
  readonly #tenant: Tenant | undefined
  readonly #giveTimeBack: () => void

  constructor(options: StageOptions = {}) {
    const { seed = 1, pipelining = 'auto', maxConnections = 4, tenant, ...about } = options
    const reached = (name: string) => void this.reached.add(name)
    this.world = new World(seed, { keepsTrace: true })
    this.#giveTimeBack = useTimeOf(this.world)
    this.network = new SimulatedNetwork(this.world, { reached })
    const receiver = tenant === undefined ? {} : { receiver: tenant }
    this.service = new SimulatedService(this.world, this.network, { reached, ...receiver, ...about })
    if (tenant !== undefined) this.service.behave({ receiver: true })
    this.#tenant = tenant
    this.#bucket = tenant?.bucket ?? 'b'
    this.thread = this.world.thread('engine')
    const apiKey = tenant?.apiKey ?? 'key'
    this.sender = openSender({
      url: this.service.url,
      apiKey: { reveal: () => apiKey, renew: () => false },
      userAgent: 'sluice/test',
      maxConnections,
      maxBatch: 64,
      requestTimeoutMs,
      loop: this.thread.clock,
      pipelining,
      proxyUrl: undefined,
      left: (reason) => void this.left.push(reason),
      connection: { open: this.network.connector(this.thread, { connectTimeoutMs: requestTimeoutMs }) },
    })
  }

  /** The outcomes of these records, sent as one batch, when the world has run until then. */
  async send(
    numbers: readonly number[],
    kind: RecordKind = 'logs',
    about: Partial<TextBatchPlan> = {},
  ): Promise<readonly Outcome[]> {
    const sent = this.begin(numbers, kind, about)
    await this.world.run(10 * requestTimeoutMs, () => sent.done)
    if (!sent.done) throw new Error('the batch is not settled')
    return sent.outcomes
  }

  /** Send these records as one batch; the outcomes come while the world runs. */
  begin(numbers: readonly number[], kind: RecordKind = 'logs', about: Partial<TextBatchPlan> = {}): Sent {
    const outcomes: Outcome[] = []
    const settle = (from: number, outcome: Outcome, count = 1) => {
      for (let index = from; index < from + count; index++) {
        if (outcomes[index] !== undefined) throw new Error(`record ${index} has two outcomes`)
        outcomes[index] = outcome
        this.world.note(`${kind} ${numbers[index]}: ${outcome.type}`)
      }
    }
    const records = numbers.map((number) => this.#record(number, kind))
    const settled = sendRecords(this.sender, { kind, bucket: this.#bucket, records, settle, ...about })
    const sent = { outcomes, settled, done: false }
    void settled.then(() => {
      sent.done = true
    })
    return sent
  }

  /** The first success, after which the sender pipelines. */
  async warmUp(): Promise<void> {
    const [outcome] = await this.send([0])
    if (outcome?.type !== 'delivered') throw new Error(`the service is not well: ${JSON.stringify(outcome)}`)
  }

  keyOf(number: number, kind: RecordKind): string {
    return `key-${kind}-${String(number).padStart(7, '0')}`
  }

  #record(number: number, kind: RecordKind): Outgoing {
    const common = `"timeStamp":1767225600000,"appName":"shop","env":"test"`
    const body =
      kind === 'logs'
        ? `{${common},"level":"info","message":"r#${number} the order was placed and paid, ${'x'.repeat(120)}"}`
        : `{${common},"eventId":${1_000_000 + number}}`
    return { body, bytes: body.length, idempotencyKey: this.keyOf(number, kind) }
  }

  async end(): Promise<void> {
    await this.sender.close()
    await this.world.run(0)
    this.network.close()
    await this.world.run(0)
    this.#tenant?.leave()
    this.#giveTimeBack()
  }
}

/** The numbers from 1 to `count`. */
export function numbersTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1)
}
