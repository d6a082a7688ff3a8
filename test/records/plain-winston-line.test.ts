import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type WinstonMapping, winstonMapper } from '../../src/records/from-winston.js'
import { plainWinstonReader } from '../../src/records/plain-winston-line.js'
import { mapParsedLine } from '../../src/records/winston-line.js'
import { runsOf, scalarsOfLines } from '../support/plain-lines.js'

const about = { level: 'info', severity: 2, arrivedAt: 1_700_000_000_000 } as const
const json = { context: 'json', maxMessageBytes: 32_768, timestampUnit: 'ms' } as const

/** What the parser makes of a line, and what is read without it. */
function both(line: string, mapping: WinstonMapping) {
  return {
    plain: plainWinstonReader(mapping)(line, about),
    parsed: () => mapParsedLine(winstonMapper(mapping), line, about),
  }
}

const keys = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', 'b', 'orderId', 'level', 'message', 'timestamp', 'err', 'error', '') },
  fc.constantFrom('stack', 'cause', 'errors', 'eventId', '__proto__', 'toJSON', 'constructor', '0', '17', '-1', '01'),
  fc.string({ unit: 'grapheme' }),
)
const times = fc.constantFrom(
  '"2023-11-14T22:13:20.123Z"',
  '1700000000',
  '"14.11.2023"',
  '"soon"',
  '"2023-11-14T22:13:20+02:00"',
)
const fields = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.tuple(keys, scalarsOfLines) },
    fc.tuple(fc.constant('timestamp'), times),
    fc.tuple(
      fc.constant('message'),
      fc.string().map((text) => JSON.stringify(text)),
    ),
    fc.constant(['level', '"info"'] as const),
  ),
  { maxLength: 6 },
)
const ends = fc.oneof(
  { weight: 8, arbitrary: fc.constant('}') },
  fc.constantFrom(',}', '', '} ', '}}', ',"message":"m"}}'),
)
const lines = fc.tuple(fc.constantFrom('{', '{', '{', '', ',', '{,'), fields, ends)
const mappings: fc.Arbitrary<WinstonMapping> = fc.record({
  context: fc.constantFrom('json', 'logfmt', 'none'),
  maxMessageBytes: fc.constantFrom(256, 32_768),
  timestampUnit: fc.constantFrom('ms', 's'),
})

describe('a plain line of winston', () => {
  it('is read to what the parser makes of it, whatever stands in it, or is left to the parser', {
    timeout: 300_000,
  }, () => {
    fc.assert(
      fc.property(lines, mappings, ([start, all, end], mapping) => {
        const line = start + all.map(([key, value]) => `"${key}":${value}`).join(',') + end
        const { plain, parsed } = both(line, mapping)
        if (plain !== undefined) expect(plain).toEqual(parsed())
      }),
      { numRuns: process.env.FULL ? 200_000 : 5000 },
    )
  })

  it('is read to the same whatever came before it', () => {
    fc.assert(
      fc.property(runsOf(fields), mappings, (run, mapping) => {
        const plain = plainWinstonReader(mapping)
        for (const all of run) {
          const line = `{${all.map(([key, value]) => `"${key}":${value}`).join(',')}}`
          const mapped = plain(line, about)
          if (mapped !== undefined) expect(mapped).toEqual(both(line, mapping).parsed())
        }
      }),
      { numRuns: process.env.FULL ? 200_000 : 2000 },
    )
  })

  it.each([
    '{"level":"info","message":"hello"}',
    '{"customer":"c-17","level":"info","message":"order placed","orderId":7,"paid":true,"total":99.5}',
    '{"level":"info","message":"héllo → ok","timestamp":"2023-11-14T22:13:20.123Z"}',
    '{"timestamp":"2023-11-14T22:13:20.123Z","level":"info","a":1,"message":"in any order","b":null}',
    '{"level":"info","a":1}',
    '{"level":"info","error":"a text"}',
  ])('need not be parsed: %s', (line) => {
    const { plain, parsed } = both(line, json)
    expect(plain).toBeDefined()
    expect(plain).toEqual(parsed())
  })
})
