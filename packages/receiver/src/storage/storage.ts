import type { Scope } from '../keys/scopes.js'
import type { Paged } from '../schemas/envelopes.js'
import type { Plan, Project } from '../schemas/projects.js'
import type { ContentStorage, Page } from './content-storage.js'
import type { RecordStorage } from './record-storage.js'
import type { Clocks } from './steady-time.js'

/** The receiver's store. A write is on disk when its promise resolves. */
export interface Storage {
  readonly records: RecordStorage
  readonly content: ContentStorage
  readonly projects: ProjectStorage
  readonly keys: KeyStorage
  readonly pageSessions: SessionStorage
  readonly views: ViewStorage
  /** Reads and writes. Rejects with the reason why the store cannot be used. */
  check(): Promise<void>
  /** Size of everything that is stored, in bytes. */
  bytes(): Promise<number>
  /** The clocks by which the store notes receipts. @default those of this machine */
  readonly clocks?: Clocks
  /** Gives up what waits for a database that does not answer, so that a close does not wait for it. The store cannot be used any more. */
  abandon?(): void
  /** Commits pending writes, then releases everything. */
  close(): Promise<void>
}

export interface ProjectStorage {
  find(id: string): Promise<Project | undefined>
  /** Ids of all projects, oldest first. */
  list(): Promise<readonly string[]>
  /** Oldest first. */
  page(page: Page): Promise<Paged<Project>>
  /** Adds a project whose plan allows everything. Returns `undefined` if the id exists. */
  add(id: string): Promise<Project | undefined>
  /** Returns `undefined` if there is no such project. */
  changePlan(id: string, plan: Plan): Promise<Project | undefined>
  /** Learns of plans that another process has changed, where `find` does not ask the store each time. */
  renew?(): Promise<void>
}

/** An API key as it is stored. */
export interface StoredKey {
  /** The beginning of the hash. */
  readonly id: string
  /** SHA-256, in hexadecimal digits. */
  readonly hash: string
  /** Text of the person who made it; may be empty. */
  readonly name: string
  readonly scopes: readonly Scope[]
  /** The projects for which the scopes hold; null for all. */
  readonly projects: readonly string[] | null
  /** ms since 1970. */
  readonly createdAt: number
  /** The last day on which it was used, in UTC: `2026-01-31`. */
  readonly lastUsed: string | null
}

export interface KeyStorage {
  /** Oldest first. */
  list(): Promise<readonly StoredKey[]>
  add(key: StoredKey): Promise<void>
  /** Forgets the key. Returns false if there is none with this id. */
  revoke(id: string): Promise<boolean>
  /** Stores the day on which keys were used. */
  used(ids: readonly string[], day: string): Promise<void>
}

/** A session of the page. */
export interface StoredSession {
  /** SHA-256 of its secret, in hexadecimal digits. */
  readonly hash: string
  /** The key that has opened it; null where a token has. */
  readonly keyId: string | null
}

export interface SessionStorage {
  /** The sessions of the last `sessionKeptMs`, oldest first. */
  list(): Promise<readonly StoredSession[]>
  /**
   * Adds a session. It takes the place of the oldest one where its key has `maxSessions` already.
   *
   * @param token hash of a stored token, which is used up
   * @returns the hashes of the sessions that it replaces; undefined if there is no such token
   */
  add(session: StoredSession, token?: string): Promise<readonly string[] | undefined>
  end(hash: string): Promise<void>
  /** Notes the address under which browsers reach the page. */
  noteAddress(address: string): Promise<void>
  /** Adds a token that opens one session, within `tokenKeptMs`. Returns the address of the page; null if no receiver has noted one. */
  addToken(hash: string): Promise<string | null>
}

/** A session of the page ends after this time, across restarts. */
export const sessionKeptMs = 30 * 24 * 60 * 60 * 1000
/** Sessions of one key, and those that tokens have opened. */
export const maxSessions = 20
export const tokenKeptMs = 10 * 60 * 1000

/** A view of the page under a name. */
export interface SavedView {
  readonly name: string
  /** Its address on the page: `#logs?level=error`. */
  readonly hash: string
}

export interface ViewStorage {
  list(): Promise<readonly SavedView[]>
  /** A view of the same name is replaced. Returns false if there are `maxViews` others. */
  save(view: SavedView): Promise<boolean>
  /** Returns false if there is none of this name. */
  remove(name: string): Promise<boolean>
}

export const maxViews = 200
