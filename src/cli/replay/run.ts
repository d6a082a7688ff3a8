import { maxBatch } from '../../delivery/batch.js'
import { Delivery } from '../../delivery/delivery.js'
import type { Sender } from '../../delivery/sender.js'
import { textOf } from '../../errors/text-of.js'
import type { ResolvedOptions } from '../../options/options.js'
import type { Loop } from '../../runtime/loop.js'
import { nextStep } from '../next-step.js'
import type { Progress } from '../progress.js'
import { RecordsInMemory, type ReplayAccount } from './records-in-memory.js'
import type { RecordsToSend, SentPlace } from './records-to-send.js'

export interface ReplayPlan {
  readonly records: RecordsToSend
  readonly sender: Sender
  readonly options: ResolvedOptions
  /** Records a second, at most. */
  readonly limitRate: number
  readonly progress: Progress
  readonly loop: Loop
  readonly random: () => number
  readonly signal: AbortSignal
  /** Called every tenth of a second. */
  readonly turn: () => void
}

const turnMs = 100
/** With a limit, records are sent in portions this far apart, or farther. */
const portionMs = 10
/** Records in memory, at most. More are read when half of them are settled. */
const maxHeld = 5000
/** It stops when the service has taken nothing for this long. */
const patienceMs = 60_000
/** The end waits this long for the last answers. */
const lastAnswersMs = 10_000

/**
 * Sends records with a delivery of its own, which retries and adapts as in an application. It stops when the service refuses the key or a
 * bucket, and when the service takes nothing for a minute.
 */
export class Replay {
  readonly #plan: ReplayPlan
  readonly #memory: RecordsInMemory
  readonly #delivery: Delivery
  #held = 0
  #settledAt: number
  #turnedAt = 0
  #allowance = 1
  #allowedAt: number
  #stopped: string | undefined
  #draining = false
  #wake: () => void = () => {}

  constructor(plan: ReplayPlan) {
    this.#plan = plan
    this.#settledAt = plan.loop.now()
    this.#allowedAt = plan.loop.now()
    this.#memory = new RecordsInMemory(plan.records, (place) => this.#settled(place))
    const { maxConnections, requestTimeoutMs, retryBaseMs, retryCapMs, probeBaseMs, probeCapMs } = plan.options
    this.#delivery = new Delivery({
      lanes: plan.records.lanes,
      sender: plan.sender,
      backing: this.#memory,
      loop: plan.loop,
      random: plan.random,
      observer: {
        paused: (_lane, { reason }) => this.#stop(reason),
        rejected() {},
        dropped() {},
        unreachable: () => this.#waits(`nothing listens at ${plan.options.url} (ECONNREFUSED)`),
        outage: (_lane, { reason, isTold }) => isTold || this.#waits(reason),
        resumed() {},
        recovered() {},
      },
      limits: { maxQueueRecords: 2 * maxHeld, maxQueueBytes: Number.POSITIVE_INFINITY },
      maxConnections,
      maxBatch,
      lingerMs: 0,
      requestTimeoutMs,
      retry: { baseMs: retryBaseMs, capMs: retryCapMs },
      probe: { baseMs: probeBaseMs, capMs: probeCapMs },
      keyPrefix: 'replay',
    })
  }

  get account(): ReplayAccount {
    return this.#memory.account
  }

  /** Why it did not send all records. */
  get stopped(): string | undefined {
    return this.#stopped
  }

  /** Resolves when every record is settled, or when it stops. Rejects when a file cannot be written. */
  async run(): Promise<void> {
    const { records, loop, signal } = this.#plan
    if (records.records === 0) return records.acknowledge()
    const interrupt = () => this.#stop(textOf(signal.reason))
    if (signal.aborted) interrupt()
    signal.addEventListener('abort', interrupt)
    try {
      while (this.#stopped === undefined) {
        this.#sendNext()
        if (records.allTaken && this.#held === 0) return
        if (records.allTaken) this.#drain()
        await this.#change()
        if (this.#held > 0 && loop.now() - this.#settledAt > patienceMs) this.#stop(this.#silence)
        this.#turn()
      }
    } finally {
      signal.removeEventListener('abort', interrupt)
      await this.#delivery.close({ timeoutMs: lastAnswersMs })
      records.acknowledge()
    }
  }

  #sendNext(): void {
    const most = Math.min(maxHeld - this.#held, this.#allowed())
    const next = most > 0 ? this.#plan.records.take(most) : []
    this.#allowance -= next.length
    if (this.#held === 0) this.#settledAt = this.#plan.loop.now()
    this.#held += next.length
    for (const record of next) {
      this.#delivery.accept(record.lane, record)
      this.#memory.add(this.#delivery.lanes[record.lane]!.logs.of(record.severity).newestSegment, record.place)
    }
  }

  /** Records that the rate allows now. A quarter of a second can be made up for. */
  #allowed(): number {
    if (this.#isUnlimited) return maxHeld
    const { limitRate, loop } = this.#plan
    const now = loop.now()
    const gained = ((now - this.#allowedAt) / 1000) * limitRate
    this.#allowance = Math.min(Math.max(1, limitRate / 4), this.#allowance + gained)
    this.#allowedAt = now
    return Math.floor(this.#allowance)
  }

  get #isUnlimited(): boolean {
    return this.#plan.limitRate === Number.POSITIVE_INFINITY
  }

  /** Resolves when there may be something to do. */
  async #change(): Promise<void> {
    const { limitRate, loop } = this.#plan
    const ms = this.#isUnlimited ? turnMs : Math.min(turnMs, Math.max(portionMs, 1000 / limitRate))
    await new Promise<void>((resolve) => {
      const timer = loop.schedule(resolve, ms, true)
      this.#wake = () => {
        timer.cancel()
        resolve()
      }
    })
  }

  /** All records are taken. Records that the drain gives up stay on disk. */
  #drain(): void {
    if (this.#draining) return
    this.#draining = true
    const { loop } = this.#plan
    const startedAt = loop.now()
    void this.#delivery.flush({ timeoutMs: patienceMs }).then(() => {
      this.#draining = false
      if (this.#held > 0 && loop.now() - startedAt < patienceMs) this.#stop(this.#refusal)
      this.#wake()
    })
  }

  #turn(): void {
    const now = this.#plan.loop.now()
    if (now - this.#turnedAt < turnMs) return
    this.#turnedAt = now
    this.#plan.records.acknowledge()
    this.#plan.turn()
  }

  get #silence(): string {
    return `the service has taken nothing for ${patienceMs / 1000} s: ${this.#withStep(this.#lastError)}`
  }

  get #refusal(): string {
    return `the service does not take the rest: ${this.#withStep(this.#lastError)}`
  }

  get #lastError(): string {
    const { lanes } = this.#delivery.stats()
    return lanes.find(({ lastError }) => lastError !== undefined)?.lastError ?? 'it does not answer'
  }

  #waits(reason: string): void {
    this.#plan.progress.say(`waits for the service: ${this.#withStep(reason)}`)
  }

  #withStep(reason: string): string {
    return `${reason}; ${nextStep(reason, this.#plan.options.url)}`
  }

  #settled({ bytes }: SentPlace): void {
    this.#held--
    this.#settledAt = this.#plan.loop.now()
    this.#plan.progress.advance(bytes)
    if (this.#held === 0 || (this.#isUnlimited && this.#held === maxHeld / 2)) this.#wake()
  }

  #stop(reason: string): void {
    this.#stopped ??= reason
    this.#wake()
  }
}
