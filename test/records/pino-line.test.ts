import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type IsBase, mapPinoLine, type PinoMapping, pinoMapper } from '../../src/records/pino-line.js'
import { runs } from '../support/full.js'
import { bases, pinoFields, pinoHead, pinoHeads, pinoLines, pinoMappings } from '../support/pino-lines.js'
import { runsOf } from '../support/plain-lines.js'

const mapping = { context: 'json', maxMessageBytes: 32_768, timestampUnit: 'ms' } as const
const labels = { 10: 'trace', 20: 'debug', 30: 'info', 35: 'NOTICE', 40: 'warn', 50: 'error', 60: 'fatal' }
const map = pinoMapper({ ...mapping, labels })
const arrivedAt = 1_700_000_000_000
const time = 1_700_000_000_123
const fieldsOf = (line: string, mapper = map) => mapPinoLine(mapper, line, { arrivedAt }).fields
const base = `"time":${time},"pid":1,"hostname":"h"`

/** Lines of pino and their records. */
const golden: Record<string, [line: string, record: object][]> = {
  level: [
    [`{"level":30,${base},"msg":"hello"}`, { timeStamp: time, level: 'info', message: 'hello' }],
    [`{"level":10,${base},"msg":"m"}`, { timeStamp: time, level: 'trace', message: 'm' }],
    [`{"level":20,${base},"msg":"m"}`, { timeStamp: time, level: 'debug', message: 'm' }],
    [`{"level":60,${base},"msg":"m"}`, { timeStamp: time, level: 'fatal', message: 'm' }],
    [`{"level":35,${base},"msg":"custom level"}`, { timeStamp: time, level: 'notice', message: 'custom level' }],
    [`{"level":47,${base},"msg":"no name"}`, { timeStamp: time, level: 'warn', message: 'no name' }],
    [`{"level":5,${base},"msg":"below all"}`, { timeStamp: time, level: 'trace', message: 'below all' }],
    [`{"level":"WARN",${base},"msg":"as text"}`, { timeStamp: time, level: 'warn', message: 'as text' }],
    [`{"severity":"ERROR",${base},"msg":"renamed"}`, { timeStamp: time, level: 'error', message: 'renamed' }],
    [
      `{"level":50,${base},"level":"high","msg":"a field called level"}`,
      { timeStamp: time, level: 'error', message: 'a field called level {"level":"high"}' },
    ],
    ['{"msg":"not of pino","level":"warn"}', { timeStamp: arrivedAt, level: 'warn', message: 'not of pino' }],
  ],
  time: [
    [
      '{"level":30,"time":"2023-11-14T22:13:20.123Z","msg":"isoTime"}',
      { timeStamp: time, level: 'info', message: 'isoTime' },
    ],
    [
      '{"level":30,"time":1700000000,"msg":"unixTime"}',
      { timeStamp: 1_700_000_000_000, level: 'info', message: 'unixTime' },
    ],
    ['{"level":30,"msg":"none"}', { timeStamp: arrivedAt, level: 'info', message: 'none' }],
    ['{"level":30,"time":"noon","msg":"unreadable"}', { timeStamp: arrivedAt, level: 'info', message: 'unreadable' }],
    ['{"level":30,"time":1e999,"msg":"endless"}', { timeStamp: arrivedAt, level: 'info', message: 'endless' }],
    [
      `{"level":30,${base},"time":"yesterday","msg":"a field called time"}`,
      { timeStamp: time, level: 'info', message: 'a field called time {"time":"yesterday"}' },
    ],
    [
      '{"level":30,"pid":1,"hostname":"h","time":12,"msg":"timestamp: false, and a field called time"}',
      { timeStamp: arrivedAt, level: 'info', message: 'timestamp: false, and a field called time {"time":12}' },
    ],
    [
      `{"level":30,${base},"event":{"time":12},"msg":"a nested one"}`,
      { timeStamp: time, level: 'info', message: 'a nested one {"event":{"time":12}}' },
    ],
  ],
  context: [
    [
      `{"level":30,${base},"msg":"fields","orderId":7,"user":{"id":"u"}}`,
      { timeStamp: time, level: 'info', message: 'fields {"orderId":7,"user":{"id":"u"}}' },
    ],
    [`{"level":30,${base},"orderId":7}`, { timeStamp: time, level: 'info', message: '{"orderId":7}' }],
    [`{"level":30,${base},"name":"shop","msg":"base"}`, { timeStamp: time, level: 'info', message: 'base' }],
    [
      `{"level":30,${base},"name":"shop","name":"Ann","pid":7,"hostname":"db","msg":"fields called as the base"}`,
      {
        timeStamp: time,
        level: 'info',
        message: 'fields called as the base {"pid":7,"hostname":"db","name":"Ann"}',
      },
    ],
    [
      `{"level":30,"time":${time},"name":"Ann","msg":"a logger without a base"}`,
      { timeStamp: time, level: 'info', message: 'a logger without a base {"name":"Ann"}' },
    ],
    [
      `{"level":30,${base},"requestId":"r1","msg":"bindings of a child"}`,
      { timeStamp: time, level: 'info', message: 'bindings of a child {"requestId":"r1"}' },
    ],
    [
      `{"level":30,${base},"eventId":1001,"msg":"an event"}`,
      { timeStamp: time, level: 'info', message: 'an event', eventId: 1001 },
    ],
    [
      `{"level":30,${base},"eventId":"x1","msg":"not a number"}`,
      { timeStamp: time, level: 'info', message: 'not a number {"eventId":"x1"}' },
    ],
    [
      `{"level":30,${base},"eventId":1.5,"msg":"a fraction"}`,
      { timeStamp: time, level: 'info', message: 'a fraction {"eventId":1.5}' },
    ],
    [`{"level":30,${base},"msg":{"a":1}}`, { timeStamp: time, level: 'info', message: '{"a":1}' }],
    [
      `{"level":30,${base},"password":"[Redacted]","msg":"redacted"}`,
      { timeStamp: time, level: 'info', message: 'redacted {"password":"[Redacted]"}' },
    ],
    ['not JSON at all', { timeStamp: arrivedAt, level: 'info', message: 'not JSON at all' }],
    ['', { timeStamp: arrivedAt, level: 'info', message: '' }],
  ],
  errors: [
    [
      `{"level":50,${base},"err":{"type":"Error","message":"boom","stack":"Error: boom\\n    at x","code":"E1"},"msg":"failed"}`,
      { timeStamp: time, level: 'error', message: 'failed {"err":{"code":"E1"}}\nError: boom\n    at x' },
    ],
    [
      `{"level":50,${base},"err":{"type":"Error","message":"boom","stack":"Error: boom\\n    at x"}}`,
      { timeStamp: time, level: 'error', message: 'boom\nError: boom\n    at x' },
    ],
    [
      `{"level":50,${base},"error":{"type":"Error","message":"boom","stack":"Error: boom\\n    at x"},"msg":"failed"}`,
      { timeStamp: time, level: 'error', message: 'failed\nError: boom\n    at x' },
    ],
    [
      `{"level":50,${base},"err":{"type":"Error","message":"a","stack":"Error: a","cause":{"type":"E","message":"b","stack":"E: b","code":7}},"msg":"m"}`,
      { timeStamp: time, level: 'error', message: 'm\nError: a\ncaused by: E: b\n    {"code":7}' },
    ],
    [
      `{"level":50,${base},"err":{"type":"AggregateError","message":"a","stack":"A: a","aggregateErrors":[{"type":"E","message":"b","stack":"E: b"}]},"msg":"m"}`,
      { timeStamp: time, level: 'error', message: 'm\nA: a\nerror 1 of 1: E: b' },
    ],
    [
      `{"level":50,${base},"err":"a text","msg":"m"}`,
      { timeStamp: time, level: 'error', message: 'm {"err":"a text"}' },
    ],
  ],
}

