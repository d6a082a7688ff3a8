import type { KeyStorage, ProjectStorage, StoredKey } from '../storage/storage.js'
import { type Scope, scopes } from './scopes.js'
import { hashOf, newSecret, withSecret } from './secrets.js'

/** A key that is valid now. */
export interface KnownKey {
  readonly id: string
  readonly scopes: readonly Scope[]
  /** The projects for which the scopes hold; null for all. */
  readonly projects: ReadonlySet<string> | null
  /** It has every scope, for every project. */
  readonly allowsAll: boolean
}

/** A key as it is shown: without its hash. */
export function shownKey({ id, name, scopes, projects, createdAt, lastUsed }: StoredKey) {
  return { id, name, scopes, projects, createdAt: new Date(createdAt).toISOString(), lastUsed }
}

/** How many characters of its hash are the id of a key. */
const idLength = 12

export interface NewKey {
  readonly name?: string | undefined
  readonly scopes: readonly Scope[]
  /** @default null: all projects */
  readonly projects?: readonly string[] | null | undefined
}

/** The first of these projects that does not exist. A key is bound to projects that do: a wrong name would let it do nothing. */
export async function unknownProject(
  projects: Pick<ProjectStorage, 'find'>,
  ids: readonly string[] | null,
): Promise<string | undefined> {
  for (const id of ids ?? []) if ((await projects.find(id)) === undefined) return id
  return undefined
}

/** Makes a key. Only its hash is stored: the key cannot be shown again. */
export async function makeKey(
  storage: KeyStorage,
  { name = '', scopes: wanted, projects = null }: NewKey,
): Promise<{ readonly key: string; readonly stored: StoredKey }> {
  // The prefix lets a person and a scanner recognise a key.
  const key = newSecret('slk_')
  const hash = hashOf(key).toString('hex')
  const ordered = scopes.filter((scope) => wanted.includes(scope))
  const id = idOfKey(key)
  const allowed = { scopes: ordered, projects: projects && [...new Set(projects)] }
  const stored = { id, hash, name, ...allowed, createdAt: Date.now(), lastUsed: null }
  await storage.add(stored)
  return { key, stored }
}

/** The id of a key, which is no secret. */
export function idOfKey(key: string): string {
  return hashOf(key).toString('hex').slice(0, idLength)
}

/** The API keys. Another process may add and revoke keys of the same store: `refresh` learns of it. */
export class Keys {
  readonly #storage: KeyStorage
  #known: readonly (KnownKey & { readonly hash: Buffer; readonly lastUsed: string | null })[] = []
  /** Ids of the keys that were used since the last refresh. */
  readonly #used = new Set<string>()
  readonly #watches = new Set<{ readonly id: string; readonly revoked: () => void }>()
  #refreshing: Promise<void> | undefined

  private constructor(storage: KeyStorage) {
    this.#storage = storage
  }

  static async load(storage: KeyStorage): Promise<Keys> {
    const keys = new Keys(storage)
    await keys.#load()
    return keys
  }

  /** Makes a key. It cannot be shown again. */
  async make(wanted: NewKey) {
    const made = await makeKey(this.#storage, wanted)
    await this.#load()
    return made
  }

  /** The valid key that this text is. The time does not depend on which byte differs. */
  find(key: string): KnownKey | undefined {
    const found = withSecret(key, this.#known)
    if (found !== undefined) this.#used.add(found.id)
    return found
  }

  /** The valid key with this id. */
  withId(id: string): KnownKey | undefined {
    const found = this.#known.find((key) => key.id === id)
    if (found !== undefined) this.#used.add(id)
    return found
  }

  /** Oldest first. */
  async list(): Promise<readonly StoredKey[]> {
    await this.refresh()
    return this.#storage.list()
  }

  /** Returns false if there is no such key. */
  async revoke(id: string): Promise<boolean> {
    const isRevoked = await this.#storage.revoke(id)
    await this.#load()
    return isRevoked
  }

  /** Calls `revoked` when the key is no longer valid, until the returned function is called. */
  watch(id: string, revoked: () => void): () => void {
    const watch = { id, revoked }
    this.#watches.add(watch)
    return () => this.#watches.delete(watch)
  }

  /** Stores the day on which keys were used, and reads the keys again. Two calls at once are one. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  get size(): number {
    return this.#known.length
  }

  async #refresh(): Promise<void> {
    await this.#load()
    const day = new Date().toISOString().slice(0, 10)
    const ids = this.#known.filter(({ id, lastUsed }) => this.#used.has(id) && lastUsed !== day).map(({ id }) => id)
    this.#used.clear()
    if (ids.length > 0) await this.#storage.used(ids, day)
  }

  async #load(): Promise<void> {
    const stored = await this.#storage.list()
    this.#known = stored.map(({ id, hash, scopes: allowed, projects, lastUsed }) => ({
      id,
      hash: Buffer.from(hash, 'hex'),
      scopes: allowed,
      projects: projects && new Set(projects),
      allowsAll: allowed.length === scopes.length && projects === null,
      lastUsed,
    }))
    for (const { id, revoked } of this.#watches) if (!this.#known.some((key) => key.id === id)) revoked()
  }
}
