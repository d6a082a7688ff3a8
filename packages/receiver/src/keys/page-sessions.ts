import { timingSafeEqual } from 'node:crypto'
import type { SessionStorage, StoredSession } from '../storage/storage.js'
import { hashOf, newSecret, withSecret } from './secrets.js'

/** A session that counts now. */
export interface KnownSession {
  readonly hash: Buffer
  /** The key that has opened it; null where a token has. */
  readonly keyId: string | null
}

/**
 * The sessions of the page, and the token of this start that opens one. A session is kept with the data, so that a page which is open while
 * the receiver restarts goes on.
 */
export class PageSessions {
  /** Opens one session, once. */
  readonly token = newSecret()
  readonly #storage: SessionStorage
  #known: readonly KnownSession[] = []
  #changes = 0
  readonly #watches = new Set<{ readonly hash: Buffer; readonly ended: () => void }>()
  #isTokenUsed = false

  private constructor(storage: SessionStorage) {
    this.#storage = storage
  }

  static async load(storage: SessionStorage): Promise<PageSessions> {
    const sessions = new PageSessions(storage)
    await sessions.refresh()
    return sessions
  }

  /** Reads the sessions again: another receiver over the same store may have begun or ended one. */
  async refresh(): Promise<void> {
    const changes = this.#changes
    const stored = await this.#storage.list()
    // A session that this process begins or ends meanwhile is newer than what was read.
    if (changes !== this.#changes) return
    this.#known = stored.map(({ hash, keyId }) => ({ hash: Buffer.from(hash, 'hex'), keyId }))
    this.#tell()
  }

  /** Begins a session of a key. Returns its secret. */
  async beginOf(keyId: string): Promise<string> {
    // Only a token can be unknown.
    return (await this.#begin(keyId))!
  }

  /**
   * Begins a session with the token of this start, or with one that `newPageAddress` has stored. Returns its secret; undefined if the token is
   * wrong, was used or is over. A session that cannot be stored does not use it.
   */
  async begin(token: string): Promise<string | undefined> {
    const hash = hashOf(token)
    if (!timingSafeEqual(hash, hashOf(this.token))) return this.#begin(null, hash.toString('hex'))
    if (this.#isTokenUsed) return undefined
    this.#isTokenUsed = true
    try {
      return await this.#begin(null)
    } catch (error) {
      this.#isTokenUsed = false
      throw error
    }
  }

  find(secret: string): KnownSession | undefined {
    return withSecret(secret, this.#known)
  }

  async end({ hash }: KnownSession): Promise<void> {
    await this.#storage.end(hash.toString('hex'))
    this.#change(this.#known.filter((known) => !known.hash.equals(hash)))
  }

  /** Calls `ended` when the session has ended, until the returned function is called. */
  watch({ hash }: KnownSession, ended: () => void): () => void {
    const watch = { hash, ended }
    this.#watches.add(watch)
    return () => this.#watches.delete(watch)
  }

  async #begin(keyId: string | null, token?: string): Promise<string | undefined> {
    const secret = newSecret()
    const hash = hashOf(secret)
    const session: StoredSession = { hash: hash.toString('hex'), keyId }
    const replaced = await this.#storage.add(session, token)
    if (replaced === undefined) return undefined
    const left = this.#known.filter((known) => !replaced.includes(known.hash.toString('hex')))
    this.#change([...left, { hash, keyId }])
    return secret
  }

  #change(known: readonly KnownSession[]): void {
    this.#changes++
    this.#known = known
    this.#tell()
  }

  #tell(): void {
    for (const { hash, ended } of this.#watches) if (!this.#known.some((known) => known.hash.equals(hash))) ended()
  }
}

/** Makes an address that opens a session, once and soon, at any receiver over the store. */
export async function newPageAddress(storage: SessionStorage): Promise<string> {
  const token = newSecret()
  const address = await storage.addToken(hashOf(token).toString('hex'))
  if (address === null) throw new Error('no receiver of this version has run here: start one first')
  return `${address}/?token=${token}`
}
