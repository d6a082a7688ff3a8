import type { ContentType } from '../schemas/content-types.js'
import type { Entry } from '../schemas/entries.js'
import type { Paged } from '../schemas/envelopes.js'
import type { Attempt } from './storage.js'

export type NewContentType = Pick<ContentType, 'projectId' | 'key' | 'name' | 'description' | 'displayField' | 'schema'>

/** An active content type of a project, by its key, or else by its id; by its key alone where `byId` is false. */
export interface TypeReference {
  readonly projectId: string
  readonly key: string
  readonly byId?: boolean
}

export interface NewEntry extends Pick<Entry, 'state' | 'fields'> {
  readonly type: ContentType
  readonly attempt: Attempt | undefined
  /** As they were sent; by default the time of the store, `createdAt`, and none. */
  readonly createdAt?: string | undefined
  readonly updatedAt?: string | undefined
  readonly publishedAt?: string | undefined
}

export interface Page {
  /** How many come before the first one of the page. */
  readonly offset: number
  readonly limit: number
}

export interface TypeQuery extends Page {
  readonly projectId: string
}

export interface EntryQuery extends Page {
  readonly type: ContentType
}

/** Reading of content. A page has fewer items than were asked for where those are large. */
export interface ContentReading {
  findType(reference: TypeReference): Promise<ContentType | undefined>
  /** Oldest first. */
  listTypes(query: TypeQuery): Promise<Paged<ContentType>>
  /** Newest first. */
  listEntries(query: EntryQuery): Promise<Paged<Entry>>
  findEntry(query: { readonly type: ContentType; readonly id: string }): Promise<Entry | undefined>
}

/** Content types and entries. An archived type is not found, not listed and takes no entries; its key is free again. */
export interface ContentStorage extends ContentReading {
  /** `undefined` when an active type has this key. */
  addType(type: NewContentType): Promise<ContentType | undefined>
  /** Replaces all but the key, and counts `schemaVersion` up; `undefined` when there is no such active type. */
  changeType(type: NewContentType): Promise<ContentType | undefined>
  /** The id of the type that it has archived; `undefined` when there is no such active type. */
  archiveType(reference: TypeReference): Promise<string | undefined>
  /**
   * The id of the new entry, or of the one that an earlier attempt has made; `undefined` when the type is no longer what the
   * fields were checked against.
   */
  addEntry(entry: NewEntry): Promise<string | undefined>
  /** The id of the entry that an earlier attempt has made. */
  findAttempt(attempt: Attempt): Promise<string | undefined>
}
