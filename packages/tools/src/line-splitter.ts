import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

/** One line of an input, as its bytes came. */
export interface Line {
  /** From 1. */
  readonly number: number
  /** Without the line feed. Of a line that is too long, the first {@link maxLineBytes} bytes. */
  readonly bytes: Buffer
  /** Bytes that the line takes in the input, with its line feed. */
  readonly size: number
  /** False for a last line without a line feed. */
  readonly ended: boolean
  /** True when the line has more than {@link maxLineBytes} bytes. */
  readonly tooLong: boolean
}

/** The longest line that is held in full. */
export const maxLineBytes = 16_777_216

const lineFeed = 10

/** Splits the pieces of an input into lines. It holds at most one unfinished line. */
export class LineSplitter {
  #number = 0
  #parts: Buffer[] = []
  #held = 0
  #length = 0

  /** The last line, when the input ends without a line feed. */
  end(): Line | undefined {
    return this.#length === 0 ? undefined : this.#take(false)
  }

  /** The lines that end in this piece. The piece must not change while they are used; what is left of it is copied. */
  *push(piece: Buffer): Generator<Line> {
    let start = 0
    for (let end = piece.indexOf(lineFeed); end !== -1; end = piece.indexOf(lineFeed, start)) {
      this.#add(piece.subarray(start, end))
      start = end + 1
      yield this.#take(true)
    }
    if (start < piece.length) this.#add(Buffer.from(piece.subarray(start)))
  }

  #add(part: Buffer): void {
    this.#length += part.length
    const kept = part.subarray(0, maxLineBytes - this.#held)
    this.#held += kept.length
    if (kept.length > 0) this.#parts.push(kept)
  }

  #take(ended: boolean): Line {
    const parts = this.#parts
    const line = {
      number: ++this.#number,
      bytes: parts.length === 1 ? parts[0]! : Buffer.concat(parts),
      size: this.#length + (ended ? 1 : 0),
      ended,
      tooLong: this.#length > maxLineBytes,
    }
    this.#parts = []
    this.#held = 0
    this.#length = 0
    return line
  }
}

/** The lines of an input, one at a time. */
export async function* linesOf(input: AsyncIterable<Buffer>): AsyncGenerator<Line, void> {
  const splitter = new LineSplitter()
  for await (const piece of input) yield* splitter.push(piece)
  const rest = splitter.end()
  if (rest !== undefined) yield rest
}

/** The lines of a file. It is opened when the first line is asked for. */
export async function* linesOfFile(path: string): AsyncGenerator<Line, void> {
  yield* linesOf(createReadStream(path))
}

/**
 * The same, for a reader that is done with a line before it asks for the next one: the bytes change then. All pieces are read into the same
 * memory. A file of hundreds of thousands of lines would leave tens of megabytes to the garbage collector, which it is late to free.
 */
export async function* passingLinesOfFile(path: string): AsyncGenerator<Line, void> {
  const file = await open(path)
  try {
    yield* linesOf(passingPieces(file))
  } finally {
    await file.close()
  }
}

const pieceBytes = 65_536

async function* passingPieces(file: FileHandle): AsyncGenerator<Buffer, void> {
  const memory = Buffer.allocUnsafeSlow(pieceBytes)
  for (;;) {
    const { bytesRead } = await file.read(memory, 0, pieceBytes)
    if (bytesRead === 0) return
    yield memory.subarray(0, bytesRead)
  }
}

/** The text of a line. A byte order mark at the start of the input is left out. */
export function textOfLine({ number, bytes }: Line): string {
  const text = bytes.toString('utf8')
  return number === 1 && text.startsWith('\ufeff') ? text.slice(1) : text
}
