import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fieldsMapper, lineMapper } from '../../src/records/line.js'
import type { LineMapping } from '../../src/records/line-style.js'
import { plainLineReader } from '../../src/records/plain-line.js'
import { runs } from '../support/full.js'
import { pinoHead, pinoLines, pinoMappings } from '../support/pino-lines.js'
import { winstonLines, winstonMappings } from '../support/winston-lines.js'

const options = { context: 'json', maxMessageBytes: 32_768, timestampUnit: 'ms' } as const
const arrivedAt = 1_700_000_000_000
const time = 1_700_000_000_123
const isOwn = (key: string, value: unknown) => value === (key === 'pid' ? 1 : 'h')
const base = `"time":${time},"pid":1,"hostname":"h"`
const labels = { 10: 'trace', 20: 'debug', 30: 'info', 35: 'NOTICE', 40: 'warn', 50: 'error', 60: 'fatal' }
const pino: LineMapping = { ...options, labels, isOwn }
const winston: LineMapping = { ...options, logger: 'winston', level: 'info' }

const recordOf = (line: string, mapping: LineMapping, errors?: object) =>
  lineMapper(mapping)(line, { arrivedAt, errors: errors && JSON.stringify(errors) }).fields

/** The fields of a record of level info at the time of most lines, but for what is said. */
const record = (message: string, others: object = {}) => ({ timeStamp: time, level: 'info', message, ...others })
const now = { timeStamp: arrivedAt }

