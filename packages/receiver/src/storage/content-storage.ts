import type { ContentType } from '../schemas/content-types.js'
import type { Entry } from '../schemas/entries.js'
import type { Paged } from '../schemas/envelopes.js'
import type { Attempt } from './attempts.js'

export type NewContentType = Pick<ContentType, 'projectId' | 'key' | 'name' | 'description' | 'displayField' | 'schema'>

/** Names an active content type of a project by its key, or else by its id. With `byId: false`, by its key only. */
export interface TypeReference {
  readonly projectId: string
  readonly key: string
  readonly byId?: boolean
}

export interface NewEntry extends Pick<Entry, 'state' | 'fields'> {
  readonly type: ContentType
  readonly attempt: Attempt | undefined
  /** Times as they were sent. Defaults: now, `createdAt`, and none. */
  readonly createdAt?: string | undefined
  readonly updatedAt?: string | undefined
  readonly publishedAt?: string | undefined
}

export interface Page {
  /** Number of items before the page. */
  readonly offset: number
  readonly limit: number
}

export interface TypeQuery extends Page {
  readonly projectId: string
}

export interface EntryQuery extends Page {
  readonly type: ContentType
}

/** Reads content. A page of large items has fewer of them than `limit`. */
export interface ContentReading {
  findType(reference: TypeReference): Promise<ContentType | undefined>
  /** Oldest first. */
  listTypes(query: TypeQuery): Promise<Paged<ContentType>>
  /** Newest first. */
  listEntries(query: EntryQuery): Promise<Paged<Entry>>
  findEntry(query: { readonly type: ContentType; readonly id: string }): Promise<Entry | undefined>
}

/** Stores content types and entries. An archived type is not found, not listed and takes no entries; its key is free again. */
export interface ContentStorage extends ContentReading {
  /** Returns `undefined` if an active type has this key. */
  addType(type: NewContentType): Promise<ContentType | undefined>
  /** Replaces everything except the key and increments `schemaVersion`. Returns `undefined` if there is no such active type. */
  changeType(type: NewContentType): Promise<ContentType | undefined>
  /** Returns the id of the archived type, or `undefined` if there is no such active type. */
  archiveType(reference: TypeReference): Promise<string | undefined>
  /**
   * Returns the id of the new entry, or of the entry that an earlier attempt has made. Returns `undefined` if the type has changed since the
   * fields were checked.
   */
  addEntry(entry: NewEntry): Promise<string | undefined>
  /** Returns the id of the entry that an earlier attempt has made. */
  findAttempt(attempt: Attempt): Promise<string | undefined>
}
