import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { BlockingAnswer, BlockingRequest, BlockingSender, Outcome } from '../delivery/sender.js'
import type { RecordKind } from '../records/wire.js'
import { ownThreadEnvironment } from '../runtime/own-thread.js'
import { classify } from './classify.js'
import { decoded } from './content-coding.js'
import { maxBodyBytes, recordPath, requestHeaders } from './request-head.js'
import { type Break, brokenOutcome, safeOutcome } from './settlement.js'

export interface ThreadSenderPlan {
  /** Base URL. The paths of the API follow it. */
  readonly url: string
  readonly apiKey: string
  readonly userAgent: string
  /** Most connections for each kind of record. */
  readonly maxConnections: number
  readonly requestTimeoutMs: number
  /** @default none */
  readonly proxyUrl?: string | undefined
}

/** A thread starts within some tens of milliseconds. One that takes longer than this does not start. */
const startPatienceMs = 4000

/** Makes requests in a thread of its own, while this one waits. The thread is started from text, so that it works in a bundle. */
export class ThreadSender implements BlockingSender {
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #signal: Int32Array
  readonly #base: URL
  readonly #apiKey: string
  #seen: number

  /** Undefined when no thread starts within `withinMs`. */
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
      env: ownThreadEnvironment(),
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
      answers.push({ id: answer.id, outcome: safeOutcome(() => outcomeOf(answer), { usedKey: this.#apiKey }) })
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
  if (!('status' in answer)) return brokenOutcome(answer)
  const body = decoded(Buffer.from(answer.body, 'latin1'), answer.codings, maxBodyBytes)
  return classify({ ...answer, body }, Date.now())
}

/** The `workerData` of the thread. */
export interface RequestThreadPlan {
  readonly port: MessagePort
  /** One word: increased for each message at the port, and once when the thread is ready. */
  readonly signal: SharedArrayBuffer
  /** Base URL. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly proxyUrl: string | undefined
  /** For each kind of record. */
  readonly maxConnections: number
  readonly requestTimeoutMs: number
  readonly maxBodyBytes: number
}

/** One request for the thread. */
export interface ThreadRequest {
  readonly id: number
  readonly kind: RecordKind
  readonly path: string
  readonly body: string
  readonly idempotencyKey: string
}

export type ThreadAnswer =
  | {
      readonly id: number
      readonly status: number
      readonly retryAfter: string | undefined
      readonly location: string | undefined
      readonly codings: string | undefined
      /** Each byte as a character. */
      readonly body: string
    }
  | ({ readonly id: number } & Break)

/**
 * Makes requests for a thread that waits. It is started from its own text, so that it works in a bundle. So it uses nothing from outside
 * but the modules of Node. It names no function, because bundlers mark named functions by calls to helpers. It has no async functions and
 * no spread of objects, because bundlers for old targets write these as calls to helpers.
 */
function requestThread(): void {
  const { workerData } = process.getBuiltinModule('node:worker_threads')
  const { port, signal, url, proxyUrl, headers, maxConnections, requestTimeoutMs, maxBodyBytes } =
    workerData as RequestThreadPlan
  const word = new Int32Array(signal)
  const partingMs = 1000
  const base = new URL(url)
  const secure = base.protocol === 'https:'
  const proxy = proxyUrl === undefined ? undefined : new URL(proxyUrl)
  // Without a tunnel, requests go to the proxy.
  const asked = proxy === undefined || secure ? base : proxy
  const { Agent, request } = process.getBuiltinModule(asked.protocol === 'https:' ? 'node:https' : 'node:http')
  // The lanes never wait for each other's connections.
  const agents = {
    logs: new Agent({ keepAlive: true, maxSockets: maxConnections }),
    values: new Agent({ keepAlive: true, maxSockets: maxConnections }),
  }
  const toProxy: Record<string, string> = {}
  if (proxy !== undefined) {
    toProxy.host = base.host
    if (proxy.username !== '') {
      const credentials = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`
      toProxy['proxy-authorization'] = `Basic ${Buffer.from(credentials).toString('base64')}`
    }
  }
  if (proxy !== undefined && secure) {
    const { request: ask } = process.getBuiltinModule(proxy.protocol === 'https:' ? 'node:https' : 'node:http')
    const { connect } = process.getBuiltinModule('node:tls')
    for (const agent of [agents.logs, agents.values]) {
      const tunnel = agent as unknown as {
        createConnection(options: object, made: (error: Error | null, socket?: import('node:net').Socket) => void): void
      }
      tunnel.createConnection = (options, made) => {
        const path = `${base.hostname}:${base.port === '' ? 443 : base.port}`
        ask(proxy.origin, { method: 'CONNECT', path, headers: toProxy, agent: false })
          .on('connect', (answer, socket) => {
            if (answer.statusCode !== 200) {
              socket.destroy()
              made(new Error(`the proxy answered ${answer.statusCode}`))
              return
            }
            const secured = connect(Object.assign({}, options, { socket, path: undefined }))
            secured.once('error', made).once('secureConnect', () => made(null, secured))
          })
          .on('error', made)
          .end()
      }
    }
  }

  port.on('message', ({ id, kind, path, body, idempotencyKey }: ThreadRequest) => {
    const answered = new Promise<ThreadAnswer>((resolve) => {
      let sent = false
      let timedOut = false
      let response: import('node:http').IncomingMessage | undefined
      let text = ''
      const outgoing = request(asked.origin, {
        agent: agents[kind],
        method: 'POST',
        path: asked === base ? path : base.origin + path,
        headers: Object.assign(
          { 'content-length': Buffer.byteLength(body), 'idempotency-key': idempotencyKey },
          asked === base ? {} : toProxy,
          headers,
        ),
      })
      outgoing.setTimeout(requestTimeoutMs, () => {
        timedOut = true
        const reason = `no answer within ${requestTimeoutMs} ms`
        if (!sent || response !== undefined) {
          outgoing.destroy(new Error(reason))
          return
        }
        resolve({ id, reason, sent, timedOut })
        // The agent opens the next connection when this one is closed. The server gets time to close it, too.
        outgoing.socket?.end()
        setTimeout(() => outgoing.destroy(), partingMs).unref()
      })
      outgoing.on('socket', (socket) => {
        sent = !socket.connecting
        socket.once(asked.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
          sent = true
        })
      })
      outgoing.on('response', (incoming) => {
        response = incoming.setEncoding('latin1')
        incoming.on('data', (part: string) => {
          text += part
          if (text.length > maxBodyBytes) incoming.destroy()
        })
      })
      outgoing.on('error', (error: Error & { code?: string }) => {
        if (response === undefined) resolve({ id, reason: error.message || `${error.code}`, sent, timedOut })
      })
      // The last event of a request. A status that had come counts, although the body is not whole.
      outgoing.on('close', () => {
        const { statusCode = 0, headers: fields } = response ?? {}
        const about = {
          retryAfter: fields?.['retry-after'],
          location: fields?.location,
          codings: fields?.['content-encoding'],
        }
        resolve(Object.assign({ id, status: statusCode, body: text }, about))
      })
      outgoing.end(body)
    })
    void answered.then((answer) => {
      port.postMessage(answer)
      Atomics.add(word, 0, 1)
      Atomics.notify(word, 0)
    })
  })
  Atomics.add(word, 0, 1)
  Atomics.notify(word, 0)
}
