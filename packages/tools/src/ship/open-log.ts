import { type FileHandle, open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { type Line, LineSplitter } from '../line-splitter.js'
import { pieceBytes } from './input.js'

/** A place in a log, at the beginning of a line: the lines before it are taken. */
export interface Place {
  /** Identifies the file, whatever its name. */
  readonly identity: string
  readonly position: number
  /** The bytes before the position, in base64: they show that the file is still the same. */
  readonly witness: string
}

/** The last bytes that were read: they show that the file is still the same. */
const witnessBytes = 64

/** An open log and the place up to which it is read. It stays the same file when its name goes to another one. */
export class OpenLog {
  readonly identity: string
  wasTruncated = false
  readonly #handle: FileHandle
  #splitter = new LineSplitter()
  /** Bytes that are read. */
  #position = 0
  /** Bytes of the lines that are taken. */
  #taken = 0
  #witness: Buffer = Buffer.alloc(0)

  private constructor(handle: FileHandle, identity: string) {
    this.#handle = handle
    this.identity = identity
  }

  /**
   * Rejects with the error of the file system.
   *
   * @param start read from the end, or from a place, if the file has the bytes before that @default the beginning
   */
  static async open(path: string, start?: 'end' | Place): Promise<OpenLog> {
    const handle = await open(path, 'r')
    const facts = await handle.stat({ bigint: true })
    const log = new OpenLog(handle, identityOf(facts))
    if (start === 'end') await log.#skipTo(Number(facts.size))
    else if (start !== undefined && (await log.has(start))) await log.#skipTo(start.position)
    return log
  }

  /** True where the bytes before a place are those of this file. */
  async has({ position, witness }: Place): Promise<boolean> {
    const bytes = Buffer.from(witness, 'base64')
    return (await this.#readAt(position - bytes.length, bytes.length)).equals(bytes)
  }

  /** The place of now, up to which lines are taken: of the call, and not of the moment at which it resolves. */
  async place(): Promise<Place> {
    const position = this.#taken
    const length = Math.min(witnessBytes, position)
    const witness = await this.#readAt(position - length, length)
    return { identity: this.identity, position, witness: witness.toString('base64') }
  }

  /** The lines that are new since the last call. Pieces of the file that were not asked for come with the next call. */
  async *lines(): AsyncGenerator<Line> {
    for (;;) {
      const before = this.#witness
      const bytes = await this.#readAt(this.#position - before.length, before.length + pieceBytes)
      if (!bytes.subarray(0, before.length).equals(before)) {
        // The file was truncated (`copytruncate`). It may have grown beyond the old place since.
        const rest = this.#splitter.end()
        this.#splitter = new LineSplitter()
        this.#position = 0
        this.#witness = Buffer.alloc(0)
        this.wasTruncated = true
        if (rest !== undefined) yield rest
        this.#taken = 0
        continue
      }
      const piece = bytes.subarray(before.length)
      if (piece.length === 0) return
      this.#position += piece.length
      this.#witness = Buffer.from(bytes.subarray(-witnessBytes))
      yield* this.#splitter.push(piece)
    }
  }

  /** The line that comes next is taken. */
  took({ size }: Line): void {
    this.#taken += size
  }

  /** The same for the same line at the same place, unlike that of any other line. */
  nameOf({ bytes }: Line): string {
    return `${this.identity}-${this.#taken}-${crc32(bytes).toString(16)}`
  }

  /** The unfinished last line, if there is one. */
  rest(): Line | undefined {
    return this.#splitter.end()
  }

  async close(): Promise<void> {
    await this.#handle.close().catch(() => {})
  }

  async #skipTo(position: number): Promise<void> {
    const length = Math.min(witnessBytes, position)
    this.#witness = await this.#readAt(position - length, length)
    this.#position = position - length + this.#witness.length
    this.#taken = this.#position
  }

  async #readAt(position: number, length: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafe(length)
    const { bytesRead } = await this.#handle.read(buffer, 0, length, position)
    return buffer.subarray(0, bytesRead)
  }
}

/** The number of a file on its device. */
export function identityOf({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }): string {
  return `${dev}:${ino}`
}
