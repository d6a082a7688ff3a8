import { lineMarker } from './spool-line.js'

/** A whole line of a file, without its line end, and its place. */
export interface Found<Line> {
  readonly start: number
  readonly length: number
  readonly line: Line
}

const lineFeed = 10
const marker = Buffer.from(lineMarker)

/**
 * Finds the whole lines of a file that may have been cut, torn or changed anywhere. In a damaged line it searches for the beginning of the
 * next one, which cannot be mistaken: so a lost line end costs no line. Returns also in how many places there are bytes that are no line.
 *
 * @param read returns the content of a line; undefined when it is not whole
 */
export function scanLines<Line>(
  bytes: Buffer,
  read: (bytes: Buffer) => Line | undefined,
): { readonly lines: readonly Found<Line>[]; readonly damaged: number } {
  const lines: Found<Line>[] = []
  let damaged = 0
  const take = (start: number, end: number) => {
    const line = read(bytes.subarray(start, end))
    if (line !== undefined) lines.push({ start, length: end - start, line })
    return line !== undefined
  }
  for (let start = 0, end = 0; start < bytes.length; start = end + 1) {
    const lineEnd = bytes.indexOf(lineFeed, start)
    end = lineEnd === -1 ? bytes.length : lineEnd
    if (end === start || take(start, end)) continue
    damaged++
    for (const [from, to] of beginnings(bytes, start, end)) {
      // Before the next beginning may stand a line end that has become another byte.
      if (!take(from, to)) take(from, to - 1)
    }
  }
  return { lines, damaged }
}

/** Where lines may begin in a part of a file, each with the place where the next one does. */
function* beginnings(bytes: Buffer, from: number, to: number): Generator<readonly [number, number]> {
  const part = bytes.subarray(from, to)
  for (let at = part.indexOf(marker); at !== -1; ) {
    const next = part.indexOf(marker, at + 1)
    yield [from + at, next === -1 ? to : from + next]
    at = next
  }
}
