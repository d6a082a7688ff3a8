import type { ProxyAgent } from 'undici'
import { ApiError } from '../../../../src/content/api-error.js'
import { type Asked, readAnswer } from '../../../../src/content/read-answer.js'
import { ConfigError } from '../../../../src/errors/sluice-error.js'
import { loadUndici } from '../../../../src/http/load-undici.js'
import type { Environment } from '../../../../src/options/environment.js'
import { resolve } from '../../../../src/options/resolve.js'
import { reportMisspelt } from '../../../../src/process/configure.js'
import type { RecordKind } from '../../../../src/records/wire.js'
import { countsIn } from '../client/read-counts.js'
import { type LogFilter, queryOf, type RecordBounds, type Steps } from '../client/reading-query.js'
import { ReadingRequests } from '../client/reading-requests.js'
import type { RecordCounts } from '../client/record-counts.js'
import { pageIn, pagesOf } from '../client/record-page.js'
import type { RecordPage, Stored } from '../client/stored-record.js'

export type { Stored }

/** Most records in one answer. */
const maxPage = 1000

/** A question to the reading API. */
export type RecordQuery = LogFilter & Steps & RecordBounds

interface Reading<Content> {
  /** The operation, for messages. */
  readonly what: string
  /** @throws where the body has no such content */
  readonly readBody: (body: Readonly<Record<string, unknown>>, asked: Asked) => Content
}

/** The service has no reading API: it is not the receiver. */
export class NoReceiverError extends Error {}

/**
 * The options of a command that reads, from the environment. `SLUICE_DISABLED` concerns sending alone.
 *
 * @throws {ConfigError}
 */
export function readingOptions(needs: RecordKind, { SLUICE_DISABLED: _, ...environment }: Environment = process.env) {
  reportMisspelt()
  const resolution = resolve({}, { environment, needs, folder: process.cwd() })
  if (resolution.state === 'off') throw nothingConfigured()
  return resolution.options
}

type ReadingOptions = ReturnType<typeof readingOptions>

/** The reading API of the receiver, for the records of one kind and bucket. */
export class ReadingService<Kind extends RecordKind> {
  readonly #kind: Kind
  readonly #bucket: string
  readonly #requests: ReadingRequests
  readonly #signal: AbortSignal | undefined
  #proxy: ProxyAgent | undefined

  /** @param signal abandons every request */
  constructor(kind: Kind, { options, signal }: { readonly options: ReadingOptions; readonly signal?: AbortSignal }) {
    this.#kind = kind
    this.#signal = signal
    this.#bucket = encodeURIComponent(String(kind === 'logs' ? options.logBucket : options.valueBucket))
    this.#requests = new ReadingRequests(options)
  }

  /**
   * The newest records that match, oldest first.
   *
   * @throws {ApiError} where the receiver does not answer with records
   * @throws {NoReceiverError} where the service has no such API
   */
  async newest(query: RecordQuery, most: number): Promise<Stored<Kind>[]> {
    const found: Stored<Kind>[] = []
    const read = (bounds: RecordBounds) => this.#page({ ...query, ...bounds })
    for await (const page of pagesOf<Stored<Kind>>(read, most)) for (const record of page) found.push(record)
    return found.reverse()
  }

  /**
   * The records that match and follow an id, oldest first, page by page.
   *
   * @throws as {@link newest}
   */
  async *following(query: RecordQuery, after: number): AsyncGenerator<readonly Stored<Kind>[]> {
    for (let from: number | undefined = after; from !== undefined; ) {
      const { page }: { page: RecordPage<Stored<Kind>> } = await this.#page({ ...query, after: from, limit: maxPage })
      yield page.list.toReversed()
      from = page.next ?? (page.list.length < maxPage ? undefined : page.list[0]!.id)
    }
  }

  /**
   * The receiver's hint where no record has what a filter names.
   *
   * @throws as {@link newest}
   */
  async hint(query: RecordQuery): Promise<string | undefined> {
    const { page } = await this.#page({ ...query, limit: 1 })
    return page.hint
  }

  /**
   * The id of the newest record; 0 if there is none.
   *
   * @throws as {@link newest}
   */
  async newestId(): Promise<number> {
    const { page } = await this.#page({ limit: 1 })
    return page.list[0]?.id ?? 0
  }

  /**
   * Counts of the records that match.
   *
   * @throws as {@link newest}
   */
  async counts(query: RecordQuery): Promise<RecordCounts> {
    const what = `count ${this.#kind} of bucket ${decodeURIComponent(this.#bucket)}`
    return await this.#read(`/counts${queryOf(query)}`, { what, readBody: countsIn })
  }

  /**
   * The stream of the records as they arrive. Rejects with the error of the network.
   *
   * @param after the id of the last event that was read
   */
  async live({ after, signal }: { readonly after: string | undefined; readonly signal: AbortSignal }) {
    const { url, proxyUrl } = this.#requests
    if (proxyUrl !== undefined) this.#proxy ??= await openProxy(proxyUrl)
    return await fetch(`${url}/api/live?bucket=${this.#bucket}`, {
      ...(this.#proxy === undefined
        ? {}
        : { dispatcher: this.#proxy as object as NonNullable<RequestInit['dispatcher']> }),
      headers: {
        ...this.#requests.headers,
        ...(after === undefined ? {} : { 'last-event-id': after }),
      },
      // A redirect would get the key.
      redirect: 'manual',
      signal,
    })
  }

  async close(): Promise<void> {
    await this.#requests.close()
    await this.#proxy?.destroy()
  }

  async #page(query: RecordQuery): Promise<{ page: RecordPage<Stored<Kind>>; asked: Asked }> {
    const what = `read ${this.#kind} of bucket ${decodeURIComponent(this.#bucket)}`
    return await this.#read(queryOf(query), {
      what,
      readBody: (body, asked) => ({ page: pageIn(body, { asked, kind: this.#kind }), asked }),
    })
  }

  async #read<Content>(path: string, { what, readBody }: Reading<Content>): Promise<Content> {
    const { exchange, asked } = await this.#ask(`/api/${this.#kind}/${this.#bucket}${path}`, what)
    try {
      return readBody(readAnswer(exchange, asked), asked)
    } catch (error) {
      if (!(await this.#isForeign(error))) throw error
      const words = 'has no API to read records, which only the receiver has (npx sluice-receiver)'
      throw new NoReceiverError(`the service at ${this.#requests.url} ${words}`)
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

  #ask(path: string, what: string) {
    return this.#requests.ask({ path, what, signal: this.#signal })
  }
}

async function openProxy(uri: string): Promise<ProxyAgent> {
  const { ProxyAgent } = await loadUndici()
  return new ProxyAgent({ uri, proxyTunnel: false })
}

function nothingConfigured(): ConfigError {
  return new ConfigError({
    code: 'SLUICE_CONFIG_MISSING',
    option: 'url',
    variable: 'SLUICE_URL',
    message: 'there is nowhere to read from: set SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET',
  })
}
