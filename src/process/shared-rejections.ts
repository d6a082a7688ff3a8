import type { RejectedMessage } from '../diagnostics/channel-messages.js'

/** Rejected records that are held, at most. */
export const maxHeld = 100
/** Room for as many long records. The system gives the memory as it is used. */
const textBytes = 512 * 1024
const headerBytes = 8
const maxReadAttempts = 100

/**
 * The last rejected records of one thread, in memory that the other threads read. A message for each of them would be kept by every thread
 * that computes for long and reads no messages.
 */
export class SharedRejections {
  readonly memory: SharedArrayBuffer
  /** The count of beginnings and ends of writes, which is odd during one; the bytes of the text. */
  readonly #header: Int32Array
  readonly #text: Buffer
  readonly #rows: string[] = []
  #seen: { readonly sequence: number; readonly list: readonly RejectedMessage[] } = { sequence: 0, list: [] }

  constructor(memory = new SharedArrayBuffer(headerBytes + textBytes)) {
    this.memory = memory
    this.#header = new Int32Array(memory, 0, 2)
    this.#text = Buffer.from(memory as unknown as ArrayBuffer, headerBytes)
  }

  /** Called by its thread alone, as is {@link write}. */
  add(message: RejectedMessage): void {
    this.#rows.push(JSON.stringify(message))
    if (this.#rows.length > maxHeld) this.#rows.shift()
  }

  /** Show them to the other threads, the newest where they are too long together. */
  write(): void {
    const rows = this.#rows
    let bytes = 1 + rows.reduce((sum, row) => sum + 1 + Buffer.byteLength(row), 0)
    while (bytes > this.#text.length) bytes -= 1 + Buffer.byteLength(rows.shift()!)
    Atomics.add(this.#header, 0, 1)
    Atomics.store(this.#header, 1, this.#text.write(`[${rows.join()}]`))
    Atomics.add(this.#header, 0, 1)
  }

  /** The newest is last. While its thread writes, and where that thread has ended in the middle of it, the list of the last call. */
  get list(): readonly RejectedMessage[] {
    for (let attempt = 0; attempt < maxReadAttempts; attempt++) {
      const sequence = Atomics.load(this.#header, 0)
      if (sequence === this.#seen.sequence) break
      if (sequence % 2 !== 0) continue
      const text = this.#text.toString('utf8', 0, Atomics.load(this.#header, 1))
      if (Atomics.load(this.#header, 0) === sequence) this.#seen = { sequence, list: JSON.parse(text) }
    }
    return this.#seen.list
  }
}
