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
  readonly #sessions: { readonly hash: Buffer }[]
  #isTokenUsed = false

  private constructor(storage: SessionStorage, hashes: readonly string[]) {
    this.#storage = storage
    this.#sessions = hashes.map((hash) => ({ hash: Buffer.from(hash, 'hex') }))
  }

  static async load(storage: SessionStorage): Promise<PageSessions> {
    return new PageSessions(storage, await storage.hashes())
  }

  /** Returns the secret of a new session; undefined if the token is wrong or was used. */
  async begin(token: string): Promise<string | undefined> {
    if (this.#isTokenUsed || !timingSafeEqual(hashOf(token), hashOf(this.token))) return undefined
    this.#isTokenUsed = true
    const secret = newSecret()
    const hash = hashOf(secret)
    await this.#storage.add(hash.toString('hex'))
    this.#sessions.push({ hash })
    return secret
  }

  accepts(secret: string): boolean {
    return withSecret(secret, this.#sessions) !== undefined
  }
}
