/** Writes idempotency keys: the prefix of the engine, a hyphen, and the sequence of the record in base 36. */
export class KeyWriter {
  readonly #prefix: string
  readonly #bytes: Buffer

  constructor(prefix: string) {
    this.#prefix = `${prefix}-`
    this.#bytes = Buffer.from(this.#prefix, 'latin1')
  }

  /** No key is longer. */
  get mostBytes(): number {
    return this.#bytes.length + mostDigits
  }

  textOf(sequence: number): string {
    return this.#prefix + sequence.toString(36)
  }

  /** True where the text is the key of this sequence. */
  isKey(sequence: number, text: string): boolean {
    const from = this.#prefix.length
    if (text.slice(0, from) !== this.#prefix) return false
    let place = text.length
    let rest = sequence
    do {
      if (--place < from || text.charCodeAt(place) !== digitCodes[rest % 36]) return false
      rest = Math.floor(rest / 36)
    } while (rest > 0)
    return place === from
  }

  /** Returns the position behind the key. */
  write(sequence: number, memory: Uint8Array, at: number): number {
    memory.set(this.#bytes, at)
    const to = at + this.#bytes.length
    let digits = 1
    for (let rest = sequence; rest >= 36; rest = Math.floor(rest / 36)) digits++
    const end = to + digits
    for (let place = end - 1, rest = sequence; place >= to; place--, rest = Math.floor(rest / 36)) {
      memory[place] = digitCodes[rest % 36]!
    }
    return end
  }
}

/** Of a sequence in base 36: sequences are safe integers. */
const mostDigits = 11
const digitCodes = Buffer.from('0123456789abcdefghijklmnopqrstuvwxyz', 'latin1')
