import type { Batch, Outgoing, WireRecords } from './sender.js'

const firstMemoryBytes = 4096
const firstCapacity = 8

/**
 * The records of one batch as bytes: their bodies stand one behind another at the beginning of `memory`. A batch is used again for the next
 * records, so that sending allocates nothing.
 */
export class RecordBatch implements WireRecords {
  readonly #keys: KeyWriter
  #memory: Buffer = Buffer.alloc(0)
  #length = 0
  #used = 0
  /** Ends of the bodies. */
  #ends = new Uint32Array(firstCapacity)
  #sequences = new Float64Array(firstCapacity)
  /** Keys that do not follow from the sequence. */
  #ownKeys: (string | undefined)[] = []
  #mostOwnKeyBytes = 0

  constructor(keyPrefix: string) {
    this.#keys = new KeyWriter(keyPrefix)
  }

  get length(): number {
    return this.#length
  }

  get used(): number {
    return this.#used
  }

  get memory(): Buffer {
    return this.#memory
  }

  reserve(bytes: number): Buffer {
    if (bytes > this.#memory.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(bytes, firstMemoryBytes, 2 * this.#memory.length))
      this.#memory.copy(larger, 0, 0, this.#used)
      this.#memory = larger
    }
    return this.#memory
  }

  abandonMemory(): void {
    const other = Buffer.allocUnsafeSlow(this.#used)
    this.#memory.copy(other, 0, 0, this.#used)
    this.#memory = other
  }

  startOf(index: number): number {
    return index === 0 ? 0 : this.#ends[index - 1]!
  }

  bytesOf(index: number): number {
    return this.#ends[index]! - this.startOf(index)
  }

  keyOf(index: number): string {
    return this.#ownKeys[index] ?? this.#keys.textOf(this.#sequences[index]!)
  }

  writeKey(index: number, at: number): number {
    const own = this.#ownKeys[index]
    if (own !== undefined) return at + this.#memory.write(own, at, 'latin1')
    return this.#keys.write(this.#sequences[index]!, this.#memory, at)
  }

  get mostKeyBytes(): number {
    return Math.max(this.#keys.mostBytes, this.#mostOwnKeyBytes)
  }

  isKey(index: number, text: string): boolean {
    const own = this.#ownKeys[index]
    return own === undefined ? this.#keys.isKey(this.#sequences[index]!, text) : own === text
  }

  /** A record with its body as text. */
  textOf(index: number): Outgoing {
    const from = this.startOf(index)
    const to = this.#ends[index]!
    return { body: this.#memory.toString('utf8', from, to), bytes: to - from, idempotencyKey: this.keyOf(index) }
  }

  /** Remove all records. */
  clear(): void {
    this.#length = 0
    this.#used = 0
    this.#ownKeys.length = 0
    this.#mostOwnKeyBytes = 0
  }

  /** Add a record whose body is text. */
  addText({ body, bytes, idempotencyKey }: Outgoing): void {
    this.reserve(this.#used + bytes)
    this.#memory.write(body, this.#used)
    this.#ownKeys[this.#length] = idempotencyKey
    this.#mostOwnKeyBytes = Math.max(this.#mostOwnKeyBytes, idempotencyKey.length)
    this.#push(bytes, 0)
  }

  #push(bytes: number, sequence: number): void {
    if (this.#length === this.#ends.length) this.#grow()
    this.#used += bytes
    this.#ends[this.#length] = this.#used
    this.#sequences[this.#length] = sequence
    this.#length++
  }

  #grow(): void {
    const capacity = 2 * this.#ends.length
    const ends = new Uint32Array(capacity)
    ends.set(this.#ends)
    this.#ends = ends
    const sequences = new Float64Array(capacity)
    sequences.set(this.#sequences)
    this.#sequences = sequences
  }
}

/** The records of a batch, from records whose bodies are text. */
export function batchRecords(records: readonly Outgoing[]): Pick<Batch, 'records' | 'wire'> {
  const wire = new RecordBatch('')
  for (const record of records) wire.addText(record)
  return { records, wire }
}

/** Writes idempotency keys: the prefix of the engine, a hyphen, and the sequence of the record in base 36. */
export class KeyWriter {
  readonly #prefix: string
  readonly #bytes: Buffer

  constructor(prefix: string) {
    this.#prefix = `${prefix}-`
    this.#bytes = Buffer.from(this.#prefix, 'latin1')
  }

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
