import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { KeyStorage } from './storage/storage.js'

/** The API keys of this receiver. Only hashes are stored. A key has 256 random bits, so one round of SHA-256 is enough. */
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

  /** Makes a key. It cannot be shown again. */
  async mint(): Promise<string> {
    const key = `slk_${randomBytes(32).toString('base64url')}`
    const hashed = hashOf(key)
    await this.#storage.add(hashed.toString('hex'))
    this.#hashes.push(hashed)
    return key
  }

  /** True if the key is known. The time does not depend on which byte differs. */
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
