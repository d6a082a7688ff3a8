import type { Files } from '../runtime/files.js'
import { readPlainFile } from '../runtime/plain-file.js'
import { append } from './append.js'
import { scanLines } from './line-scanner.js'
import { withChecksum, withoutChecksum } from './spool-line.js'

/** The acknowledgements of a file of records take less. */
const maxBytes = 67_108_864

/** The path of the file that stands beside a file of records and names the settled records: a batch of numbers per line, as ranges. */
export function acknowledgementsOf(recordFile: string): string {
  return recordFile.replace(/\.ndjson$/, '.acks')
}

/** The first and the last number of a range. */
export type Range = readonly [from: number, to: number]

/** Which records of a file are settled, in the file beside it. */
export class Acknowledgements {
  readonly path: string
  readonly #files: Files

  constructor(recordFile: string, files: Files) {
    this.path = acknowledgementsOf(recordFile)
    this.#files = files
  }

  /** Write that records are settled. Throws what the file system does; the records then may be sent again. */
  add(numbers: readonly number[]): void {
    // A full disk may have left half a line before this one, which is found all the same.
    append(this.path, { lines: withChecksum(`"settled":"${rangesOf(numbers)}"}`), files: this.#files })
  }

  /**
   * The settled records. A damaged line acknowledges nothing. Throws for a file that is there and cannot be read: without it, delivered
   * records would be sent again.
   */
  *read(): Generator<Range> {
    let bytes: Buffer
    try {
      bytes = readPlainFile(this.path, { maxBytes, files: this.#files })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
      throw error
    }
    for (const { line } of scanLines(bytes, withoutChecksum).lines) {
      const text = /^"settled":"([\d,-]+)"\}$/.exec(line)?.[1] ?? ''
      for (const range of text.split(',')) {
        const [, from, to = from] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(range) ?? []
        if (from !== undefined) yield [Number(from), Number(to)]
      }
    }
  }
}

/** The same numbers in ascending ranges that do not overlap, so that each number is processed once, however often it is named. */
export function mergedRanges(ranges: Iterable<Range>): Range[] {
  const result: [number, number][] = []
  for (const [from, to] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const last = result.at(-1)
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to)
    else result.push([from, to])
  }
  return result
}

/** The numbers as ranges, such as `0-63,65`. */
function rangesOf(numbers: readonly number[]): string {
  const sorted = [...numbers].sort((a, b) => a - b)
  const ranges: string[] = []
  for (let index = 0; index < sorted.length; index++) {
    const from = sorted[index]!
    while (sorted[index + 1] === sorted[index]! + 1) index++
    ranges.push(from === sorted[index] ? String(from) : `${from}-${sorted[index]}`)
  }
  return ranges.join(',')
}
