import { timingSafeEqual } from 'node:crypto'
import type { SessionStorage } from '../storage/storage.js'
import { hashOf, newSecret, withSecret } from './secrets.js'

/**
 * The sessions of the page, and the token of this start that begins one. A session is kept with the data, so that a page which is open while
 * the receiver restarts goes on.
 */
export class PageSessions {
  /** Begins one session, once. */
  readonly token = newSecret()
  readonly #storage: SessionStorage
  #sessions: readonly { readonly hash: Buffer }[] = []
  /** The session of the token: a refresh that runs while it begins does not know it. */
  #begun: { readonly hash: Buffer } | undefined
  #isTokenUsed = false

  private constructor(storage: SessionStorage) {
    this.#storage = storage
  }

  static async load(storage: SessionStorage): Promise<PageSessions> {
    const sessions = new PageSessions(storage)
    await sessions.refresh()
    return sessions
  }

  /** Reads the sessions again: another receiver over the same store may have begun one. */
  async refresh(): Promise<void> {
    const hashes = await this.#storage.hashes()
    this.#sessions = hashes.map((hash) => ({ hash: Buffer.from(hash, 'hex') }))
  }

  /** Returns the secret of a new session; undefined if the token is wrong or was used. A session that cannot be stored does not use it. */
  async begin(token: string): Promise<string | undefined> {
    if (this.#isTokenUsed || !timingSafeEqual(hashOf(token), hashOf(this.token))) return undefined
    this.#isTokenUsed = true
    const secret = newSecret()
    const hash = hashOf(secret)
    try {
      await this.#storage.add(hash.toString('hex'))
    } catch (error) {
      this.#isTokenUsed = false
      throw error
    }
    this.#begun = { hash }
    return secret
  }

  accepts(secret: string): boolean {
    const sessions = this.#begun === undefined ? this.#sessions : [...this.#sessions, this.#begun]
    return withSecret(secret, sessions) !== undefined
  }
}