/** Lines of pino and their records. */
const ofPino: Record<string, [line: string, record: object][]> = {
  level: [
    [`{"level":30,${base},"msg":"hello"}`, record('hello')],
    [`{"level":10,${base},"msg":"m"}`, record('m', { level: 'trace' })],
    [`{"level":60,${base},"msg":"m"}`, record('m', { level: 'fatal' })],
    [`{"level":35,${base},"msg":"custom level"}`, record('custom level', { level: 'notice' })],
    [`{"level":47,${base},"msg":"no name"}`, record('no name', { level: 'warn' })],
    [`{"level":5,${base},"msg":"below all"}`, record('below all', { level: 'trace' })],
    [`{"level":"WARN",${base},"msg":"as text"}`, record('as text', { level: 'warn' })],
    [
      `{"level":"gold",${base},"msg":"a name that nobody knows"}`,
      record('a name that nobody knows', { level: 'gold' }),
    ],
    [
      `{"level":50,${base},"level":"high","msg":"a field called level"}`,
      record('a field called level {"level":"high"}', { level: 'error' }),
    ],
    ['{"msg":"not of pino","level":"warn"}', record('not of pino', { ...now, level: 'warn' })],
    [`{"level":30,"levelName":"info",${base},"msg":"a second field"}`, record('a second field {"levelName":"info"}')],
  ],
  'level under another name': [
    [`{"severity":"ERROR",${base},"msg":"m"}`, record('m', { level: 'error' })],
    [`{${base},"severity":"ERROR","msg":"behind the base"}`, record('behind the base', { level: 'error' })],
    [`{"time":${time},"lvl":40,"msg":"m"}`, record('m', { level: 'warn' })],
    [`{"status":"error","time":${time},"msg":"m"}`, record('m', { level: 'error' })],
    [`{"status":500,"time":${time},"msg":"of HTTP"}`, record('of HTTP {"status":500}')],
    [`{"level":40,${base},"status":"error","msg":"a field"}`, record('a field {"status":"error"}', { level: 'warn' })],
    [
      `{"log.level":"warn","@timestamp":"2023-11-14T22:13:20.123Z","process.pid":1,"ecs.version":"8.10.0","message":"ECS"}`,
      record('{"process.pid":1,"ecs.version":"8.10.0","message":"ECS"}', { level: 'warn' }),
    ],
    [`{"log":{"level":"error"},"time":${time},"msg":"m"}`, record('m', { level: 'error' })],
    [
      `{"log":{"level":"error","logger":"db"},"time":${time},"msg":"m"}`,
      record('m {"log":{"logger":"db"}}', { level: 'error' }),
    ],
    [`{"log":{"level":"high"},${base},"msg":"a field"}`, record('a field {"log":{"level":"high"}}')],
    [`{"priority":35,${base},"msg":"unheard of"}`, record('unheard of', { level: 'notice' })],
    [`{"importance":"fatal","time":${time},"msg":"unheard of"}`, record('unheard of', { level: 'fatal' })],
    [
      `{"priority":"error",${base},"status":"info","msg":"unheard of"}`,
      record('unheard of {"status":"info"}', { level: 'error' }),
    ],
    ['{"state":"error","msg":"of another program"}', record('of another program {"state":"error"}', now)],
    [
      `{"severity":"INFO",${base},"level":"error","msg":"a field called level"}`,
      record('a field called level {"level":"error"}'),
    ],
  ],
  time: [
    ['{"level":30,"time":"2023-11-14T22:13:20.123Z","msg":"isoTime"}', record('isoTime')],
    ['{"level":30,"time":1700000000,"msg":"unixTime"}', record('unixTime', now)],
    ['{"level":30,"timestamp":"2023-11-14T22:13:20.123Z","msg":"renamed"}', record('renamed')],
    ['{"level":30,"msg":"none"}', record('none', now)],
    [
      '{"level":30,"time":"9999-12-31T23:59:59Z","msg":"a number that would count as microseconds"}',
      record('a number that would count as microseconds {"time":"9999-12-31T23:59:59Z"}', now),
    ],
    ['{"level":30,"time":"noon","msg":"unreadable"}', record('unreadable {"time":"noon"}', now)],
    [
      `{"level":30,${base},"time":"yesterday","msg":"a field called time"}`,
      record('a field called time {"time":"yesterday"}'),
    ],
    [`{"level":30,${base},"timestamp":1,"msg":"a field"}`, record('a field {"timestamp":1}')],
    ['{"level":30,"pid":1,"hostname":"h","time":12,"msg":"a field"}', record('a field {"time":12}', now)],
    [`{"level":30,${base},"event":{"time":12},"msg":"a nested one"}`, record('a nested one {"event":{"time":12}}')],
  ],
  fields: [
    [`{"level":30,${base},"msg":"m","orderId":7,"user":{"id":"u"}}`, record('m {"orderId":7,"user":{"id":"u"}}')],
    [`{"level":30,${base},"orderId":7}`, record('{"orderId":7}')],
    [`{"level":30,${base},"name":"shop","msg":"the logger"}`, record('the logger {"name":"shop"}')],
    [
      `{"level":30,${base},"name":"shop","name":"Ann","pid":7,"hostname":"db","msg":"called as the base"}`,
      record('called as the base {"pid":7,"hostname":"db","name":"Ann"}'),
    ],
    [`{"level":30,${base},"eventId":1001,"msg":"an event"}`, record('an event', { eventId: 1001 })],
    [`{"level":30,${base},"eventId":"x1","msg":"not a number"}`, record('not a number {"eventId":"x1"}')],
    [`{"level":30,${base},"eventId":1.5,"msg":"a fraction"}`, record('a fraction {"eventId":1.5}')],
    [`{"level":30,${base},"msg":{"a":1}}`, record('{"a":1}')],
    ['not JSON at all', record('not JSON at all', now)],
    ['"a text"', record('a text', now)],
    ['', record('', now)],
  ],
  errors: [
    [
      `{"level":50,${base},"err":{"type":"Error","message":"boom","stack":"Error: boom\\n    at x","code":"E1"},"msg":"failed"}`,
      record('failed {"err":{"code":"E1"}}\nError: boom\n    at x', { level: 'error' }),
    ],
    [
      `{"level":50,${base},"err":{"type":"Error","message":"boom","stack":"Error: boom\\n    at x"}}`,
      record('boom\nError: boom\n    at x', { level: 'error' }),
    ],
    [
      `{"level":50,${base},"error":{"type":"Error","message":"boom","stack":"Error: boom\\n    at x"},"msg":"failed"}`,
      record('failed\nError: boom\n    at x', { level: 'error' }),
    ],
    [
      `{"level":50,${base},"err":{"type":"Error","message":"a","stack":"Error: a","cause":{"type":"E","message":"b","stack":"E: b","code":7}},"msg":"m"}`,
      record('m\nError: a\ncaused by: E: b\n    {"code":7}', { level: 'error' }),
    ],
    [
      `{"level":50,${base},"err":{"type":"AggregateError","message":"a","stack":"A: a","aggregateErrors":[{"type":"E","message":"b","stack":"E: b"}]},"msg":"m"}`,
      record('m\nA: a\nerror 1 of 1: E: b', { level: 'error' }),
    ],
    [`{"level":50,${base},"err":"a text","msg":"m"}`, record('m {"err":"a text"}', { level: 'error' })],
  ],
}

