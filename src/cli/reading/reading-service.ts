import type { ProxyAgent } from 'undici'
import { ApiError } from '../../content/api-error.js'
import { Credentials } from '../../content/credentials.js'
import { readAnswer, unreadable } from '../../content/read-answer.js'
import { ConfigError } from '../../errors/sluice-error.js'
import { objectOf } from '../../http/answer-body.js'
import { proxyFor } from '../../http/proxy.js'
import { Requester } from '../../http/requester.js'
import { loadUndici } from '../../http/undici-parts.js'
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

/** Numbers of records by the value of a field. */
export type Numbers = Readonly<Record<string, number>>

/** Counts of records as the reading API of the receiver gives them. */
export interface Counts {
  readonly total: number
  readonly totals: Numbers
  /** Times in ISO 8601. */
  readonly lastSeen: Readonly<Record<string, string>>
  /** Steps that have records, oldest first. */
  readonly list: readonly { readonly time: string; readonly counts: Numbers }[]
  /** Records of the values that are not in `totals`. */
  readonly others: number
  /** Records from before this time are not counted. */
  readonly countedSince: string | undefined
}

interface RecordPage<Kind extends RecordKind> {
  readonly list: Stored<Kind>[]
  readonly next: number | undefined
}

interface Reading<Content> {
  /** The operation, for messages. */
  readonly what: string
  /** The content, for messages. */
  readonly expected: string
  /** Returns undefined where the body has no such content. */
  readonly readBody: (body: Readonly<Record<string, unknown>>) => Content | undefined
}

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
  readonly #proxyUrl: string | undefined
  #proxy: ProxyAgent | undefined

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
    const proxy = proxyFor(options.url, process.env)
    this.#proxyUrl = proxy.type === 'proxy' ? proxy.url : undefined
    this.#requester = openRequester(options, this.#proxyUrl)
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
   * The newest records that match, oldest first.
   *
   * @throws as {@link pages}
   */
  async newest(query: RecordQuery, most: number): Promise<Stored<Kind>[]> {
    const found: Stored<Kind>[] = []
    for await (const page of this.pages(query, most)) for (const record of page) found.push(record)
    return found.reverse()
  }

  /**
   * The id of the newest record; 0 if there is none.
   *
   * @throws as {@link pages}
   */
  async newestId(): Promise<number> {
    const { list } = await this.#page(new URLSearchParams({ limit: '1' }))
    return list[0]?.id ?? 0
  }

  /**
   * Counts of the records that match.
   *
   * @throws as {@link pages}
   */
  async counts(query: RecordQuery): Promise<Counts> {
    const what = `count ${this.#kind} of bucket ${decodeURIComponent(this.#bucket)}`
    return await this.#read(`/counts?${new URLSearchParams(query)}`, { what, expected: 'counts', readBody: countsIn })
  }

  /**
   * The stream of the records as they arrive. Rejects with the error of the network.
   *
   * @param after the id of the last event that was read
   */
  async live({ after, signal }: { readonly after: string | undefined; readonly signal: AbortSignal }) {
    if (this.#proxyUrl !== undefined) this.#proxy ??= await openProxy(this.#proxyUrl)
    return await fetch(`${this.#url}/api/live?bucket=${this.#bucket}`, {
      ...(this.#proxy === undefined
        ? {}
        : { dispatcher: this.#proxy as object as NonNullable<RequestInit['dispatcher']> }),
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
    await this.#proxy?.destroy()
  }

  async #page(query: URLSearchParams): Promise<RecordPage<Kind>> {
    const what = `read ${this.#kind} of bucket ${decodeURIComponent(this.#bucket)}`
    return await this.#read(`?${query}`, { what, expected: 'a list of records', readBody: pageIn<Kind> })
  }

  async #read<Content>(path: string, { what, expected, readBody }: Reading<Content>): Promise<Content> {
    const { exchange, asked } = await this.#ask(`/api/${this.#kind}/${this.#bucket}${path}`, what)
    try {
      const content = readBody(readAnswer(exchange, asked))
      if (content === undefined) throw unreadable({ status: 200, correlationId: undefined }, { asked, expected })
      return content
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

function pageIn<Kind extends RecordKind>({ list, next }: Readonly<Record<string, unknown>>) {
  if (!Array.isArray(list) || !list.every(isStored)) return undefined
  return { list: list as Stored<Kind>[], next: typeof next === 'number' ? next : undefined }
}

function countsIn(body: Readonly<Record<string, unknown>>): Counts | undefined {
  const { total, totals, lastSeen, list = [], others = 0, countedSince } = body as Partial<Counts>
  const isComplete = typeof total === 'number' && objectOf(totals) !== undefined && objectOf(lastSeen) !== undefined
  if (!isComplete || !Array.isArray(list)) return undefined
  return { total, totals: totals!, lastSeen: lastSeen!, list, others, countedSince }
}

async function openProxy(uri: string): Promise<ProxyAgent> {
  const { ProxyAgent } = await loadUndici()
  return new ProxyAgent({ uri, proxyTunnel: false })
}

function openRequester(
  { url, requestTimeoutMs, retryBaseMs, retryCapMs }: ResolvedOptions,
  proxyUrl: string | undefined,
): Requester {
  return new Requester({
    url,
    maxConnections,
    requestTimeoutMs,
    proxyUrl,
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
