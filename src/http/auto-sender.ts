import type { Clock } from '../delivery/clock.js'
import type { Batch, Carriage, Sender } from '../delivery/sender.js'
import type { RecordKind } from '../records/wire.js'
import type { Breakage, PipelineWatch } from './pipelined-connection.js'
import type { ReadAnswer } from './response-reader.js'
import type { Sighting } from './sighting.js'

export interface AutoSenderPlan {
  /** The sure sender; it reports what it sees. */
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
 * The sure sender makes the first exchange, and every probe. When it has seen a success on a connection that is kept, with a plain
 * framing, the fast one is tried with one request in flight on each connection; when that has read an answer of HTTP/1.1, it
 * pipelines. Value records are pipelined only while the server echoes `idempotency-key`, for then it does not count one twice that
 * came twice; elsewhere they go one in flight on each connection.
 *
 * It goes back to the sure sender for good, and says so, when an answer is not understood or is not HTTP/1.1, or when connections break
 * in mid-batch more than rarely: at three occasions with fewer than 10,000 answers from each to the next. A break in mid-batch is a
 * connection that ends unannounced, or falls silent after an answer, with several requests on it of which one at least is unanswered.
 * Connections that were open when one broke belong to the same occasion, so that a server which restarts is one. While the fast sender
 * is on trial, every broken connection counts. One that had been idle and is closed before the first answer is what every client of HTTP
 * meets now and then, and does not count.
 */
export class AutoSender implements Sender {
  readonly #sure: Sender
  readonly #fast: Sender
  /** The fast one with one request in flight. */
  readonly #single: Carriage
  readonly #clock: Clock
  readonly #left: (reason: string) => void
  #stage: 'sure' | 'trial' | 'fast' | 'left' = 'sure'
  #echoes = false
  #occasions = 0
  #brokeAt = Number.NEGATIVE_INFINITY
  #answersSinceBreak = 0

  constructor(plan: AutoSenderPlan) {
    this.#clock = plan.clock
    this.#left = plan.left
    this.#sure = plan.sure((sighting) => this.#saw(sighting))
    this.#fast = plan.fast({
      saw: (answer, idempotencyKey) => this.#read(answer, idempotencyKey),
      answered: (count) => {
        this.#answersSinceBreak += count
      },
      misunderstood: (reason) => this.#leave(`an answer was not understood (${reason})`),
      broke: (breakage) => this.#broke(breakage),
    })
    this.#single = { ...this.#fast.carriage('logs'), maxDepth: 1 }
  }

  carriage(kind: RecordKind): Carriage {
    if (this.#stage === 'sure' || this.#stage === 'left') return this.#sure.carriage(kind)
    const pipelines = this.#stage === 'fast' && (kind === 'logs' || this.#echoes)
    return pipelines ? this.#fast.carriage(kind) : this.#single
  }

  send(batch: Batch): Promise<void> {
    const fast = !batch.probe && (this.#stage === 'trial' || this.#stage === 'fast')
    return (fast ? this.#fast : this.#sure).send(batch)
  }

  async close(): Promise<void> {
    await Promise.all([this.#sure.close(), this.#fast.close()])
  }

  #saw({ plain, echoes }: Sighting): void {
    this.#echoes = echoes
    if (plain && this.#stage === 'sure') this.#stage = 'trial'
  }

  #read({ status, version, last, echoedKey }: ReadAnswer, idempotencyKey: string | undefined): void {
    if (version !== '1.1') this.#leave(`the server answers with HTTP/${version}`)
    if (status >= 200 && status < 300) this.#echoes = echoedKey !== undefined && echoedKey === idempotencyKey
    if (this.#stage === 'trial' && !last) this.#stage = 'fast'
  }

  #broke({ openedAt, requests, usual }: Breakage): void {
    if (this.#stage === 'fast' && (requests === 1 || usual)) return
    if (openedAt <= this.#brokeAt) return
    this.#brokeAt = this.#clock.now()
    this.#occasions = this.#answersSinceBreak >= answersToForgive ? 1 : this.#occasions + 1
    this.#answersSinceBreak = 0
    if (this.#occasions >= occasionsToLeave) this.#leave('connections broke again and again with requests on them')
  }

  #leave(reason: string): void {
    if (this.#stage === 'left') return
    this.#stage = 'left'
    this.#left(reason)
  }
}
