import { Credentials } from '../../../../src/content/credentials.js'
import { type Asked, readAnswer } from '../../../../src/content/read-answer.js'
import type { Exchange } from '../../../../src/http/answer-collector.js'
import { proxyFor } from '../../../../src/http/proxy.js'
import { Requester } from '../../../../src/http/requester.js'
import type { ResolvedClientOptions } from '../../../../src/options/client-options.js'
import { systemLoop } from '../../../../src/runtime/loop.js'
import { userAgent } from '../../../../src/runtime/version.js'

/** Something to read: its path with the query, and words for the messages of its errors. */
export interface Question {
  readonly path: string
  readonly what: string
  readonly signal?: AbortSignal | undefined
}

/** Asks the reading API of the receiver. A refused key is read again from its file. */
export class ReadingRequests {
  /** Base URL. */
  readonly url: string
  /** Address of the proxy for that URL. */
  readonly proxyUrl: string | undefined
  readonly #credentials: Credentials
  readonly #requester: Requester

  constructor(options: ResolvedClientOptions) {
    const { url, maxConnections, requestTimeoutMs, retryBaseMs, retryCapMs } = options
    const proxy = proxyFor(url, process.env)
    this.url = url
    this.proxyUrl = proxy.type === 'proxy' ? proxy.url : undefined
    this.#credentials = new Credentials(options)
    this.#requester = new Requester({
      url,
      maxConnections,
      requestTimeoutMs,
      proxyUrl: this.proxyUrl,
      retry: { baseMs: retryBaseMs, capMs: retryCapMs },
      loop: systemLoop,
      random: Math.random,
    })
  }

  /** Credentials and name of this program. */
  get headers(): Readonly<Record<string, string>> {
    return { ...this.#credentials.for('apiKey').headers, 'user-agent': userAgent }
  }

  /** Rejects only with the reason of `signal`. */
  async ask({ path, what, signal }: Question): Promise<{ exchange: Exchange; asked: Asked }> {
    for (let renewed = false; ; renewed = true) {
      const { scheme, headers, renew } = this.#credentials.for('apiKey')
      const exchange = await this.#requester.send({
        method: 'GET',
        path,
        headers: { ...headers, accept: 'application/json', 'user-agent': userAgent },
        signal,
      })
      const refused = exchange.type === 'answered' && exchange.answer.status === 401
      if (refused && !renewed && renew()) continue
      return { exchange, asked: { what, scheme, redact: (text: string) => this.#credentials.redact(text) } }
    }
  }

  /**
   * The answer, and the facts that errors about it need.
   *
   * @throws {ApiError} for everything but a success
   */
  async read(question: Question): Promise<{ answer: Readonly<Record<string, unknown>>; asked: Asked }> {
    const { exchange, asked } = await this.ask(question)
    return { answer: readAnswer(exchange, asked), asked }
  }

  async close(): Promise<void> {
    await this.#requester.close()
  }
}
