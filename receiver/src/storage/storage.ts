import type { Plan, Project } from '../schemas/projects.js'
import type { ContentStorage } from './content-storage.js'
import type { RecordStorage } from './record-storage.js'

/** Where the receiver keeps what it takes. What a method has written is on disk when its promise resolves. */
export interface Storage {
  readonly records: RecordStorage
  readonly content: ContentStorage
  readonly projects: ProjectStorage
  readonly keys: KeyStorage
  /** Rejects when the store cannot be used. */
  check(): Promise<void>
  /** Commits what it has taken, then releases everything. */
  close(): Promise<void>
}

export interface ProjectStorage {
  find(id: string): Promise<Project | undefined>
  /** A new project with a plan that allows everything; `undefined` when there is one with this id already. */
  add(id: string): Promise<Project | undefined>
  /** `undefined` when there is no such project. */
  changePlan(id: string, plan: Plan): Promise<Project | undefined>
}

/** Hashes of the keys that may use the receiver. */
export interface KeyStorage {
  hashes(): Promise<readonly string[]>
  add(hash: string): Promise<void>
}

/** What tells two attempts at one request from two requests. A store remembers it for `rememberedMs`. */
export interface Attempt {
  /** One operation on one resource, in whichever words the store's callers choose. */
  readonly scope: string
  /** The sender's `idempotency-key`. */
  readonly key: string
}

/** How long an attempt is remembered, a restart notwithstanding. */
export const rememberedMs = 24 * 60 * 60 * 1000
