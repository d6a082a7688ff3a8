import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type PinoMapping, pinoMapper } from '../../src/records/from-pino.js'
import { type IsBase, mapPinoLine } from '../../src/records/pino-line.js'
import { runsOf, scalarsOfLines } from '../support/plain-lines.js'

const arrivedAt = 1_700_000_000_000
const head = `{"level":30,"time":${arrivedAt},"pid":1,"hostname":"h"`
const anyone: IsBase = () => true

/** What the parser makes of a line, and what is read without it. */
function both(line: string, { mapping, isBase = anyone }: { mapping: PinoMapping; isBase?: IsBase }) {
  const mapper = pinoMapper(mapping)
  const about = { messageKey: mapping.messageKey, arrivedAt, isBase }
  const parsed = mapPinoLine({ ...mapper, plain: () => undefined }, line, about)
  return { parsed, plain: mapper.plain(line, isBase) }
}

const json = { context: 'json', maxMessageBytes: 32_768, timestampUnit: 'ms' } as const

const keys = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', 'b', 'orderId', 'msg', 'message', 'err', 'error', 'severity', '') },
  fc.constantFrom('level', 'time', 'pid', 'hostname', 'name', 'eventId', '__proto__', 'toJSON', '0', '17', '-1', '01'),
  fc.string({ unit: 'grapheme' }),
  fc.string(),
)
const fields = fc.array(
  fc.tuple(
    fc.oneof(
      keys,
      keys.map((key) => JSON.stringify(key).slice(1, -1)),
    ),
    scalarsOfLines,
  ),
  {
    maxLength: 6,
  },
)
const levels = fc.constantFrom('30', '50', '35', '10', '5', '100', '03', '-3', '"30"', '3.', '1e1')
const times = fc.constantFrom(arrivedAt, 1_700_000_000, '"2023-11-14T22:13:20.123Z"', '0x123456789ab', '1e12         ')
const heads = fc.oneof(
  { weight: 4, arbitrary: fc.constant(head) },
  fc.constantFrom(
    `{"level":30,"time":${arrivedAt}`,
    `${head},"name":"shop"`,
    `{"level":40,"time":${arrivedAt},"pid":7`,
    `{"level":40,"time":${arrivedAt},"name":"shop"`,
    `{"level":60,"time":${arrivedAt},"hostname":"h","pid":1`,
    `{"level":60,"time":${arrivedAt},"pid":01,"hostname":"h"`,
    '{',
  ),
  fc.tuple(levels, times).map(([level, time]) => `{"level":${level},"time":${time},"pid":1,"hostname":"h"`),
)
const ends = fc.oneof({ weight: 8, arbitrary: fc.constant('}') }, fc.constantFrom(',}', '', '} ', '}}', ',"msg":"m"}}'))
const lines = fc
  .tuple(heads, fields, ends)
  .map(([start, all, end]) => start + all.map(([key, value]) => `,"${key}":${value}`).join('') + end)
const mappings: fc.Arbitrary<PinoMapping> = fc.record({
  context: fc.constantFrom('json', 'logfmt', 'none'),
  maxMessageBytes: fc.constantFrom(256, 32_768),
  timestampUnit: fc.constantFrom('ms', 's'),
  messageKey: fc.constantFrom('msg', 'message', 'err', 'eventId', 'name', '7'),
})
const bases = fc.constantFrom<IsBase>(
  anyone,
  () => false,
  (key, value) => key !== 'name' || value === undefined,
  (key) => key !== 'hostname',
)

describe('a plain line of pino', () => {
  it('is read to what the parser makes of it, whatever stands in it, or is left to the parser', {
    timeout: 300_000,
  }, () => {
    fc.assert(
      fc.property(lines, mappings, bases, (line, mapping, isBase) => {
        const { parsed, plain } = both(line, { mapping, isBase })
        if (plain !== undefined) expect(plain).toEqual(parsed)
      }),
      { numRuns: process.env.FULL ? 200_000 : 5000 },
    )
  })

  it('is read to the same whatever came before it', () => {
    fc.assert(
      fc.property(fc.array(heads, { minLength: 1, maxLength: 3 }), runsOf(fields), mappings, (starts, run, mapping) => {
        const mapper = pinoMapper(mapping)
        for (const [number, all] of run.entries()) {
          const start = starts[number % starts.length]
          const line = `${start}${all.map(([key, value]) => `,"${key}":${value}`).join('')}}`
          const plain = mapper.plain(line, anyone)
          if (plain !== undefined) expect(plain).toEqual(both(line, { mapping }).parsed)
        }
      }),
      { numRuns: process.env.FULL ? 200_000 : 2000 },
    )
  })

  it.each([
    `${head},"msg":"hello"}`,
    `${head},"orderId":7,"customer":"c-17","total":99.5,"paid":true,"coupon":null,"debt":-1.25,"msg":"héllo → ok"}`,
    `${head},"msg":"message first","a":1,"b":"two"}`,
    `${head},"a":1,"msg":"in the middle","b":"two"}`,
    `${head},"a":1}`,
    `${head}}`,
    `${head},"name":"shop","msg":"a logger with a name"}`,
    `{"level":35,"time":${arrivedAt},"msg":"a logger without a base","a":""}`,
  ])('need not be parsed: %s', (line) => {
    const { parsed, plain } = both(line, { mapping: json })
    expect(plain).toBeDefined()
    expect(plain).toEqual(parsed)
  })

  it('is told from one of another logger that came before', () => {
    const mapper = pinoMapper(json)
    const named = `${head},"name":"shop","msg":"a"}`
    const other = `{"level":30,"time":${arrivedAt},"pid":2,"hostname":"h","msg":"b"}`
    for (const line of [named, other, `${head},"msg":"c"}`, named, other]) {
      const parsed = mapPinoLine({ ...mapper, plain: () => undefined }, line, { arrivedAt })
      expect(mapPinoLine(mapper, line, { arrivedAt })).toEqual(parsed)
    }
  })
})
