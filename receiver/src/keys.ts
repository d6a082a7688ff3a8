import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { KeyStorage } from './storage/storage.js'

/** The keys that may use this receiver. Only their hashes are kept; a key is 256 random bits, so that one hash is enough. */
export class Keys {
  readonly #storage: KeyStorage
  readonly #hashes: Buffer[]

  private constructor(storage: KeyStorage, hashes: Buffer[]) {
    this.#storage = storage
    this.#hashes = hashes
  }

  static async load(storage: KeyStorage): Promise<Keys> {
    return new Keys(
      storage,
      (await storage.hashes()).map((hash) => Buffer.from(hash, 'hex')),
    )
  }

  /** Make a key. It cannot be shown again. */
  async mint(): Promise<string> {
    const key = `slk_${randomBytes(32).toString('base64url')}`
    const hashed = hashOf(key)
    await this.#storage.add(hashed.toString('hex'))
    this.#hashes.push(hashed)
    return key
  }

  /** Whether this is one of the keys; takes the same time whichever byte differs. */
  accepts(key: string): boolean {
    const hashed = hashOf(key)
    let accepted = false
    for (const known of this.#hashes) accepted = timingSafeEqual(known, hashed) || accepted
    return accepted
  }

  get size(): number {
    return this.#hashes.length
  }
}

function hashOf(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}