describe.each(Object.entries(ofPino))('of a line of pino, %s', (_, rows) => {
  it.each(rows)('%s', (line, expected) => {
    expect(recordOf(line, pino)).toEqual(expected)
  })
})

const boom = { type: 'Error', message: 'boom', stack: 'Error: boom\n    at x' }

/** Lines of winston, what is told beside them, and their messages. */
const ofWinston: [line: string, message: string, errors?: object][] = [
  ['{"level":"info","message":"order placed","id":7}', 'order placed {"id":7}'],
  ['{\n  "level": "info",\n  "message": "order placed"\n}', 'order placed'],
  ['{"@message":"order placed","@fields":{"id":7}}', 'order placed {"@fields":{"id":7}}'],
  ['{"level":"info","id":7}', '{"id":7}'],
  ['a text', 'a text'],
  ['{"level":"\\u001b[32minfo\\u001b[39m","message":"\\torder"}', 'order'],
  ['{"level":"info","message":"paid","timestamp":"14.11.2023, 22:13"}', 'paid'],
  ['{"level":"info","message":"paid","timestamp":"tomorrow"}', 'paid {"timestamp":"tomorrow"}'],
  ['{"message":"failed","stack":"Error: boom\\n    at x","code":1}', 'failed {"code":1}\nError: boom\n    at x'],
  ['{"message":"failed","stack":["Error: boom\\n    at x",null]}', 'failed\nError: boom\n    at x'],
  ['{"message":"failed","stack":[null]}', 'failed'],
  ['{"message":"failed","stack":["node","postgresql"]}', 'failed {"stack":["node","postgresql"]}'],
  ['{"level":"error"}', 'boom\nError: boom\n    at x', { '': boom }],
  ['{"message":"m","err":{"code":1}}', 'm {"err":{"code":1}}\nError: boom\n    at x', { err: boom }],
  ['{"message":"m","err":"a text of a replacer"}', 'm {"err":"a text of a replacer"}', { err: boom }],
  ['{"message":"m"}', 'm', { err: boom }],
  ['{"message":{}}', 'boom\nError: boom\n    at x', { message: boom }],
  [
    '{"message":"m","stack":"E: m\\n    at y","cause":{}}',
    'm\nE: m\n    at y\ncaused by: Error: boom\n    at x',
    { cause: boom },
  ],
  [
    '{"message":"m","reason":{}}',
    'm {"reason":{"type":"Error","message":"boom","stack":"Error: boom\\n    at x"}}',
    { reason: boom },
  ],
  [
    '{"message":"m","error":{},"stack":"Error: boom\\n    at x"}',
    'm\nError: boom\n    at x\ncaused by: Error: boom\n    at x',
    { error: { ...boom, cause: boom } },
  ],
]

describe('of a line of winston, the message', () => {
  it.each(ofWinston)('of %s is %s', (line, message, errors) => {
    expect(recordOf(line, winston, errors)).toEqual({ timeStamp: arrivedAt, level: 'info', message })
  })
})

