import { randomUUID } from 'node:crypto'
import PQueue from 'p-queue'
import type { BackoffBounds } from '../delivery/backoff.js'
import type { Exchange } from '../http/answer-collector.js'
import { proxyFor } from '../http/proxy.js'
import { Requester } from '../http/requester.js'
import type { ResolvedClientOptions } from '../options/client-options.js'
import { systemLoop } from '../runtime/loop.js'
import { userAgent } from '../runtime/version.js'
import { argumentError } from './api-error.js'
import type { ContentTypeInfo } from './content-type.js'
import { Credentials, type Scheme } from './credentials.js'
import type { Page, PageBounds } from './paged-list.js'
import { pathSegment } from './path-segment.js'
import { type Asked, readAnswer, readResult, unreadable } from './read-answer.js'

/** Options of a write. */
export interface WriteOptions {
  /** Aborts the write: the promise rejects with the reason of the signal. The service may have done it nevertheless. */
  readonly signal?: AbortSignal | undefined
  /** The same key for every attempt, so that a service recognises a repetition: visible ASCII characters. @default a new key */
  readonly idempotencyKey?: string | undefined
}

/** An entry to make: its content type and the body of the request. */
export interface EntryRequest extends WriteOptions {
  readonly type: string
  /** JSON. */
  readonly body: string
}

interface Operation {
  readonly what: string
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  /** The scheme that the API shows for this operation. */
  readonly scheme: Scheme
  readonly body?: string
  readonly options: WriteOptions
}

/** The content operations of the API, one request for each method. */
export class ContentService {
  /** Base URL. */
  readonly url: string
  /** Waits between attempts. */
  readonly retry: BackoffBounds
  readonly #requester: Requester
  /** Bounds the requests under way, repetitions included. The others wait here, not for a connection. */
  readonly #queue: PQueue
  readonly #credentials: Credentials

  constructor(options: ResolvedClientOptions) {
    const { url, maxConnections, requestTimeoutMs, retryBaseMs, retryCapMs } = options
    const proxy = proxyFor(url, process.env)
    this.url = url
    this.retry = { baseMs: retryBaseMs, capMs: retryCapMs }
    this.#credentials = new Credentials(options)
    this.#queue = new PQueue({ concurrency: maxConnections })
    this.#requester = new Requester({
      url,
      maxConnections,
      requestTimeoutMs,
      proxyUrl: proxy.type === 'proxy' ? proxy.url : undefined,
      retry: this.retry,
      loop: systemLoop,
      random: Math.random,
    })
  }

  async types(
    project: string,
    { from, to, signal }: Required<PageBounds> & WriteOptions,
  ): Promise<Page<ContentTypeInfo>> {
    const { exchange, asked } = await this.#perform({
      what: `list content types of ${project}`,
      method: 'GET',
      path: `/ng-cms/content-types/${pathSegment('project', project)}?from=${from}&to=${to}`,
      scheme: 'apiKey',
      options: { signal },
    })
    const { total, list } = readAnswer(exchange, asked)
    if (Number.isSafeInteger(total) && Array.isArray(list)) return { total: Number(total), list }
    throw unreadable({ status: 200, correlationId: undefined }, { asked, expected: 'total and list' })
  }

  async deleteType(project: string, { key, ...options }: WriteOptions & { readonly key: string }): Promise<string> {
    const { exchange, asked } = await this.#perform({
      what: `delete content type ${key} of ${project}`,
      method: 'DELETE',
      path: `/ng-cms/content-types/${pathSegment('project', project)}/${pathSegment('key', key)}`,
      scheme: 'accessToken',
      options,
    })
    return readResult(exchange, asked)
  }

  async createEntry(project: string, { type, body, ...options }: EntryRequest): Promise<string> {
    const { exchange, asked } = await this.#perform({
      what: `create entry of ${type} in ${project}`,
      method: 'POST',
      path: `/ng-cms/content/${pathSegment('project', project)}/${pathSegment('type', type)}`,
      scheme: 'apiKey',
      body,
      options,
    })
    return readResult(exchange, asked)
  }

  async migrateEntry(project: string, { type, body, ...options }: EntryRequest): Promise<string> {
    const { exchange, asked } = await this.#perform({
      what: `migrate entry of ${type} to ${project}`,
      method: 'POST',
      path: `/ng-cms/content/${pathSegment('project', project)}/${pathSegment('type', type)}/migrate`,
      scheme: 'accessToken',
      body,
      options,
    })
    return readResult(exchange, asked)
  }

  async close(): Promise<void> {
    await this.#queue.onIdle()
    await this.#requester.close()
  }

  async #perform(operation: Operation): Promise<{ exchange: Exchange; asked: Asked }> {
    const { what, method, path, scheme, body, options } = operation
    const { signal, idempotencyKey = randomUUID() } = options
    requireKey(idempotencyKey)
    const reads = method === 'GET'
    for (let renewed = false; ; renewed = true) {
      const credential = this.#credentials.for(scheme)
      const headers = {
        ...credential.headers,
        accept: 'application/json',
        'user-agent': userAgent,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(reads ? {} : { 'idempotency-key': idempotencyKey }),
      }
      const send = () => this.#requester.send({ method, path, headers, body, signal })
      const exchange = await this.#queue.add(send, signal === undefined ? {} : { signal })
      const refused = exchange.type === 'answered' && exchange.answer.status === 401
      // The key in the file may be a new one. Only a read is repeated with it: a write is left to the caller.
      if (refused && credential.renew() && reads && !renewed) continue
      const redact = (text: string) => this.#credentials.redact(text)
      return { exchange, asked: { what, scheme: credential.scheme, redact } }
    }
  }
}

/** Throws for a key that cannot be in a header. */
function requireKey(value: unknown): void {
  if (typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)) return
  throw argumentError('idempotencyKey', { expected: 'a text of visible ASCII characters', got: value })
}
