import { createHash, randomUUID } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { type Line, LineSplitter } from '../line-splitter.js'
import { pieceBytes } from './input.js'

/** A place in a log, at the beginning of a line: the lines before it are taken. */
export interface Place {
  /** Identifies the file, whatever its name. */
  readonly identity: string
  /** Unlike that of any other content: a file that is truncated gets another one. It is part of the names of the lines. */
  readonly generation: string
  readonly position: number
  /** Digest of the first bytes of the file and of those before the position: they show that its content is still the same. */
  readonly witness: string
}

/** The first bytes that show that a content is still the same. */
const headBytes = 1024
/** The last bytes that were read, or taken, for the same purpose. */
const tailBytes = 64

const nothing = Buffer.alloc(0)

/** An open log and the place up to which it is read. It stays the same file when its name goes to another one. */
export class OpenLog {
  readonly identity: string
  wasTruncated = false
  readonly #handle: FileHandle
  #generation: string = randomUUID()
  #splitter = new LineSplitter()
  /** Bytes that are read. */
  #position = 0
  /** The beginning of the bytes that are read. */
  #head: Buffer = nothing
  /** The end of the bytes that are read. */
  #read: Buffer = nothing
  /** Bytes of the lines that are taken. */
  #taken = 0
  /** The end of these bytes. */
  #tail: Buffer = nothing

  private constructor(handle: FileHandle, identity: string) {
    this.#handle = handle
    this.identity = identity
  }

  /**
   * Rejects with the error of the file system.
   *
   * @param starts read from the end, or from the first of these places whose content the file has @default the beginning
   */
  static async open(path: string, starts: 'end' | readonly Place[] = []): Promise<OpenLog> {
    const handle = await open(path, 'r')
    const facts = await handle.stat({ bigint: true })
    const log = new OpenLog(handle, identityOf(facts))
    if (starts === 'end') await log.#skipTo(Number(facts.size))
    else {
      for (const place of starts) {
        if (!(await log.#has(place))) continue
        log.#generation = place.generation
        await log.#skipTo(place.position)
        break
      }
    }
    return log
  }

  /** The place up to which lines are taken. It is that of the content that was read, even if the file is truncated since. */
  place(): Place {
    const { identity } = this
    const position = this.#taken
    const witness = digestOf(this.#head.subarray(0, position), this.#tail)
    return { identity, generation: this.#generation, position, witness }
  }

  /** The lines that are new since the last call. Pieces of the file that were not asked for come with the next call. */
  async *lines(): AsyncGenerator<Line> {
    for (;;) {
      const before = this.#read.subarray(-tailBytes)
      const bytes = await this.#readAt(this.#position - before.length, before.length + pieceBytes)
      const head = await this.#readAt(0, this.#head.length)
      if (!bytes.subarray(0, before.length).equals(before) || !head.equals(this.#head)) {
        // The file was truncated (`copytruncate`). It may have grown beyond the old place since.
        const rest = this.#splitter.end()
        if (rest !== undefined) yield rest
        this.#beginAgain()
        continue
      }
      const piece = bytes.subarray(before.length)
      if (piece.length === 0) return
      if (this.#position < headBytes) this.#head = Buffer.concat([this.#head, piece]).subarray(0, headBytes)
      this.#position += piece.length
      this.#read = bytes
      yield* this.#splitter.push(piece)
    }
  }

  /** The line that comes next is taken. */
  took({ size }: Line): void {
    this.#taken += size
    // A line ends in the bytes that were read last.
    const end = this.#read.length - (this.#position - this.#taken)
    this.#tail = this.#read.subarray(Math.max(0, end - tailBytes), end)
  }

  /** The same for the same line at the same place of a content, unlike that of any other line. */
  nameOf({ bytes }: Line): string {
    return `${this.#generation}-${this.#taken}-${crc32(bytes).toString(16)}`
  }

  /** The unfinished last line, if there is one. */
  rest(): Line | undefined {
    return this.#splitter.end()
  }

  async close(): Promise<void> {
    await this.#handle.close().catch(() => {})
  }

  #beginAgain(): void {
    this.wasTruncated = true
    this.#generation = randomUUID()
    this.#splitter = new LineSplitter()
    this.#position = 0
    this.#taken = 0
    this.#head = nothing
    this.#read = nothing
    this.#tail = nothing
  }

  /** True where the bytes that show the content of a place are those of this file. */
  async #has({ position, witness }: Place): Promise<boolean> {
    const [head, tail] = await this.#around(position)
    return digestOf(head, tail) === witness
  }

  async #skipTo(position: number): Promise<void> {
    const [head, tail] = await this.#around(position)
    if (tail.length < Math.min(tailBytes, position)) return
    this.#head = head
    this.#read = tail
    this.#tail = tail
    this.#position = position
    this.#taken = position
  }

  /** The first bytes of the file, and the last ones before a position. */
  #around(position: number): Promise<[head: Buffer, tail: Buffer]> {
    const length = Math.min(tailBytes, position)
    return Promise.all([this.#readAt(0, Math.min(headBytes, position)), this.#readAt(position - length, length)])
  }

  async #readAt(position: number, length: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafe(length)
    const { bytesRead } = await this.#handle.read(buffer, 0, length, position)
    return buffer.subarray(0, bytesRead)
  }
}

function digestOf(head: Buffer, tail: Buffer): string {
  return createHash('sha256').update(head).update(tail).digest('base64')
}

/** The number of a file on its device. */
export function identityOf({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }): string {
  return `${dev}:${ino}`
}
