import { hostname } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { learnedBase } from '../../src/loggers/pino-logger.js'
import { mapPinoLine, pinoMapper } from '../../src/records/pino-line.js'
import { winstonLineMapper } from '../../src/records/winston-line.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const mapping = { context: 'json', maxMessageBytes: 32_768, timestampUnit: 'ms' } as const
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
  it('does not hold on to the text that lines of pino came in', () => {
    const { parsed, plain } = pinoMapper(mapping)
    const isBase = learnedBase()
    const base = `"pid":${process.pid},"hostname":"${hostname()}","name":"a-shop-with-a-long-name"`
    const lines = growing.map((fields, number) => `{"level":30,"time":${1e12 + number},${base}${fields},"msg":"m"}`)
    const map = (line: string) => mapPinoLine({ parsed, plain }, line, { arrivedAt: 0, isBase })
    expect(plain(lines.at(-1)!, isBase)).toBeDefined()
    expect(heldAfter(lines, map)).toBeLessThan(8)
  })

  it('does not hold on to the text that names of loggers came in', () => {
    const bases = Array.from({ length: 10 }, learnedBase)
    const lines = bases.map((_, number) => `name-of-logger-${number}`)
    expect(heldAfter(lines, (line) => bases[Number(line.slice(15))]!('name', line))).toBeLessThan(8)
  })

  it('does not hold on to the text that lines of winston came in', () => {
    const map = winstonLineMapper(mapping)
    const about = { level: 'info', severity: 2, arrivedAt: 0 } as const
    const lines = growing.map((fields) => `{"level":"info"${fields},"message":"m"}`)
    expect(heldAfter(lines, (line) => map(line, about))).toBeLessThan(8)
  })
})
