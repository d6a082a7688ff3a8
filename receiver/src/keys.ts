import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { KeyStorage } from './storage/storage.js'

/** Secrets that this receiver makes: API keys, or sessions of the page. Only hashes are stored. A secret has 256 random bits, so one round of SHA-256 is enough. */
export class Keys {
  readonly #storage: KeyStorage
  readonly #prefix: string
  readonly #hashes: Buffer[]

  private constructor(storage: KeyStorage, { prefix, hashes }: { prefix: string; hashes: Buffer[] }) {
    this.#storage = storage
    this.#prefix = prefix
    this.#hashes = hashes
  }

  /** @param prefix beginning of each secret, so that a person and a scanner recognise it */
  static async load(storage: KeyStorage, prefix = 'slk_'): Promise<Keys> {
    const hashes = (await storage.hashes()).map((hash) => Buffer.from(hash, 'hex'))
    return new Keys(storage, { prefix, hashes })
  }

  /** Makes a key. It cannot be shown again. */
  async mint(): Promise<string> {
    const key = `${this.#prefix}${randomBytes(32).toString('base64url')}`
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

/** SHA-256: two texts compare in a time that does not tell where they differ. */
export function hashOf(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}
