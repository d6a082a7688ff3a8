import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { lineMapper } from '../../src/records/line.js'
import type { LineMapping } from '../../src/records/line-style.js'
import { plainLineReader } from '../../src/records/plain-line.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const mapping = { context: 'json', maxMessageBytes: 32_768, timestampUnit: 'ms' } as const
const about = { arrivedAt: 0 }
const mebibyte = 1_048_576

/** A line that is cut out of a long piece of text, as readers of streams do. */
function lineOfPiece(line: string): string {
  const piece = Buffer.from(`${line}\n${'y'.repeat(mebibyte)}`).toString()
  return piece.slice(0, piece.indexOf('\n'))
}

/** The memory in MiB that is held after these lines are mapped. */
function heldAfter(lines: readonly string[], map: (line: string) => unknown): number {
  const held = () => {
    collectGarbage()
    collectGarbage()
    const { heapUsed, external } = process.memoryUsage()
    return (heapUsed + external) / mebibyte
  }
  const before = held()
  for (const line of lines) map(lineOfPiece(line))
  const after = held() - before
  // With this, `map` and all that it holds is still in use.
  map(lines[0]!)
  return after
}

/** The fields of lines, each with one field more than the one before, twice. */
const growing = Array.from({ length: 24 }, (_, count) => {
  const fields = Array.from({ length: count }, (_, index) => `,"aFieldWithALongName${index}":${index}`)
  return Array<string>(2).fill(fields.join(''))
}).flat()

describe('the memory that mapped lines hold', () => {
  it.each<[string, LineMapping, (fields: string, number: number) => string]>([
    [
      'pino',
      mapping,
      (fields, number) =>
        `{"level":30,"time":${1e12 + number},"pid":${number},"hostname":"a-host-with-a-long-name-${number}"${fields},"msg":"m"}`,
    ],
    [
      'winston',
      { ...mapping, logger: 'winston', level: 'info' },
      (fields) => `{"level":"info"${fields},"message":"m"}`,
    ],
  ])('does not hold on to the text that lines of %s came in', (_, style, lineOf) => {
    const lines = growing.map(lineOf)
    const map = lineMapper(style)
    expect(plainLineReader(style)(lines.at(-1)!, about)).toBeDefined()
    expect(heldAfter(lines, (line) => map(line, about))).toBeLessThan(8)
  })
})