describe('a line', () => {
  it('of winston has its time, and the level that winston tells beside it', () => {
    const line = '{"level":"shown","message":"m","timestamp":"2023-11-14T22:13:20.123Z"}'
    expect(recordOf(line, { ...winston, level: 'warn' })).toEqual(record('m', { level: 'warn' }))
  })

  it('has its message and its error under the names that the logger gives them', () => {
    const odd = { ...pino, messageKey: 'message', errorKey: 'problem' }
    const line = `{"level":50,${base},"problem":{"type":"E","message":"b","stack":"E: b"},"msg":"a field","message":"text"}`
    expect(recordOf(line, odd).message).toBe('text {"msg":"a field"}\nE: b')
  })

  it('has its fields as logfmt, or not at all', () => {
    const line = `{"level":30,${base},"a":1,"b":"two words","c":{"d":1},"e":"","f":null,"g h":"plain","msg":"text"}`
    expect(recordOf(line, { ...pino, context: 'logfmt' }).message).toBe(
      'text a=1 b="two words" c="{\\"d\\":1}" e="" f=null g_h=plain',
    )
    expect(recordOf(line, { ...pino, context: 'none' }).message).toBe('text')
  })

  it('is mapped though it is ten thousand levels deep', () => {
    const deep = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
    expect(recordOf(`{"level":30,${base},"deep":${deep},"msg":"text"}`, pino).message).toMatch(/^text \{"deep":/)
  })

  it('has no half of a character', () => {
    expect(recordOf(`{"level":30,${base},"msg":"half \\ud83d"}`, pino).message).toBe('half \ufffd')
  })

  it('is cut at a character when it is too long, with a mark that says how much is missing', () => {
    const short = { ...pino, context: 'none', maxMessageBytes: 256, timestampUnit: 's' } as const
    const { message, timeStamp } = recordOf(`{"level":30,"time":${time},"msg":"${'😀'.repeat(100)}"}`, short)
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(256)
    const [, kept, cut] = /^(😀+)… \[(\d+) bytes cut\]$/u.exec(message)!
    expect(Buffer.byteLength(kept!) + Number(cut)).toBe(400)
    expect(timeStamp).toBe(1_700_000_000)
  })

  it('of a custom level that is written by its name has the severity of its number', () => {
    const levels = { ...pino, labels: { 30: 'info', 55: 'gold' } }
    const { fields, severity } = lineMapper(levels)(`{"level":"gold",${base},"msg":"m"}`, { arrivedAt })
    expect([fields.level, severity]).toEqual(['gold', 4])
  })
})

/** The record of a line by the parser, and the one without it. */
function both(line: string, mapping: LineMapping) {
  const about = { arrivedAt, below: ({ severity }: { severity: number }) => severity < 3 }
  const parsed = () => {
    const value: unknown = JSON.parse(line)
    return fieldsMapper(mapping)(value as Record<string, unknown>, about, line)
  }
  return { parsed, plain: plainLineReader(mapping)(line, about) }
}

describe('a plain line', () => {
  it.each([
    ['pino', pinoLines, pinoMappings],
    ['winston', winstonLines, winstonMappings],
  ] as const)('of %s gives the record of the parser, whatever it contains', (_, lines, mappings) => {
    let plainLines = 0
    fc.assert(
      fc.property(lines, mappings, (line, mapping) => {
        const { parsed, plain } = both(line, mapping)
        if (plain === undefined) return
        plainLines++
        expect(plain).toEqual(parsed())
      }),
      { numRuns: runs({ some: 1500, all: 50_000 }) },
    )
    expect(plainLines).toBeGreaterThan(10)
  })

  it.each([
    `${pinoHead},"msg":"hello"}`,
    `${pinoHead},"orderId":7,"customer":"c-17","total":99.5,"paid":true,"coupon":null,"debt":-1.25,"msg":"héllo → ok"}`,
    `${pinoHead},"msg":"message first","a":1,"b":"two"}`,
    `${pinoHead},"a":1,"msg":"in the middle","b":"two"}`,
    `${pinoHead},"a":1}`,
    `${pinoHead}}`,
    `${pinoHead},"name":"shop","status":"error","timestamp":1,"msg":"m"}`,
    `{"level":35,"time":${arrivedAt},"msg":"a logger without a base","a":""}`,
  ])('of pino need not be parsed: %s', (line) => {
    const { parsed, plain } = both(line, pino)
    expect(plain).toBeDefined()
    expect(plain).toEqual(parsed())
  })

  it.each([
    '{"level":"info","message":"hello"}',
    '{"customer":"c-17","level":"info","message":"order placed","orderId":7,"paid":true,"total":99.5}',
    '{"level":"info","message":"héllo → ok","timestamp":"2023-11-14T22:13:20.123Z"}',
    '{"timestamp":"2023-11-14T22:13:20.123Z","level":"info","a":1,"message":"in any order","b":null}',
    '{"message":"m","level":"info","error":"a text"}',
  ])('of winston need not be parsed: %s', (line) => {
    const { parsed, plain } = both(line, winston)
    expect(plain).toBeDefined()
    expect(plain).toEqual(parsed())
  })
})