describe.each(Object.entries(golden))('of a line of pino, %s', (_, rows) => {
  it.each(rows)('%s', (line, record) => {
    expect(fieldsOf(line)).toEqual(record)
  })
})

describe('a line of pino', () => {
  it('has its message and its error under the names that the logger gives them', () => {
    const odd = pinoMapper({ ...mapping, messageKey: 'message', errorKey: 'problem' })
    const line = `{"level":50,${base},"problem":{"type":"E","message":"b","stack":"E: b"},"msg":"a field","message":"text"}`
    expect(fieldsOf(line, odd).message).toBe('text {"msg":"a field"}\nE: b')
  })

  it('has its fields as logfmt, or not at all', () => {
    const line = `{"level":30,${base},"a":1,"b":"two words","c":{"d":1},"e":"","f":null,"g h":"plain","msg":"text"}`
    expect(fieldsOf(line, pinoMapper({ ...mapping, context: 'logfmt' })).message).toBe(
      'text a=1 b="two words" c="{\\"d\\":1}" e="" f=null g_h=plain',
    )
    expect(fieldsOf(line, pinoMapper({ ...mapping, context: 'none' })).message).toBe('text')
  })

  it('is mapped though it is ten thousand levels deep', () => {
    const deep = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
    expect(fieldsOf(`{"level":30,${base},"deep":${deep},"msg":"text"}`).message).toMatch(/^text \{"deep":/)
  })

  it('has no half of a character', () => {
    expect(fieldsOf(`{"level":30,${base},"msg":"half \\ud83d"}`).message).toBe('half \ufffd')
  })

  it('is cut at a character when it is too long, with a mark that says how much is missing', () => {
    const short = pinoMapper({ context: 'none', maxMessageBytes: 256, timestampUnit: 's' })
    const { message, timeStamp } = fieldsOf(`{"level":30,"time":${time},"msg":"${'😀'.repeat(100)}"}`, short)
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(256)
    const [, kept, cut] = /^(😀+)… \[(\d+) bytes cut\]$/u.exec(message)!
    expect(Buffer.byteLength(kept!) + Number(cut)).toBe(400)
    expect(timeStamp).toBe(1_700_000_000)
  })
})

const anyone: IsBase = () => true

/** The result of the parser for a line, and the result without it. */
function both(line: string, { mapping, isBase = anyone }: { mapping: PinoMapping; isBase?: IsBase }) {
  const mapper = pinoMapper(mapping)
  const about = { messageKey: mapping.messageKey, arrivedAt, isBase }
  const parsed = mapPinoLine({ ...mapper, plain: () => undefined }, line, about)
  return { parsed, plain: mapper.plain(line, isBase) }
}

describe('a plain line of pino', () => {
  it('gives the result of the parser or is left to the parser, whatever it contains', {
    timeout: 300_000,
  }, () => {
    fc.assert(
      fc.property(pinoLines, pinoMappings, bases, (line, mapping, isBase) => {
        const { parsed, plain } = both(line, { mapping, isBase })
        if (plain !== undefined) expect(plain).toEqual(parsed)
      }),
      { numRuns: runs({ some: 800, all: 50_000 }) },
    )
  })

  it('gives the same result whatever line came before it', () => {
    fc.assert(
      fc.property(
        fc.array(pinoHeads, { minLength: 1, maxLength: 3 }),
        runsOf(pinoFields),
        pinoMappings,
        (starts, run, mapping) => {
          const mapper = pinoMapper(mapping)
          for (const [number, all] of run.entries()) {
            const start = starts[number % starts.length]
            const line = `${start}${all.map(([key, value]) => `,"${key}":${value}`).join('')}}`
            const plain = mapper.plain(line, anyone)
            if (plain !== undefined) expect(plain).toEqual(both(line, { mapping }).parsed)
          }
        },
      ),
      { numRuns: runs({ some: 400, all: 50_000 }) },
    )
  })

  it.each([
    `${pinoHead},"msg":"hello"}`,
    `${pinoHead},"orderId":7,"customer":"c-17","total":99.5,"paid":true,"coupon":null,"debt":-1.25,"msg":"héllo → ok"}`,
    `${pinoHead},"msg":"message first","a":1,"b":"two"}`,
    `${pinoHead},"a":1,"msg":"in the middle","b":"two"}`,
    `${pinoHead},"a":1}`,
    `${pinoHead}}`,
    `${pinoHead},"name":"shop","msg":"a logger with a name"}`,
    `{"level":35,"time":${arrivedAt},"msg":"a logger without a base","a":""}`,
  ])('need not be parsed: %s', (line) => {
    const { parsed, plain } = both(line, { mapping })
    expect(plain).toBeDefined()
    expect(plain).toEqual(parsed)
  })

  it('is not confused with a line of another logger before it', () => {
    const mapper = pinoMapper(mapping)
    const named = `${pinoHead},"name":"shop","msg":"a"}`
    const other = `{"level":30,"time":${arrivedAt},"pid":2,"hostname":"h","msg":"b"}`
    for (const line of [named, other, `${pinoHead},"msg":"c"}`, named, other]) {
      const parsed = mapPinoLine({ ...mapper, plain: () => undefined }, line, { arrivedAt })
      expect(mapPinoLine(mapper, line, { arrivedAt })).toEqual(parsed)
    }
  })
})
