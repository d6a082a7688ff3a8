import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { BlockingAnswer, BlockingRequest, BlockingSender, Outcome } from '../delivery/sender.js'
import { classify } from './classify.js'
import { withoutKey } from './key-source.js'
import { maxBodyBytes, recordPath, requestHeaders } from './request-head.js'
import { type RequestThreadPlan, requestThread, type ThreadAnswer, type ThreadRequest } from './request-thread.js'
import { certainOutcome } from './settlement.js'

export interface ThreadSenderPlan {
  /** Base URL; the paths of the API follow it. */
  readonly url: string
  readonly apiKey: string
  readonly userAgent: string
  /** Most connections for each kind of record. */
  readonly maxConnections: number
  readonly requestTimeoutMs: number
  /** Through which everything goes. @default none */
  readonly proxyUrl?: string | undefined
}

/** Starting a thread takes some tens of milliseconds; where it takes longer than this, it will not come. */
const startPatienceMs = 4000

/** Requests are made by a thread of their own, while this one waits. It starts from text, so that it works in a bundle, too. */
export class ThreadSender implements BlockingSender {
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #signal: Int32Array
  readonly #base: URL
  readonly #apiKey: string
  #seen: number

  /** Undefined where no thread can be started, or not within `withinMs`. */
  static start(plan: ThreadSenderPlan, withinMs: number): ThreadSender | undefined {
    try {
      const sender = new ThreadSender(plan)
      if (sender.#started(Math.min(withinMs, startPatienceMs))) return sender
      sender.close()
    } catch {
      // Threads are not allowed here.
    }
    return undefined
  }

  private constructor({ url, apiKey, userAgent, maxConnections, requestTimeoutMs, proxyUrl }: ThreadSenderPlan) {
    const { port1, port2 } = new MessageChannel()
    const signal = new SharedArrayBuffer(4)
    const headers = requestHeaders({ apiKey, userAgent })
    const workerData: RequestThreadPlan = {
      port: port2,
      signal,
      url,
      proxyUrl,
      headers,
      maxConnections,
      requestTimeoutMs,
      maxBodyBytes,
    }
    this.#base = new URL(url)
    this.#apiKey = apiKey
    this.#port = port1
    this.#signal = new Int32Array(signal)
    this.#seen = 0
    this.#worker = new Worker(`(${requestThread.toString()})()`, {
      eval: true,
      name: 'sluice-last-drain',
      workerData,
      transferList: [port2],
      execArgv: [],
      // What the application loads into every thread takes time that is not there.
      env: { ...process.env, NODE_OPTIONS: '' },
    })
    this.#worker.on('error', () => {})
  }

  begin({ id, kind, bucket, record: { body, idempotencyKey } }: BlockingRequest): void {
    const request: ThreadRequest = { id, kind, path: recordPath(this.#base, kind, bucket), body, idempotencyKey }
    this.#port.postMessage(request)
  }

  answers(waitMs: number): readonly BlockingAnswer[] {
    Atomics.wait(this.#signal, 0, this.#seen, waitMs)
    this.#seen = Atomics.load(this.#signal, 0)
    const answers: BlockingAnswer[] = []
    for (;;) {
      const received = receiveMessageOnPort(this.#port)
      if (received === undefined) return answers
      const answer = received.message as ThreadAnswer
      answers.push({ id: answer.id, outcome: certainOutcome(() => withoutKey(outcomeOf(answer), this.#apiKey)) })
    }
  }

  close(): void {
    this.#port.close()
    void this.#worker.terminate()
  }

  #started(withinMs: number): boolean {
    Atomics.wait(this.#signal, 0, 0, withinMs)
    this.#seen = Atomics.load(this.#signal, 0)
    return this.#seen > 0
  }
}

function outcomeOf(answer: ThreadAnswer): Outcome {
  if ('status' in answer) return classify(answer, Date.now())
  const { failure, sent, timedOut } = answer
  return { type: 'retry', exchange: sent ? 'ambiguous' : 'unsent', reason: failure, backPressure: timedOut }
}
