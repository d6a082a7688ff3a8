import { describe, expect, it } from 'vitest'
import { LineSplitter, maxLineBytes } from '../../src/line-splitter.js'
import { LineMapper } from '../../src/ship/line-mapper.js'
import { shippedText } from '../../src/ship/shipment.js'

const arrivedAt = 1_800_000_000_000
const mapper = new LineMapper({ timestampUnit: 'ms', context: 'json', maxMessageBytes: 1000, machineName: 'here' })
const map = (line: string | object) => mapper.map(typeof line === 'string' ? line : JSON.stringify(line), arrivedAt)

describe('a line', () => {
  it('of pino keeps its level, time, fields and error', () => {
    const time = 1_700_000_000_000
    const err = { type: 'Error', message: 'boom', stack: 'Error: boom\n    at x' }
    const { fields } = map({ level: 50, time, pid: 1, hostname: 'here', name: 'shop', orderId: 7, err, msg: 'failed' })
    expect(fields).toEqual({
      timeStamp: time,
      level: 'error',
      message: 'failed {"name":"shop","orderId":7}\nError: boom\n    at x',
    })
  })

  it('of pino names the machine that wrote it, when it was another one', () => {
    expect(map({ level: 30, time: 1_700_000_000_000, pid: 1, hostname: 'there', msg: 'a' }).fields.message).toBe(
      'a {"hostname":"there"}',
    )
  })

  it('of pino may have its level by name, and an ISO time', () => {
    const { fields } = map({ level: 'WARN', time: '2024-05-01T12:00:00.000Z', msg: 'a' })
    expect(fields).toMatchObject({ level: 'warn', timeStamp: Date.UTC(2024, 4, 1, 12), message: 'a' })
  })

  it('of winston keeps its level without colours, its time and its fields', () => {
    const line = { level: '\x1b[33mwarn\x1b[39m', message: 'careful', timestamp: '2024-05-01T12:00:00.000Z', a: 1 }
    expect(map(line)).toEqual({
      severity: 3,
      fields: { level: 'warn', message: 'careful {"a":1}', timeStamp: Date.UTC(2024, 4, 1, 12) },
    })
  })

  it('of winston with a time without a zone has it in the zone of this machine', () => {
    for (const timestamp of ['2024-05-01 12:00:00.250', '2024-05-01T12:00:00,250']) {
      const { fields } = map({ level: 'info', message: 'a', timestamp })
      expect(fields).toMatchObject({ message: 'a', timeStamp: new Date(2024, 4, 1, 12, 0, 0, 250).getTime() })
    }
  })

  it.each(['plain', '{"foo":1}', '{"level":30,', '[1,2]', '"text"', '7', 'null', '{}', '{"level":"info"}'])(
    'that is no logger’s, %s, is text of level info that has just come',
    (line) => {
      expect(map(line)).toEqual({
        severity: 2,
        fields: { level: 'info', message: line, timeStamp: arrivedAt },
      })
    },
  )

  it('that is too long for a message is cut, and says so', () => {
    expect(map('x'.repeat(5000)).fields.message).toMatch(/^x+… \[\d+ bytes cut\]$/)
  })
})

describe('the text of a line', () => {
  it('is without a byte order mark and a carriage return at its end', () => {
    const lines = [...new LineSplitter().push(Buffer.from('\ufeffäöü\r\n\r\n😀\r\r\n\nlast\n'))]
    expect(lines.map(shippedText)).toEqual(['äöü', '', '😀\r', '', 'last'])
  })

  it('that is too long is its beginning', () => {
    const [line] = [...new LineSplitter().push(Buffer.from(`${'x'.repeat(maxLineBytes - 1)}\rx\n`))]
    expect(shippedText(line!)).toBe(`${'x'.repeat(maxLineBytes - 1)}\r`)
  })
})
