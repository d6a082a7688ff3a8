import type { MessagePort } from 'node:worker_threads'

/** What the thread is started with. */
export interface RequestThreadPlan {
  readonly port: MessagePort
  /** One word, increased whenever something stands at the port, and once when the thread is ready. */
  readonly signal: SharedArrayBuffer
  /** Base URL. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly maxConnections: number
  readonly requestTimeoutMs: number
  readonly maxBodyBytes: number
}

/** One request, and what came of it. */
export interface ThreadRequest {
  readonly id: number
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
      readonly body: string
    }
  | { readonly id: number; readonly failure: string; readonly sent: boolean; readonly timedOut: boolean }

/**
 * Makes requests for a thread that waits. It is started from its own text, without a file, so that it works in a bundle: it may
 * use nothing from outside but what Node has built in, name no function (bundlers mark named ones by calls to helpers), and use no
 * syntax that bundlers for old targets write as calls to helpers: no async functions, no spread of objects.
 */
export function requestThread(): void {
  const { workerData } = process.getBuiltinModule('node:worker_threads')
  const { port, signal, url, headers, maxConnections, requestTimeoutMs, maxBodyBytes } = workerData as RequestThreadPlan
  const word = new Int32Array(signal)
  const base = new URL(url)
  const { Agent, request } = process.getBuiltinModule(base.protocol === 'https:' ? 'node:https' : 'node:http')
  const agent = new Agent({ keepAlive: true, maxSockets: maxConnections })

  port.on('message', ({ id, path, body, idempotencyKey }: ThreadRequest) => {
    const answered = new Promise<ThreadAnswer>((resolve) => {
      let sent = false
      let timedOut = false
      let response: import('node:http').IncomingMessage | undefined
      let text = ''
      const outgoing = request(base.origin + path, {
        agent,
        method: 'POST',
        headers: Object.assign(
          { 'content-length': Buffer.byteLength(body), 'idempotency-key': idempotencyKey },
          headers,
        ),
      })
      outgoing.setTimeout(requestTimeoutMs, () => {
        timedOut = true
        outgoing.destroy(new Error(`no answer within ${requestTimeoutMs} ms`))
      })
      outgoing.on('socket', (socket) => {
        sent = !socket.connecting
        socket.once(base.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
          sent = true
        })
      })
      outgoing.on('response', (incoming) => {
        response = incoming.setEncoding('utf8')
        incoming.on('data', (part: string) => {
          text += part
          if (text.length > maxBodyBytes) incoming.destroy()
        })
      })
      outgoing.on('error', (error: Error & { code?: string }) => {
        if (response === undefined) resolve({ id, failure: error.message || String(error.code), sent, timedOut })
      })
      // Comes last, whatever came before. When the status had come, it counts: what was lost is only the body.
      outgoing.on('close', () => {
        const { statusCode = 0, headers: fields } = response ?? {}
        const about = { retryAfter: fields?.['retry-after'], location: fields?.location }
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
