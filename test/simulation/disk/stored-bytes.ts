/** Bytes that grow. Those between two writes are zeros. */
export class StoredBytes {
  #bytes = Buffer.alloc(0)
  #size = 0

  get size(): number {
    return this.#size
  }

  /** The bytes themselves, not a copy. */
  get all(): Buffer {
    return this.#bytes.subarray(0, this.#size)
  }

  write(offset: number, bytes: Buffer): void {
    this.resize(Math.max(this.#size, offset + bytes.length))
    bytes.copy(this.#bytes, offset)
  }

  /** Cut the end off, or add zeros. */
  resize(size: number): void {
    if (size > this.#bytes.length) {
      const grown = Buffer.alloc(Math.max(size, 2 * this.#bytes.length, 256))
      this.all.copy(grown)
      this.#bytes = grown
    } else if (size < this.#size) this.#bytes.fill(0, size, this.#size)
    this.#size = size
  }

  copy(): StoredBytes {
    const copy = new StoredBytes()
    copy.write(0, this.all)
    return copy
  }
}
