import { Delivery } from '../../delivery/delivery.js'
import type { Outcome, Sender } from '../../delivery/sender.js'
import type { Place, Storable, Store } from '../../delivery/store.js'
import { textOf } from '../../errors/text-of.js'
import { pause } from '../../http/requester.js'
import type { ResolvedOptions } from '../../options/options.js'
import type { Clock } from '../../runtime/clock.js'
import type { Progress } from '../progress.js'
import type { RecordsToSend, SentPlace } from './records-to-send.js'

export interface ReplayPlan {
  readonly records: RecordsToSend
  readonly sender: Sender
  readonly options: ResolvedOptions
  /** Records a second, at most. */
  readonly limitRate: number
  readonly progress: Progress
  readonly clock: Clock
  readonly random: () => number
  readonly signal: AbortSignal
  /** Called every tenth of a second. */
  readonly turn: () => void
}

const turnMs = 100
const pauseMs = 10
/** Records held at a time. */
const maxHeld = 5000
/** It stops when the service has taken nothing for so long. */
const patienceMs = 60_000
/** How long answers are waited for at the end. */
const lastAnswersMs = 10_000

/**
 * Sends records by a delivery of its own, which retries, adapts and pauses as always; but where somebody has to mend something first, or the
 * service is out of reach for a minute, it stops.
 */
export class Replay {
  readonly #plan: ReplayPlan
  readonly #store: ReplayStore
  readonly #delivery: Delivery
  #held = 0
  #settledAt: number
  #turnedAt = 0
  #stopped: string | undefined
  #draining = false

  constructor(plan: ReplayPlan) {
    this.#plan = plan
    this.#settledAt = plan.clock.now()
    this.#store = new ReplayStore(plan.records, (place) => this.#settled(place))
    const { maxConnections, maxBatch, requestTimeoutMs, retryBaseMs, retryCapMs, probeBaseMs, probeCapMs } =
      plan.options
    this.#delivery = new Delivery({
      lanes: plan.records.lanes,
      sender: plan.sender,
      store: this.#store,
      clock: plan.clock,
      random: plan.random,
      observer: {
        paused: (_lane, { reason }) => this.#stop(reason),
        rejected() {},
        dropped() {},
        outage() {},
        resumed() {},
        recovered() {},
      },
      limits: { maxQueueRecords: 2 * maxHeld, maxQueueBytes: Number.POSITIVE_INFINITY },
      maxConnections,
      maxBatch,
      requestTimeoutMs,
      retry: { baseMs: retryBaseMs, capMs: retryCapMs },
      probe: { baseMs: probeBaseMs, capMs: probeCapMs },
      keyPrefix: 'replay',
    })
  }

  get account(): ReplayAccount {
    return this.#store.account
  }

  /** Why it did not send all records. */
  get stopped(): string | undefined {
    return this.#stopped
  }

  /** Resolves when every record is settled, or it had to stop. Rejects when a file cannot be written. */
  async run(): Promise<void> {
    const { records, clock, signal, limitRate } = this.#plan
    if (records.records === 0) return records.acknowledge()
    let at = clock.now()
    let allowance = 1
    try {
      for (;;) {
        const now = clock.now()
        // A rate without a limit allows all that may be held.
        allowance =
          Math.min(Math.max(1, limitRate / 4), maxHeld, allowance + ((now - at) / 1000) * limitRate) || maxHeld
        at = now
        allowance -= this.#send(Math.min(maxHeld - this.#held, Math.floor(allowance)))
        if (this.#held === 0 && records.allTaken) return
        if (records.allTaken) this.#drain()
        await pause(clock, { ms: pauseMs, signal }).catch(() => {})
        if (signal.aborted) this.#stop(textOf(signal.reason))
        if (this.#held > 0 && clock.now() - this.#settledAt > patienceMs) this.#stop(this.#silence)
        if (this.#stopped !== undefined) return
        this.#turn()
      }
    } finally {
      await this.#delivery.close({ timeoutMs: lastAnswersMs })
      records.acknowledge()
    }
  }

  /** The answer is how many they were. */
  #send(most: number): number {
    const next = most > 0 ? this.#plan.records.take(most) : []
    if (this.#held === 0) this.#settledAt = this.#plan.clock.now()
    this.#held += next.length
    for (const record of next) {
      this.#delivery.buffer.adopt(record.lane, 1)
      this.#delivery.buffer.restore(record.lane, [record])
    }
    return next.length
  }

  /** All records are taken. Those that a drain gives up stay where they are. */
  #drain(): void {
    if (this.#draining) return
    this.#draining = true
    const { clock } = this.#plan
    const startedAt = clock.now()
    void this.#delivery.flush({ timeoutMs: patienceMs }).then(() => {
      this.#draining = false
      if (this.#held > 0 && clock.now() - startedAt < patienceMs) this.#stop(this.#refusal)
    })
  }

  #turn(): void {
    const now = this.#plan.clock.now()
    if (now - this.#turnedAt < turnMs) return
    this.#turnedAt = now
    this.#plan.records.acknowledge()
    this.#plan.turn()
  }

  get #silence(): string {
    return `the service has taken nothing for ${patienceMs / 1000} s: ${this.#lastError ?? 'it does not answer'}`
  }

  get #refusal(): string {
    return `the service does not take the rest: ${this.#lastError ?? 'it does not answer'}`
  }

  get #lastError(): string | undefined {
    return this.#delivery.stats().lanes.find(({ lastError }) => lastError !== undefined)?.lastError
  }

  #settled({ bytes }: SentPlace): void {
    this.#held--
    this.#settledAt = this.#plan.clock.now()
    this.#plan.progress.advance(bytes)
  }

  #stop(reason: string): void {
    this.#stopped ??= reason
  }
}

/** What became of the records that were sent. */
export interface ReplayAccount {
  delivered: number
  /** By what the service said of them. */
  readonly rejected: Map<string, number>
}

/** The files that are replayed, as delivery sees them: what is delivered is taken out, everything else stays. */
export class ReplayStore implements Store {
  readonly lossReason = 'shutdown'
  readonly account: ReplayAccount = { delivered: 0, rejected: new Map() }
  readonly #records: RecordsToSend
  readonly #settled: (place: SentPlace) => void

  constructor(records: RecordsToSend, settled: (place: SentPlace) => void) {
    this.#records = records
    this.#settled = settled
  }

  keep(): undefined {}

  look(): void {}

  park(): boolean {
    return true
  }

  unpark(): readonly [] {
    return []
  }

  settle(place: Place): boolean {
    const sent = place as SentPlace
    if (!sent.rejected) {
      this.account.delivered++
      this.#records.delivered(sent)
    }
    this.#settled(sent)
    return true
  }

  reject(
    _lane: number,
    { place }: Storable & { readonly place: Place | undefined },
    { reason }: Outcome & { type: 'rejected' },
  ): void {
    ;(place as SentPlace).rejected = true
    const { rejected } = this.account
    // The first few reasons are enough for a person.
    const key = rejected.has(reason) || rejected.size < maxReasons ? reason : 'other reasons'
    rejected.set(key, (rejected.get(key) ?? 0) + 1)
  }

  close(): void {}
}

const maxReasons = 10
