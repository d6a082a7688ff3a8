import { describe, expect, it } from 'vitest'
import { pinoMapper } from '../../src/records/from-pino.js'

const map = pinoMapper({
  labels: { 10: 'trace', 20: 'debug', 30: 'info', 35: 'NOTICE', 40: 'warn', 50: 'error', 60: 'fatal' },
  context: 'json',
  maxMessageBytes: 32_768,
  timestampUnit: 'ms',
})
const arrival = 1_700_000_000_000
const fieldsOf = (line: string) => map(JSON.parse(line), { arrivedAt: arrival }).fields

/** Lines of pino and the records that they become. */
const golden: [line: string, record: object][] = [
  [
    '{"level":30,"time":1700000000123,"pid":1,"hostname":"h","msg":"hello"}',
    { timeStamp: 1_700_000_000_123, level: 'info', message: 'hello' },
  ],
  [
    '{"level":35,"time":1700000000123,"msg":"custom level"}',
    { timeStamp: 1_700_000_000_123, level: 'notice', message: 'custom level' },
  ],
  [
    '{"level":47,"time":1700000000123,"msg":"number without a name"}',
    { timeStamp: 1_700_000_000_123, level: 'warn', message: 'number without a name' },
  ],
  [
    '{"level":"WARN","time":"2023-11-14T22:13:20.123Z","msg":"level and time as text"}',
    { timeStamp: 1_700_000_000_123, level: 'warn', message: 'level and time as text' },
  ],
  [
    '{"level":30,"time":1700000000,"msg":"unixTime"}',
    { timeStamp: 1_700_000_000_000, level: 'info', message: 'unixTime' },
  ],
  ['{"level":30,"msg":"no time"}', { timeStamp: arrival, level: 'info', message: 'no time' }],
  [
    '{"level":30,"time":1700000000123,"msg":"context","orderId":7,"user":{"id":"u"}}',
    { timeStamp: 1_700_000_000_123, level: 'info', message: 'context {"orderId":7,"user":{"id":"u"}}' },
  ],
  [
    '{"level":30,"time":1700000000123,"eventId":1001,"msg":"an event"}',
    { timeStamp: 1_700_000_000_123, level: 'info', message: 'an event', eventId: 1001 },
  ],
  [
    '{"level":50,"time":1700000000123,"err":{"type":"Error","message":"boom","stack":"Error: boom\\n    at x","code":"E1"},"msg":"failed"}',
    {
      timeStamp: 1_700_000_000_123,
      level: 'error',
      message: 'failed {"err":{"code":"E1"}}\nError: boom\n    at x',
    },
  ],
  [
    '{"level":50,"time":1700000000123,"err":{"type":"Error","message":"boom","stack":"Error: boom\\n    at x"}}',
    { timeStamp: 1_700_000_000_123, level: 'error', message: 'boom\nError: boom\n    at x' },
  ],
]

describe('a line of pino', () => {
  it.each(golden)('%s', (line, record) => {
    expect(fieldsOf(line)).toEqual(record)
  })

  it('is cut at a character when it is too long, with a mark that says how much is missing', () => {
    const short = pinoMapper({ context: 'none', maxMessageBytes: 256, timestampUnit: 's' })
    const { message, timeStamp } = short(
      { level: 30, time: arrival, msg: '😀'.repeat(100) },
      { arrivedAt: arrival },
    ).fields
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(256)
    const [, kept, cut] = /^(😀+)… \[(\d+) bytes cut\]$/u.exec(message)!
    expect(Buffer.byteLength(kept!) + Number(cut)).toBe(400)
    expect(timeStamp).toBe(1_700_000_000)
  })
})
