import { Writable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import winston from 'winston'
import { logHead } from '../../src/records/encode.js'
import { WinstonBytes } from '../../src/records/winston-bytes.js'
import type { WinstonMapping } from '../../src/records/winston-info.js'
import { type WinstonLine, winstonLineMapper } from '../../src/records/winston-line.js'
import { runs } from '../support/full.js'
import { runsOf, writtenFields } from '../support/plain-lines.js'
import { cutOf, encoder, linesOf, writtenBody } from '../support/record-bytes.js'
import { winstonFields, winstonLines, winstonMappings } from '../support/winston-lines.js'

const mapping = { context: 'json', maxMessageBytes: 32_768, timestampUnit: 'ms' } as const
const about = { level: 'info', severity: 2, arrivedAt: 1_700_000_000_000 } as const

/** The bodies of lines that are written as bytes; undefined for each line that is left to the slow way. */
function bodies(
  text: string,
  {
    mapping,
    abouts,
    stop = Buffer.byteLength(text),
  }: { mapping: WinstonMapping; abouts: readonly WinstonLine[]; stop?: number },
) {
  const map = winstonLineMapper(mapping)
  const bytes = new WinstonBytes(mapping, encoder.logTail)
  const all = Buffer.from(text)
  return linesOf(all, stop).map(([from, end], number) => {
    const about = abouts[number % abouts.length]!
    const writer = {
      most: (lineBytes: number) => bytes.most(lineBytes),
      write: (lines: Buffer, from: number, end: number, memory: Buffer, at: number) =>
        bytes.write(lines, from, end, memory, at, about),
    }
    const body = writtenBody(writer, all, from, stop)
    if (body !== undefined) {
      const { fields } = map(all.toString('utf8', from, end), about)
      expect(body).toBe(encoder.completeLog(logHead(fields)))
    }
    return body
  })
}

const abouts = fc.array(
  fc.record({
    level: fc.constantFrom('info', 'error', 'söme "level"', '\ud83d', 'x'.repeat(300)),
    severity: fc.constant(2 as const),
    arrivedAt: fc.constantFrom(about.arrivedAt, about.arrivedAt + 1, 7, 1_700_000_000_000.5),
  }),
  { minLength: 1, maxLength: 3 },
)
const mappings = fc
  .tuple(winstonMappings, fc.constantFrom(100, 256, 32_768))
  .map(([mapping, maxMessageBytes]) => ({ ...mapping, maxMessageBytes }))
const colours = fc.constantFrom('', '\\u001b[31m', '\\u001b[39m')

describe('a line of winston as bytes', () => {
  it('gives the result of the string or is left to it, whatever it contains', { timeout: 300_000 }, () => {
    fc.assert(
      fc.property(winstonLines, mappings, abouts, ([start, fields, end], mapping, abouts) => {
        bodies(start + fields.map(([key, value]) => `"${key}":${value}`).join(',') + end, { mapping, abouts })
      }),
      { numRuns: runs({ some: 500, all: 50_000 }) },
    )
  })

  it('does so for all that JSON.stringify writes, and for any part of it', { timeout: 300_000 }, () => {
    const parts = fc.tuple(colours, colours, writtenFields, fc.option(fc.nat(300)))
    fc.assert(
      fc.property(parts, mappings, abouts, ([level, message, fields, cutAt], mapping, abouts) => {
        const line = `{"level":"${level}info","message":"${message}a \\"line\\"\\n"${fields === '' ? '' : `,${fields}`}}`
        bodies(line, { mapping, abouts, stop: cutOf(line, cutAt) })
      }),
      { numRuns: runs({ some: 500, all: 50_000 }) },
    )
  })

  it('does so whatever line came before it', { timeout: 300_000 }, () => {
    fc.assert(
      fc.property(runsOf(winstonFields), mappings, abouts, (run, mapping, abouts) => {
        const lines = run.map((fields) => `{${fields.map(([key, value]) => `"${key}":${value}`).join(',')}}`)
        bodies(lines.join('\n'), { mapping, abouts })
      }),
      { numRuns: runs({ some: 500, all: 50_000 }) },
    )
  })

  it('is written as bytes when winston has written it', () => {
    const lines: string[] = []
    const stream = new Writable({ decodeStrings: false, write: (line, _, next) => next(void lines.push(line)) })
    const { combine, timestamp, json } = winston.format
    for (const format of [json(), combine(timestamp(), json())]) {
      const logger = winston.createLogger({
        format,
        transports: [new winston.transports.Stream({ stream, eol: '' })],
      })
      logger.info('hello')
      logger.warn('order "placed"\nnow', { orderId: 7, total: 99.5, paid: true, coupon: null, path: 'C:\\temp' })
      logger.child({ component: 'checkout' }).error('héllo → 😀', { eventId: 1001, err: 'a text' })
    }
    expect(lines).toHaveLength(6)
    const written = bodies(lines.join('\n'), { mapping, abouts: [about] })
    expect(written.filter((body) => body === undefined)).toEqual([])
  })

  it('is left to the string when it is coloured, or has a stack', () => {
    const lines = [
      '{"level":"\\u001b[32minfo\\u001b[39m","message":"m"}',
      '{"level":"info","message":"\\u001b[32mm\\u001b[39m"}',
      '{"level":"error","message":"m","stack":"Error: m"}',
      '{"level":"info","message":"m","timestamp":"14.11.2023"}',
    ]
    expect(bodies(lines.join('\n'), { mapping, abouts: [about] })).toEqual(lines.map(() => undefined))
  })
})
