import { ApiError } from '../../content/api-error.js'
import { Credentials } from '../../content/credentials.js'
import { readAnswer, unreadable } from '../../content/read-answer.js'
import { ConfigError } from '../../errors/sluice-error.js'
import { objectOf } from '../../http/answer-body.js'
import { proxyFor } from '../../http/proxy.js'
import { Requester } from '../../http/requester.js'
import type { ResolvedOptions } from '../../options/options.js'
import { resolve } from '../../options/resolve.js'
import { reportMisspelt } from '../../process/configure.js'
import type { LogRecord, RecordKind, ValueRecord } from '../../records/wire.js'
import { systemClock } from '../../runtime/clock.js'
import { userAgent } from '../../runtime/version.js'

/** A record as the reading API of the receiver gives it. */
export type Stored<Kind extends RecordKind> = (Kind extends 'logs' ? LogRecord : ValueRecord) & {
  /** Counts up as records arrive. */
  readonly id: number
}

/** Filters of the reading API by name. */
export type RecordQuery = Readonly<Record<string, string>>

/** The service has no reading API: it is not the receiver. */
export class NoReceiverError extends Error {}

/** Most records in one answer. */
const pageRecords = 1000
const maxConnections = 4

/** The reading API of the receiver, for the records of one kind and bucket. */
export class ReadingService<Kind extends RecordKind> {
  readonly #kind: Kind
  readonly #url: string
  readonly #bucket: string
  readonly #credentials: Credentials
  readonly #requester: Requester

  readonly #signal: AbortSignal | undefined

  /**
   * Reads the options from the environment. `SLUICE_DISABLED` concerns sending alone.
   *
   * @param signal abandons every request
   * @throws {ConfigError}
   */
  constructor(kind: Kind, signal?: AbortSignal) {
    reportMisspelt()
    const { SLUICE_DISABLED: _, ...environment } = process.env
    const resolution = resolve({}, { environment, needs: kind, folder: process.cwd() })
    if (resolution.state === 'off') throw nothingConfigured()
    const { options } = resolution
    this.#kind = kind
    this.#signal = signal
    this.#url = options.url
    this.#bucket = encodeURIComponent(String(kind === 'logs' ? options.logBucket : options.valueBucket))
    this.#credentials = new Credentials(options)
    this.#requester = openRequester(options)
  }

  /**
   * Pages of the records that match, newest first.
   *
   * @param most records of all pages together
   * @throws {ApiError} where the receiver does not answer with records
   * @throws {NoReceiverError} where the service has no such API
   */
  async *pages(query: RecordQuery, most: number): AsyncGenerator<readonly Stored<Kind>[]> {
    let left = most
    let before: number | undefined
    while (left > 0) {
      const limit = Math.min(left, pageRecords)
      const asked = { ...query, limit: String(limit), ...(before === undefined ? {} : { before: String(before) }) }
      const { list, next } = await this.#page(new URLSearchParams(asked))
      yield list
      left -= list.length
      before = next ?? list.at(-1)?.id
      if (list.length === 0 || (list.length < limit && next === undefined)) return
    }
  }

  /**
   * Ask for one record, to find out if the API answers.
   *
   * @throws as {@link pages}
   */
  async check(): Promise<void> {
    await this.#page(new URLSearchParams({ limit: '1' }))
  }

  /**
   * The stream of the records as they arrive. It does not go through a proxy. Rejects with the error of the network.
   *
   * @param after the id of the last event that was read
   */
  async live({ after, signal }: { readonly after: string | undefined; readonly signal: AbortSignal }) {
    return await fetch(`${this.#url}/api/live?bucket=${this.#bucket}`, {
      headers: {
        ...this.#credentials.for('apiKey').headers,
        'user-agent': userAgent,
        ...(after === undefined ? {} : { 'last-event-id': after }),
      },
      // A redirect would get the key.
      redirect: 'manual',
      signal,
    })
  }

  async close(): Promise<void> {
    await this.#requester.close()
  }

  async #page(query: URLSearchParams): Promise<{ list: Stored<Kind>[]; next: number | undefined }> {
    const what = `read ${this.#kind} of bucket ${decodeURIComponent(this.#bucket)}`
    const { exchange, asked } = await this.#ask(`/api/${this.#kind}/${this.#bucket}?${query}`, what)
    try {
      const { list, next } = readAnswer(exchange, asked)
      if (!Array.isArray(list) || !list.every(isStored)) {
        throw unreadable({ status: 200, correlationId: undefined }, { asked, expected: 'a list of records' })
      }
      return { list, next: typeof next === 'number' ? next : undefined }
    } catch (error) {
      if (!(await this.#isForeign(error))) throw error
      const words = 'has no API to read records, which only the receiver has (npx sluice-receiver)'
      throw new NoReceiverError(`the service at ${this.#url} ${words}`)
    }
  }

  /** True where the answer shows that the service is not the receiver. The receiver answers 404 for an unknown bucket. */
  async #isForeign(error: unknown): Promise<boolean> {
    if (!(error instanceof ApiError)) return false
    const { code, status } = error
    if (code === 'not-the-service' || code === 'unreadable-answer' || status === 405) return true
    if (status !== 404) return false
    const { exchange, asked } = await this.#ask('/api/health', 'check the receiver')
    try {
      return readAnswer(exchange, asked).status !== 'ok'
    } catch {
      return true
    }
  }

  async #ask(path: string, what: string) {
    for (let renewed = false; ; renewed = true) {
      const { scheme, headers, renew } = this.#credentials.for('apiKey')
      const exchange = await this.#requester.send({
        method: 'GET',
        path,
        headers: { ...headers, accept: 'application/json', 'user-agent': userAgent },
        signal: this.#signal,
      })
      const refused = exchange.type === 'answered' && exchange.answer.status === 401
      if (refused && !renewed && renew()) continue
      return { exchange, asked: { what, scheme, redact: (text: string) => this.#credentials.redact(text) } }
    }
  }
}

/** True for a record that can be printed and told from others. */
export function isStored(value: unknown): boolean {
  const record = objectOf(value)
  return Number.isSafeInteger(record?.id) && typeof record?.timeStamp === 'number'
}

function openRequester({ url, requestTimeoutMs, retryBaseMs, retryCapMs }: ResolvedOptions): Requester {
  const proxy = proxyFor(url, process.env)
  return new Requester({
    url,
    maxConnections,
    requestTimeoutMs,
    proxyUrl: proxy.type === 'proxy' ? proxy.url : undefined,
    retry: { baseMs: retryBaseMs, capMs: retryCapMs },
    clock: systemClock,
    random: Math.random,
  })
}

function nothingConfigured(): ConfigError {
  return new ConfigError({
    code: 'SLUICE_CONFIG_MISSING',
    option: 'url',
    variable: 'SLUICE_URL',
    message: 'there is nowhere to read from: set SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET',
  })
}
