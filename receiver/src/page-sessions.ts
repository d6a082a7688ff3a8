import { randomBytes, timingSafeEqual } from 'node:crypto'
import { hashOf, Keys } from './keys.js'
import type { KeyStorage } from './storage/storage.js'

/**
 * The sessions of the page, and the token of this start that begins one. A session is kept with the data, so that a page which is open while
 * the receiver restarts goes on.
 */
export class PageSessions {
  /** Begins one session, once. */
  readonly token = randomBytes(32).toString('base64url')
  readonly #sessions: Keys
  #isTokenUsed = false

  private constructor(sessions: Keys) {
    this.#sessions = sessions
  }

  static async load(storage: KeyStorage): Promise<PageSessions> {
    return new PageSessions(await Keys.load(storage, ''))
  }

  /** Returns the secret of a new session; undefined if the token is wrong or was used. */
  async begin(token: string): Promise<string | undefined> {
    if (this.#isTokenUsed || !timingSafeEqual(hashOf(token), hashOf(this.token))) return undefined
    this.#isTokenUsed = true
    return this.#sessions.mint()
  }

  accepts(secret: string): boolean {
    return this.#sessions.accepts(secret)
  }
}
