import { appendFileSync, readFileSync } from 'node:fs'
import { LineScanner } from './line-scanner.js'
import { restOf, summed } from './spool-line.js'

/** A file beside a segment: the numbers of the records in it that are settled, a batch per line, as ranges. */
export function acknowledgementsOf(segment: string): string {
  return segment.replace(/\.ndjson$/, '.acks')
}

/** Say that records of a segment are settled. Throws what the file system does; then they count as unsettled, and may go out again. */
export function acknowledge(segment: string, numbers: readonly number[]): void {
  const line = summed(`"settled":"${rangesOf(numbers)}"}`)
  // After half a line, which a full disk may have left, this one is found all the same.
  appendFileSync(acknowledgementsOf(segment), `${line}\n`, { mode: 0o600 })
}

/** The records of a segment that are settled. A line that is not whole acknowledges nothing. */
export function* acknowledged(segment: string): Generator<readonly [from: number, to: number]> {
  let bytes: Buffer
  try {
    bytes = readFileSync(acknowledgementsOf(segment))
  } catch {
    return
  }
  const scanner = new LineScanner(restOf)
  for (const { line } of [...scanner.push(bytes), ...scanner.end()]) {
    const text = /^"settled":"([\d,-]+)"\}$/.exec(line)?.[1] ?? ''
    for (const range of text.split(',')) {
      const [from, to = from] = range.split('-').map(Number)
      if (range !== '') yield [from!, to!]
    }
  }
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
