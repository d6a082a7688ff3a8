import type { Carriage, OutgoingBatch, Sender } from '../delivery/sender.js'
import type { RecordKind } from '../records/wire.js'
import type { ExitLoop } from './exit-loop.js'
import { PipelinedSender } from './pipelined-sender.js'
import type { ReadAnswer } from './read-answer.js'
import type { SenderPlan } from './sender-plan.js'

export interface ExitSenderPlan extends Omit<SenderPlan, 'slots' | 'loop'> {
  readonly loop: ExitLoop
  readonly proxyUrl: string | undefined
  /** Most records in one batch. */
  readonly maxBatch: number
  /** What the sender before it knows of the service. Where that one is undici's, nothing is pipelined. */
  readonly former: (kind: RecordKind) => Carriage
}

/** After connections broke so often, nothing is pipelined any more. */
const breaksToLeave = 3

/**
 * The sender at the end of a process. It pipelines where the sender before it did, or else from the first success in HTTP/1.1 on a connection
 * that the server keeps. Value records are pipelined only where the server echoes `idempotency-key`. After three breaks with several
 * requests on a connection, or an answer that is not understood, one request at a time goes out on each connection.
 */
export class ExitSender implements Sender {
  readonly #pipelined: PipelinedSender
  #mayPipeline: boolean
  #pipelines: boolean
  #echoes: boolean
  #breaks = 0
  #brokeAt = Number.NEGATIVE_INFINITY

  constructor({ former, maxBatch, proxyUrl, ...plan }: ExitSenderPlan) {
    const { url, loop, requestTimeoutMs, connection } = plan
    const { sender, maxDepth, repeatable = false } = former('logs')
    this.#mayPipeline = sender === 'pipelined'
    this.#pipelines = this.#mayPipeline && maxDepth > 1
    this.#echoes = repeatable
    const { ca } = connection ?? {}
    this.#pipelined = new PipelinedSender({
      ...plan,
      maxDepth: maxBatch,
      dial: loop.connect({ url, proxyUrl, connectTimeoutMs: requestTimeoutMs, ...(ca !== undefined && { ca }) }),
      proxyUrl: new URL(url).protocol === 'http:' ? proxyUrl : undefined,
      watch: {
        saw: (answer, echoes) => this.#read(answer, echoes),
        answered() {},
        misunderstood: () => this.#leave(),
        broke: (openedAt) => this.#broke(openedAt, loop.now()),
      },
    })
  }

  carriage(kind: RecordKind): Carriage {
    const pipelines = this.#pipelines && (kind === 'logs' || this.#echoes)
    const maxDepth = pipelines ? this.#pipelined.carriage(kind).maxDepth : 1
    return { sender: 'pipelined', maxDepth, repeatable: this.#echoes }
  }

  send(batch: OutgoingBatch): void {
    this.#pipelined.send(batch)
  }

  close(): Promise<void> {
    return this.#pipelined.close()
  }

  #read({ status, version, last }: ReadAnswer, echoes: boolean): void {
    if (status < 200 || status >= 300) return
    this.#echoes = echoes
    if (version !== '1.1') this.#leave()
    else if (!last && this.#mayPipeline) this.#pipelines = true
  }

  /** Connections that were open at a break belong to it: a server that restarts is one. */
  #broke(openedAt: number, now: number): void {
    if (openedAt <= this.#brokeAt) return
    this.#brokeAt = now
    if (++this.#breaks === breaksToLeave) this.#leave()
  }

  #leave(): void {
    this.#mayPipeline = false
    this.#pipelines = false
  }
}
