import { readPlainFile } from '../options/plain-file.js'
import { append } from './append.js'
import { LineScanner } from './line-scanner.js'
import { restOf, summed } from './spool-line.js'

/** More than the acknowledgements of any segment take. */
const maxBytes = 67_108_864

/** A file beside a segment: the numbers of the records in it that are settled, a batch per line, as ranges. */
export function acknowledgementsOf(segment: string): string {
  return segment.replace(/\.ndjson$/, '.acks')
}

/** Say that records of a segment are settled. Throws what the file system does; then they count as unsettled, and may go out again. */
export function acknowledge(segment: string, numbers: readonly number[]): void {
  // After half a line, which a full disk may have left, this one is found all the same.
  append(acknowledgementsOf(segment), summed(`"settled":"${rangesOf(numbers)}"}`))
}

/** The first and the last number of a run. */
export type Range = readonly [from: number, to: number]

/**
 * The records of a segment that are settled. A line that is not whole acknowledges nothing. Throws where there are acknowledgements that
 * cannot be read: without them what was delivered would go out again.
 */
export function* acknowledged(segment: string): Generator<Range> {
  let bytes: Buffer
  try {
    bytes = readPlainFile(acknowledgementsOf(segment), { maxBytes })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  const scanner = new LineScanner(restOf)
  for (const { line } of [...scanner.push(bytes), ...scanner.end()]) {
    const text = /^"settled":"([\d,-]+)"\}$/.exec(line)?.[1] ?? ''
    for (const range of text.split(',')) {
      const [, from, to = from] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(range) ?? []
      if (from !== undefined) yield [Number(from), Number(to)]
    }
  }
}

/** The same numbers in ranges that do not overlap, ascending: however often they are named, each is gone over once. */
export function merged(ranges: Iterable<Range>): Range[] {
  const result: [number, number][] = []
  for (const [from, to] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const last = result.at(-1)
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to)
    else result.push([from, to])
  }
  return result
}

/** Such as `0-63,65`. */
export function rangesOf(numbers: readonly number[]): string {
  const sorted = [...numbers].sort((a, b) => a - b)
  const ranges: string[] = []
  for (let index = 0; index < sorted.length; index++) {
    const from = sorted[index]!
    while (sorted[index + 1] === sorted[index]! + 1) index++
    ranges.push(from === sorted[index] ? String(from) : `${from}-${sorted[index]}`)
  }
  return ranges.join(',')
}
