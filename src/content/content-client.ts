import { types } from 'node:util'
import type { ClientOptions } from '../options/client-options.js'
import { configure } from '../process/configure.js'
import { isPathSegment } from '../records/wire.js'
import { ownFields } from '../runtime/own-fields.js'
import { argumentError } from './api-error.js'
import { ContentService, type WriteOptions } from './content-service.js'
import type { ContentType, EntryFields } from './content-type.js'
import { type ContentTypeList, typeList } from './content-type.js'

/** The options for content operations. The options for lanes, records and the end of the process do not apply. */
export type ContentOptions = ClientOptions

/** A content type to archive. */
export interface DeleteContentTypeOptions extends WriteOptions {
  /** Key or id of the content type. */
  readonly key: string
}

/** An entry to make. */
export interface CreateEntryOptions<Fields extends object> extends WriteOptions {
  /** The key of a content type, or the result of `contentType`: then the compiler checks the fields. */
  readonly type: ContentType<Fields> | string
  /** Values by the keys of the schema's fields. */
  readonly fields: NoInfer<Fields>
}

/** An entry to make with its times from another service. */
export interface MigrateEntryOptions<Fields extends object> extends CreateEntryOptions<Fields> {
  /** Key or id of the content type that gets the entry in place of `type`. @default `type` */
  readonly contentTypeKey?: string | undefined
  /** Time of its creation. A text is passed on unchanged: ISO 8601, UTC. @default up to the service */
  readonly createdAt?: Date | string | undefined
  /** Time of its last change, in the same form. @default up to the service */
  readonly updatedAt?: Date | string | undefined
  /** Time of its publication, in the same form. @default not published */
  readonly publishedAt?: Date | string | undefined
}

/**
 * Content types and entries of the service's projects. Every method rejects with an `ApiError` if the operation fails, with a `TypeError`
 * for a project, type or key that cannot be in a URL, and with the reason of `signal` if that aborts it. The service may have done an
 * aborted write.
 *
 * There are up to five attempts with full jitter between them. A read is repeated after failures of the network and after 408, 425, 429
 * and 5xx; a `Retry-After` of more than a minute gives the error at once. A write is repeated only if its request was never sent. One
 * attempt takes at most `requestTimeoutMs`, and its connection as much again.
 */
export interface ContentClient extends AsyncDisposable {
  /** The content types of a project. Pages are fetched when they are needed. */
  listContentTypes(project: string, options?: { readonly signal?: AbortSignal | undefined }): ContentTypeList
  /** Archive a content type. Resolves with its id. */
  deleteContentType(project: string, options: DeleteContentTypeOptions): Promise<string>
  /** Make an entry, a draft. Resolves with its id. */
  createEntry<Fields extends object = EntryFields>(project: string, entry: CreateEntryOptions<Fields>): Promise<string>
  /** Make an entry that keeps its time stamps from another service. Resolves with its id. */
  migrateEntry<Fields extends object = EntryFields>(
    project: string,
    entry: MigrateEntryOptions<Fields>,
  ): Promise<string>
  /** Wait for running operations and release every connection. Idempotent. The process can end without it. */
  close(): Promise<void>
}

/**
 * Makes a client for content. Options that are left out come from the environment. If both an API key and an access token are configured,
 * each operation uses the one that the API shows for it: the key to list and create, the token to delete and migrate.
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

  listContentTypes(project: string, options?: { readonly signal?: AbortSignal | undefined }): ContentTypeList {
    const { signal } = ownFields(options)
    return typeList((bounds) => this.#service.types(project, { ...bounds, signal }))
  }

  deleteContentType(project: string, options: DeleteContentTypeOptions): Promise<string> {
    return this.#service.deleteType(project, ownFields(options))
  }

  async createEntry<Fields extends object>(project: string, entry: CreateEntryOptions<Fields>): Promise<string> {
    const { type, fields, signal, idempotencyKey } = ownFields(entry)
    const body = JSON.stringify({ fields })
    return await this.#service.createEntry(project, { type: keyOf(type), body, signal, idempotencyKey })
  }

  async migrateEntry<Fields extends object>(project: string, entry: MigrateEntryOptions<Fields>): Promise<string> {
    const { type, signal, idempotencyKey, fields, contentTypeKey, createdAt, updatedAt, publishedAt } = ownFields(entry)
    for (const [name, time] of Object.entries({ createdAt, updatedAt, publishedAt })) {
      // JSON would turn it into null, and the service would set another time.
      if (types.isDate(time) && Number.isNaN(time.getTime())) {
        throw argumentError(name, { expected: 'a valid Date', got: 'an invalid Date' })
      }
    }
    if (contentTypeKey !== undefined && !isPathSegment(contentTypeKey)) {
      throw argumentError('contentTypeKey', { expected: 'a key or id', got: contentTypeKey })
    }
    const body = JSON.stringify({ fields, contentTypeKey, createdAt, updatedAt, publishedAt })
    return await this.#service.migrateEntry(project, { type: keyOf(type), body, signal, idempotencyKey })
  }

  close(): Promise<void> {
    return this.#service.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** The key of a content type. An empty one is refused where the path is made. */
function keyOf(type: { readonly key: string } | string | undefined): string {
  return typeof type === 'string' ? type : (ownFields(type).key ?? '')
}
