import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'

/** One line of a file. */
export interface Line {
  /** From 1. */
  readonly number: number
  /** Without its end. Empty when it is too long. */
  readonly bytes: Buffer
  /** What it takes in the file, its end included. */
  readonly size: number
  /** Whether it has an end: the last line of a file may have none. */
  readonly ended: boolean
  readonly tooLong: boolean
}

/** A line that is longer is not held. */
export const maxLineBytes = 16_777_216

const lineFeed = 10

/** The lines of a file, as far as they are asked for. At most one line and one piece of the file are held. */
export async function* readLines(path: string): AsyncGenerator<Line, void> {
  let parts: Buffer[] = []
  let size = 0
  let number = 0
  const add = (part: Buffer) => {
    size += part.length
    if (size <= maxLineBytes) parts.push(part)
    else parts = []
  }
  const take = (ended: boolean): Line => {
    const tooLong = size > maxLineBytes
    const [first = Buffer.alloc(0), ...more] = parts
    const line = {
      number: ++number,
      bytes: more.length === 0 ? first : Buffer.concat(parts),
      size: size + (ended ? 1 : 0),
      ended,
      tooLong,
    }
    parts = []
    size = 0
    return line
  }
  for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) {
    let start = 0
    for (let end = piece.indexOf(lineFeed); end !== -1; end = piece.indexOf(lineFeed, start)) {
      add(piece.subarray(start, end))
      yield take(true)
      start = end + 1
    }
    if (start < piece.length) add(piece.subarray(start))
  }
  if (size > 0) yield take(false)
}

/** Undefined when it is no UTF-8. A byte order mark at the start of the file is none of its text. */
export function textOf({ number, bytes }: Line): string | undefined {
  if (!isUtf8(bytes)) return undefined
  const text = bytes.toString('utf8')
  return number === 1 && text.startsWith('\ufeff') ? text.slice(1) : text
}
