import type { Batch, Carriage, Sender } from '../delivery/sender.js'
import type { RecordKind } from '../records/wire.js'
import type { Clock } from '../runtime/clock.js'
import type { Breakage, PipelineWatch } from './connection-life.js'
import { laneSlots } from './connection-slots.js'
import { PipelinedSender } from './pipelined-sender.js'
import type { ReadAnswer } from './response-reader.js'
import type { SenderPlan } from './sender-plan.js'
import { type Sighting, UndiciSender } from './undici-sender.js'

export interface AutoSenderPlan {
  /** Opens the sure sender; it reports what it sees. */
  readonly sure: (saw: (sighting: Sighting) => void) => Sender
  /** The fast one. */
  readonly fast: (watch: PipelineWatch) => Sender
  readonly clock: Clock
  /** The fast sender is left for good, and why. Called once at most. */
  readonly left: (reason: string) => void
}

/** Connections that broke in mid-batch: at this many occasions the fast sender is left, unless so many answers came in between. */
const occasionsToLeave = 3
const answersToForgive = 10_000

/**
 * Chooses the sender for one destination.
 *
 * The fast sender makes the first exchanges, with one request in flight on each connection. When it has read a success of HTTP/1.1 on a
 * connection that is kept, it pipelines. Where its first exchanges fail, because an answer is not understood or connections break at
 * three occasions before anything was answered, the sure sender takes over; when that has seen a success on a connection that is kept,
 * with a plain framing, the fast one is tried again. Probes are always the sure sender's: what answers them may be another server than
 * before. Value records are pipelined only while the server echoes `idempotency-key`, for then it does not count one twice that came
 * twice; elsewhere they go one in flight on each connection.
 *
 * It goes back to the sure sender for good, and says so, when an answer is not understood or a success is not HTTP/1.1 (errors may be a
 * balancer's, which HAProxy once wrote as HTTP/1.0), or when connections break in mid-batch more than rarely: at three occasions with
 * fewer than 10,000 answers from each to the next. A break in mid-batch is a connection that ends unannounced, or falls silent after an
 * answer, with several requests on it of which one at least is unanswered. Connections that were open when one broke belong to the same
 * occasion, so that a server which restarts is one. While the fast sender is on trial, every broken connection counts. One that had been
 * idle and is closed before the first answer is what every client of HTTP meets now and then, and does not count.
 *
 * The sure sender is opened when it is needed: what undici reads answers with is WebAssembly, and the first answer costs 125 to 175 ms of
 * CPU and some 40 MB for a while, to compile it (`node --trace-wasm-compilation-times`, Node 20.20).
 */
export class AutoSender implements Sender {
  readonly #openSure: () => Sender
  #opened: Sender | undefined
  readonly #fast: Sender
  /** The fast one with one request in flight. */
  readonly #single: Carriage
  readonly #clock: Clock
  readonly #left: (reason: string) => void
  #stage: 'first' | 'sure' | 'trial' | 'fast' | 'left' = 'first'
  #echoes = false
  #occasions = 0
  #brokeAt = Number.NEGATIVE_INFINITY
  #answersSinceBreak = 0

  constructor(plan: AutoSenderPlan) {
    this.#clock = plan.clock
    this.#left = plan.left
    this.#openSure = () => plan.sure((sighting) => this.#saw(sighting))
    this.#fast = plan.fast({
      saw: (answer, idempotencyKey) => this.#read(answer, idempotencyKey),
      answered: (count) => {
        this.#answersSinceBreak += count
      },
      misunderstood: (reason) => this.#giveUp(`an answer was not understood (${reason})`),
      broke: (breakage) => this.#broke(breakage),
    })
    this.#single = { ...this.#fast.carriage('logs'), maxDepth: 1 }
  }

  carriage(kind: RecordKind): Carriage {
    if (!this.#usesFast) return this.#sure.carriage(kind)
    const pipelines = this.#stage === 'fast' && (kind === 'logs' || this.#echoes)
    return pipelines ? this.#fast.carriage(kind) : this.#single
  }

  send(batch: Batch): Promise<void> {
    return (this.#usesFast && !batch.probe ? this.#fast : this.#sure).send(batch)
  }

  async close(): Promise<void> {
    await Promise.all([this.#opened?.close(), this.#fast.close()])
  }

  get #usesFast(): boolean {
    return this.#stage !== 'sure' && this.#stage !== 'left'
  }

  get #sure(): Sender {
    this.#opened ??= this.#openSure()
    return this.#opened
  }

  #saw({ plain, echoes }: Sighting): void {
    this.#echoes = echoes
    if (plain && this.#stage === 'sure') this.#stage = 'trial'
  }

  #read({ status, version, last, echoedKey }: ReadAnswer, idempotencyKey: string | undefined): void {
    const success = status >= 200 && status < 300
    if (success) this.#echoes = echoedKey !== undefined && echoedKey === idempotencyKey
    const kept = version === '1.1' && !last
    if (this.#stage === 'first') {
      if (!success || !kept) return
      this.#stage = 'fast'
      this.#occasions = 0
    } else if (this.#stage === 'trial' && kept) this.#stage = 'fast'
    else if (success && version !== '1.1') this.#giveUp(`the server answers with HTTP/${version}`)
  }

  #broke({ openedAt, requests, usual }: Breakage): void {
    if (!this.#usesFast || (this.#stage === 'fast' && (requests === 1 || usual))) return
    if (openedAt <= this.#brokeAt) return
    this.#brokeAt = this.#clock.now()
    this.#occasions = this.#answersSinceBreak >= answersToForgive ? 1 : this.#occasions + 1
    this.#answersSinceBreak = 0
    if (this.#occasions >= occasionsToLeave) this.#giveUp('connections broke again and again with requests on them')
  }

  /**
   * Of a server that has never yet answered well it is not known whether pipelining is to blame. What comes on connections that were in
   * use when the fast sender was given up changes nothing any more.
   */
  #giveUp(reason: string): void {
    if (!this.#usesFast) return
    const first = this.#stage === 'first'
    this.#stage = first ? 'sure' : 'left'
    this.#occasions = 0
    this.#brokeAt = this.#clock.now()
    if (!first) this.#left(reason)
  }
}

export interface OpenSenderPlan extends SenderPlan {
  readonly pipelining: 'auto' | 'off'
  /** Most records in one batch. */
  readonly maxBatch: number
  /** A proxy on the way: then everything goes by the sure sender, through it. */
  readonly proxyUrl: string | undefined
  /** The fast sender is not used any more, and why. */
  readonly left: (reason: string) => void
}

/** The sender for a destination: the sure one, or the one that chooses. */
export function openSender({ pipelining, maxBatch, left, ...plan }: OpenSenderPlan): Sender {
  if (pipelining === 'off' || plan.proxyUrl !== undefined) return new UndiciSender(plan)
  const slots = laneSlots(plan.maxConnections)
  return new AutoSender({
    sure: (saw) => new UndiciSender({ ...plan, slots, saw }),
    fast: (watch) => new PipelinedSender({ ...plan, slots, maxDepth: maxBatch, watch }),
    clock: plan.clock,
    left,
  })
}
