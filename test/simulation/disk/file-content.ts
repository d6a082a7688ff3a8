import { StoredBytes } from './stored-bytes.js'

/** A change that the disk may not have: bytes that were written, or, without bytes, a new size. */
interface Change {
  readonly offset: number
  readonly bytes: Buffer | undefined
}

/** The sources of chance at a power loss, and a listener that is told about its effects. */
export interface Loss {
  /** From 0 to below 1. */
  readonly random: () => number
  readonly reached: (name: string) => void
}

/** The content of a file: as programs see it, and as it was when it was last synced, with the later changes in their order. */
export class FileContent {
  #seen = new StoredBytes()
  #durable = new StoredBytes()
  #unsynced: Change[] = []

  get size(): number {
    return this.#seen.size
  }

  /** As programs see it. Not a copy. */
  get bytes(): Buffer {
    return this.#seen.all
  }

  write(offset: number, bytes: Buffer): void {
    this.#seen.write(offset, bytes)
    this.#unsynced.push({ offset, bytes: Buffer.from(bytes) })
  }

  resize(size: number): void {
    this.#seen.resize(size)
    this.#unsynced.push({ offset: size, bytes: undefined })
  }

  /** All changes are on the disk from now on. */
  sync(): void {
    for (const change of this.#unsynced) apply(this.#durable, change)
    this.#unsynced = []
  }

  /**
   * The disk did not take the changes. As on Linux, some of them count as written from now on: programs see them, no later sync writes
   * them, and a power loss takes them.
   */
  failToSync({ random, reached }: Loss): void {
    const left = this.#unsynced.filter(() => random() < 0.5)
    if (left.length < this.#unsynced.length) reached('disk: a failed fsync forgets a write')
    this.#unsynced = left
  }

  /** The power is lost: a random part of the changes survives. */
  lose({ random, reached }: Loss): void {
    const changes = this.#unsynced
    const seenSize = this.#seen.size
    if (changes.length > 0) {
      const survivors = survivorsOf(changes, random)
      if (survivors.length < changes.length) reached('disk: write lost')
      const last = survivors.at(-1)
      for (const change of survivors.slice(0, -1)) apply(this.#durable, change)
      if (last !== undefined) this.#tear(last, { random, reached })
      if (this.#durable.size < seenSize && random() < 0.25) {
        reached('disk: size without data')
        this.#durable.resize(seenSize)
      }
    }
    this.#unsynced = []
    this.#seen = this.#durable.copy()
  }

  /** Make the last change that survives: a write perhaps only up to some byte. */
  #tear({ offset, bytes }: Change, { random, reached }: Loss): void {
    if (bytes === undefined || random() < 0.5) {
      apply(this.#durable, { offset, bytes })
      return
    }
    reached('disk: torn write')
    apply(this.#durable, { offset, bytes: bytes.subarray(0, Math.floor(random() * bytes.length)) })
    const end = offset + bytes.length
    if (this.#durable.size < end && random() < 0.5) this.#durable.resize(end)
  }
}

/** A random number of the first, or any of them. */
export function survivorsOf<Item>(items: readonly Item[], random: () => number): Item[] {
  if (random() < 0.5) return items.slice(0, Math.floor(random() * (items.length + 1)))
  return items.filter(() => random() < 0.5)
}

function apply(bytes: StoredBytes, change: Change): void {
  if (change.bytes === undefined) bytes.resize(change.offset)
  else bytes.write(change.offset, change.bytes)
}
