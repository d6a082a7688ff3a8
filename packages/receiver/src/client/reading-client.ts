import type { ContentOptions, PagedList } from 'sluice/content'
import { pagedList } from '../../../../src/content/paged-list.js'
import { pathSegment } from '../../../../src/content/path-segment.js'
import { unreadable } from '../../../../src/content/read-answer.js'
import { objectOf } from '../../../../src/http/answer-body.js'
import { configure } from '../../../../src/process/configure.js'
import { ownFields } from '../../../../src/runtime/own-fields.js'
import type { LogErrors } from './log-errors.js'
import { countsIn } from './read-counts.js'
import { errorsIn } from './read-errors.js'
import {
  type ErrorFilter,
  type LogFilter,
  queryOf,
  type RecordBounds,
  type Steps,
  type ValueFilter,
} from './reading-query.js'
import { ReadingRequests } from './reading-requests.js'
import type { RecordCounts } from './record-counts.js'
import { pageIn, pagesOf } from './record-page.js'
import type { RecordKind, RecordPage, Stored, StoredLog, StoredValue } from './stored-record.js'

/** The options for reading. The options for lanes, records and the end of the process do not apply. */
export type ReadingOptions = ContentOptions

/** Records that match, newest first: an iteration over all, fetched page by page when needed, or one page. */
export interface RecordList<Stored> extends AsyncIterable<Stored> {
  /** One page. */
  page(bounds?: RecordBounds): Promise<RecordPage<Stored>>
}

/** How often each value occurs in the newest 10,000 logs that match; at most 100 values of a field. */
export interface LogFacets {
  /** By level. */
  readonly levels: Readonly<Record<string, number>>
  /** By service. */
  readonly apps: Readonly<Record<string, number>>
  /** By host. */
  readonly machines: Readonly<Record<string, number>>
  /** By environment. */
  readonly envs: Readonly<Record<string, number>>
  /** By version of the service. */
  readonly versions: Readonly<Record<string, number>>
  /** By event. */
  readonly eventIds: Readonly<Record<string, number>>
}

/** A project, which is a bucket, too. */
export interface Project {
  /** Its name in paths. */
  readonly id: string
  /** The operations that it may use. */
  readonly plan: {
    /** False if content operations are answered with 412. */
    readonly content: boolean
  }
}

/**
 * Reads records back from the receiver. Other services do not have these operations. Every method rejects with an `ApiError` if it fails, with
 * a `TypeError` for a bucket that cannot be in a URL and for an invalid `Date`, and with the reason of `signal` if that aborts it. There are up
 * to five attempts, after failures of the network and after 408, 425, 429 and 5xx.
 */
export interface ReadingClient extends AsyncDisposable {
  /** The logs of a bucket. */
  logs(bucket: string, filter?: LogFilter): RecordList<StoredLog>
  /** The value events of a bucket. */
  values(bucket: string, filter?: ValueFilter): RecordList<StoredValue>
  /** Counts the logs of a bucket by level. */
  countLogs(bucket: string, query?: LogFilter & Steps): Promise<RecordCounts>
  /** Counts the value events of a bucket by event. */
  countValues(bucket: string, query?: ValueFilter & Steps): Promise<RecordCounts>
  /** The kinds of error in the logs of a bucket, the most frequent first. */
  errors(bucket: string, query?: ErrorFilter): Promise<LogErrors>
  /** The values that the fields of the newest logs have. */
  logFacets(bucket: string, filter?: LogFilter): Promise<LogFacets>
  /** All projects, oldest first. */
  projects(options?: { readonly signal?: AbortSignal | undefined }): PagedList<Project>
  /** Wait for running requests and release every connection. Idempotent. The process can end without it. */
  close(): Promise<void>
}

/**
 * Makes a client that reads from the receiver. Options that are left out come from the environment. It uses the API key, or the access token if
 * there is no key.
 *
 * @throws {ConfigError} for an option or variable that is invalid, missing or unknown
 */
export function createReadingClient(options: ReadingOptions = {}): ReadingClient {
  return new ReceiverClient(new ReadingRequests(configure(options, 'content').options))
}

class ReceiverClient implements ReadingClient {
  readonly #requests: ReadingRequests

  constructor(requests: ReadingRequests) {
    this.#requests = requests
  }

  logs(bucket: string, filter: LogFilter = {}): RecordList<StoredLog> {
    return this.#records('logs', bucket, filter)
  }

  values(bucket: string, filter: ValueFilter = {}): RecordList<StoredValue> {
    return this.#records('values', bucket, filter)
  }

  countLogs(bucket: string, query: LogFilter & Steps = {}): Promise<RecordCounts> {
    return this.#counts('logs', bucket, query)
  }

  countValues(bucket: string, query: ValueFilter & Steps = {}): Promise<RecordCounts> {
    return this.#counts('values', bucket, query)
  }

  async errors(bucket: string, query: ErrorFilter = {}): Promise<LogErrors> {
    const path = `/api/logs/${pathSegment('bucket', bucket)}/errors${queryOf(query)}`
    const { signal } = ownFields(query)
    const { answer, asked } = await this.#requests.read({ path, what: `read errors of bucket ${bucket}`, signal })
    return errorsIn(answer, asked)
  }

  async logFacets(bucket: string, filter?: LogFilter): Promise<LogFacets> {
    const { signal } = ownFields(filter)
    const path = `/api/facets/logs${queryOf({ ...filter, bucket })}`
    const what = `read facets of bucket ${bucket}`
    const { answer, asked } = await this.#requests.read({ path, what, signal })
    if (objectOf(answer.levels) !== undefined) return answer as object as LogFacets
    throw unreadable({ status: 200, correlationId: undefined }, { asked, expected: 'levels' })
  }

  projects(options?: { readonly signal?: AbortSignal | undefined }): PagedList<Project> {
    const { signal } = ownFields(options)
    return pagedList('list projects', async ({ from, to }) => {
      const path = `/api/projects?from=${from}&to=${to}`
      const { answer, asked } = await this.#requests.read({ path, what: 'list projects', signal })
      const { total, list } = answer
      if (Number.isSafeInteger(total) && Array.isArray(list)) return { total: Number(total), list }
      throw unreadable({ status: 200, correlationId: undefined }, { asked, expected: 'total and list' })
    })
  }

  #records<Kind extends RecordKind>(kind: Kind, bucket: string, filter: LogFilter): RecordList<Stored<Kind>> {
    const path = `/api/${kind}/${pathSegment('bucket', bucket)}`
    const what = `read ${kind} of bucket ${bucket}`
    const { signal } = ownFields(filter)
    const read = async (bounds: RecordBounds) => {
      const question = { path: path + queryOf({ ...filter, ...bounds }), what, signal }
      const { answer, asked } = await this.#requests.read(question)
      return { page: pageIn(answer, { asked, kind }), asked }
    }
    const page = async (bounds: RecordBounds = {}) => (await read(bounds)).page
    async function* all(): AsyncGenerator<Stored<Kind>, void> {
      for await (const list of pagesOf<Stored<Kind>>(read)) yield* list
    }
    return { page, [Symbol.asyncIterator]: all }
  }

  async #counts(kind: RecordKind, bucket: string, query: LogFilter & Steps): Promise<RecordCounts> {
    const path = `/api/${kind}/${pathSegment('bucket', bucket)}/counts${queryOf(query)}`
    const what = `count ${kind} of bucket ${bucket}`
    const { signal } = ownFields(query)
    const { answer, asked } = await this.#requests.read({ path, what, signal })
    return countsIn(answer, asked)
  }

  close(): Promise<void> {
    return this.#requests.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
