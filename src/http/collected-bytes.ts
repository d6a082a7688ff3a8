/** Bytes of a body, in one piece however small the pieces are in which they come. */
export class CollectedBytes {
  #bytes: Buffer = Buffer.alloc(0)
  #length = 0

  get length(): number {
    return this.#length
  }

  add(chunk: Buffer): void {
    const length = this.#length + chunk.length
    // The first piece, which is mostly the only one, is not copied.
    if (this.#length === 0) this.#bytes = chunk
    else {
      if (length > this.#bytes.length) this.#grow(length)
      chunk.copy(this.#bytes, this.#length)
    }
    this.#length = length
  }

  toString(): string {
    return this.#bytes.toString('utf8', 0, this.#length)
  }

  #grow(length: number): void {
    const grown = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, length))
    this.#bytes.copy(grown, 0, 0, this.#length)
    this.#bytes = grown
  }
}
