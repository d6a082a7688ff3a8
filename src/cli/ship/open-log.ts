import { type FileHandle, open } from 'node:fs/promises'
import { LineSplitter, type RawLine } from './line-splitter.js'
import { pieceBytes } from './open-input.js'

/** So many bytes before the place up to which a file was read show whether it is still the same. */
const witnessBytes = 64

/** A log that is open, and how far it was read. It stays what it is when its name goes to another file. */
export class OpenLog {
  /** Which file it is, whatever it is called. */
  readonly identity: string
  readonly #handle: FileHandle
  #splitter = new LineSplitter()
  #position: number
  #witness: Buffer = Buffer.alloc(0)
  #changedAt = 0

  private constructor(handle: FileHandle, { identity, position }: { identity: string; position: number }) {
    this.#handle = handle
    this.identity = identity
    this.#position = position
  }

  /**
   * Rejects with what the file system says.
   *
   * @param fromEnd only what is written from now on
   */
  static async open(path: string, { fromEnd }: { readonly fromEnd: boolean }): Promise<OpenLog> {
    const handle = await open(path, 'r')
    const facts = await handle.stat({ bigint: true })
    const log = new OpenLog(handle, { identity: identityOf(facts), position: fromEnd ? Number(facts.size) : 0 })
    await log.#keepWitness()
    return log
  }

  /** What has come since the last time. The place moves on with each piece, so that what is not asked for is not passed over. */
  async *lines(): AsyncGenerator<RawLine> {
    if (await this.#beganAnew()) {
      const rest = this.#splitter.end()
      this.#splitter = new LineSplitter()
      this.#position = 0
      if (rest !== undefined) yield rest
    }
    for (;;) {
      const piece = Buffer.allocUnsafe(pieceBytes)
      const { bytesRead } = await this.#handle.read(piece, 0, pieceBytes, this.#position)
      if (bytesRead === 0) break
      this.#position += bytesRead
      yield* this.#splitter.push(piece.subarray(0, bytesRead))
    }
    await this.#keepWitness()
  }

  /** The line that was never ended, if there is one. */
  rest(): RawLine | undefined {
    return this.#splitter.end()
  }

  async close(): Promise<void> {
    await this.#handle.close().catch(() => {})
  }

  /** It was cut (`copytruncate`), and perhaps written again beyond the old place since. */
  async #beganAnew(): Promise<boolean> {
    const { size, mtimeMs } = await this.#handle.stat()
    if (size < this.#position) return true
    if (mtimeMs === this.#changedAt) return false
    this.#changedAt = mtimeMs
    const { length } = this.#witness
    const now = Buffer.alloc(length)
    const { bytesRead } = await this.#handle.read(now, 0, length, this.#position - length)
    return !now.subarray(0, bytesRead).equals(this.#witness)
  }

  async #keepWitness(): Promise<void> {
    const length = Math.min(witnessBytes, this.#position)
    const bytes = Buffer.alloc(length)
    const { bytesRead } = await this.#handle.read(bytes, 0, length, this.#position - length)
    this.#witness = bytes.subarray(0, bytesRead)
  }
}

/** Which file it is: its number on its device. */
export function identityOf({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }): string {
  return `${dev}:${ino}`
}
