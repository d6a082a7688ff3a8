import type { SluiceOptions } from '../options/options.js'
import { configure } from '../process/configure.js'
import { argumentError } from './api-error.js'
import { ContentService, type WriteOptions } from './content-service.js'
import type { ContentType, EntryFields } from './content-type.js'
import { type ContentTypeList, typeList } from './content-type.js'

/** Options of the table that content operations heed; those for lanes, records and the end of the process are not. */
export type ContentOptions = Pick<
  SluiceOptions,
  | 'url'
  | 'apiKey'
  | 'accessToken'
  | 'allowInsecure'
  | 'maxConnections'
  | 'requestTimeoutMs'
  | 'retryBaseMs'
  | 'retryCapMs'
  | 'debug'
>

/** Which content type is to be archived. */
export interface DeleteContentTypeOptions extends WriteOptions {
  /** Key or id of the content type. */
  readonly key: string
}

/** An entry that is to be made. */
export interface CreateEntryOptions<Fields extends object> extends WriteOptions {
  /** A content type made by `contentType`, whose fields are then checked by the compiler, or its key. */
  readonly type: ContentType<Fields> | string
  /** Its values, by key of the schema's fields. */
  readonly fields: NoInfer<Fields>
}

/** An entry that is to be made with the times that it has elsewhere. */
export interface MigrateEntryOptions<Fields extends object> extends CreateEntryOptions<Fields> {
  /** When it was made where it comes from. A text is passed on as it is: ISO 8601, UTC. @default up to the service */
  readonly createdAt?: Date | string | undefined
  /** When it was changed last there; the same form. @default up to the service */
  readonly updatedAt?: Date | string | undefined
  /** When it was published there; the same form. Left out: it never was. */
  readonly publishedAt?: Date | string | undefined
}

/**
 * Content types and entries of the service's projects. Every method rejects with an `ApiError` when the operation failed, with a
 * `TypeError` for a project, type or key that no request can hold, and with the reason of `signal` when that came before the whole
 * answer; a write that was aborted may have been done.
 *
 * Up to five attempts, full jitter between them: of a read whenever the network or the service fails in passing (408, 425, 429, 5xx;
 * `Retry-After` is honoured up to a minute, beyond it the error comes at once); of a write only when the request was never sent.
 * One attempt takes at most `requestTimeoutMs`, after as much for its connection.
 */
export interface ContentClient extends AsyncDisposable {
  /** The content types of a project; nothing is fetched before it is asked for. */
  listContentTypes(project: string, options?: { readonly signal?: AbortSignal | undefined }): ContentTypeList
  /** Archive a content type. Resolves with its id. */
  deleteContentType(project: string, options: DeleteContentTypeOptions): Promise<string>
  /** Make an entry, a draft. Resolves with its id. */
  createEntry<Fields extends object = EntryFields>(project: string, entry: CreateEntryOptions<Fields>): Promise<string>
  /** Make an entry that keeps the time stamps which it has elsewhere. Resolves with its id. */
  migrateEntry<Fields extends object = EntryFields>(
    project: string,
    entry: MigrateEntryOptions<Fields>,
  ): Promise<string>
  /** Wait for what is under way, and release every connection. Idempotent. Not needed for the process to end. */
  close(): Promise<void>
}

/**
 * Set up access to content. Options that are left out come from the environment. Where both an API key and an access token are
 * configured, each operation uses the one with which the API shows it: the key for listing and creating, the token for deleting and
 * migrating.
 *
 * @throws {ConfigError} for an option or variable that is invalid, missing or unknown
 */
export function createContentClient(options: ContentOptions = {}): ContentClient {
  return new ServiceClient(openContentService(options))
}

/** @throws {ConfigError} */
export function openContentService(options: ContentOptions): ContentService {
  return new ContentService(configure(options, 'content').options)
}

class ServiceClient implements ContentClient {
  readonly #service: ContentService

  constructor(service: ContentService) {
    this.#service = service
  }

  listContentTypes(project: string, { signal }: { readonly signal?: AbortSignal | undefined } = {}): ContentTypeList {
    return typeList((bounds) => this.#service.types(project, { ...bounds, signal }))
  }

  deleteContentType(project: string, options: DeleteContentTypeOptions): Promise<string> {
    return this.#service.deleteType(project, options)
  }

  async createEntry<Fields extends object>(
    project: string,
    { type, fields, signal, idempotencyKey }: CreateEntryOptions<Fields>,
  ): Promise<string> {
    const body = JSON.stringify({ fields })
    return await this.#service.createEntry(project, { type: keyOf(type), body, signal, idempotencyKey })
  }

  async migrateEntry<Fields extends object>(
    project: string,
    { type, signal, idempotencyKey, fields, createdAt, updatedAt, publishedAt }: MigrateEntryOptions<Fields>,
  ): Promise<string> {
    for (const [name, time] of Object.entries({ createdAt, updatedAt, publishedAt })) {
      // JSON would make it null, and the service would set a time of its own.
      if (time instanceof Date && Number.isNaN(time.getTime())) {
        throw argumentError(name, { expected: 'a valid Date', got: 'an invalid Date' })
      }
    }
    const body = JSON.stringify({ fields, createdAt, updatedAt, publishedAt })
    return await this.#service.migrateEntry(project, { type: keyOf(type), body, signal, idempotencyKey })
  }

  close(): Promise<void> {
    return this.#service.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** Whoever makes a path of it refuses an empty one. */
function keyOf(type: { readonly key: string } | string | undefined): string {
  return typeof type === 'string' ? type : (type?.key ?? '')
}
