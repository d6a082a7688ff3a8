import { describe, expect, it } from 'vitest'
import { lineMapper } from '../../../src/records/line.js'
import type { LineMapping } from '../../../src/records/line-style.js'
import { redacting } from '../../../src/records/redactor.js'
import { lineOf, lineStyle } from '../src/line.js'
import type { OpenTelemetryRecord } from '../src/record.js'

const style = { context: 'json', maxMessageBytes: 32_768, timestampUnit: 'ms' } as const
const arrivedAt = 1_700_000_000_000
const emitted: OpenTelemetryRecord = {
  hrTime: [1_600_000_000, 123_999_999],
  hrTimeObserved: [1_650_000_000, 0],
  attributes: {},
  instrumentationScope: { name: '' },
  resource: { attributes: {} },
}

/** What becomes of a record when its line is read. */
function mapped(record: Partial<OpenTelemetryRecord>, mapping: LineMapping = style) {
  const { text, level } = lineOf({ ...emitted, ...record }, arrivedAt)
  const { fields, severity, redacted } = lineMapper({ ...mapping, ...lineStyle })(text, { arrivedAt })
  expect(level).toBe((severity + 1) * 10)
  return { fields, severity, redacted }
}

const messageOf = (record: Partial<OpenTelemetryRecord>) => mapped(record).fields.message

describe('the time of a record', () => {
  it('is its own, then that of its observation, then that of its arrival', () => {
    expect(mapped({}).fields.timeStamp).toBe(1_600_000_000_123)
    expect(mapped({ hrTime: [0, 0] }).fields.timeStamp).toBe(1_650_000_000_000)
    expect(mapped({ hrTime: [Number.NaN, 0], hrTimeObserved: [0, 0] }).fields.timeStamp).toBe(arrivedAt)
    expect(mapped({ hrTime: [1e300, 0], hrTimeObserved: [0, 0] }).fields.timeStamp).toBe(arrivedAt)
    expect(mapped({}, { ...style, timestampUnit: 's' }).fields.timeStamp).toBe(1_600_000_000)
  })

  it('may be far from now', () => {
    for (const seconds of [1, 1_000_000, 100_000_000, 99_999_999_999]) {
      expect(mapped({ hrTime: [seconds, 0] }).fields.timeStamp).toBe(seconds * 1000)
    }
  })
})

describe('the level of a record', () => {
  it.each([
    ['trace', 0, 1, 4],
    ['debug', 1, 5, 8],
    ['info', 2, 9, 12],
    ['warn', 3, 13, 16],
    ['error', 4, 17, 20],
    ['fatal', 5, 21, 24],
  ])('is %s for the numbers of its range', (level, severity, first, last) => {
    for (let severityNumber = first; severityNumber <= last; severityNumber++) {
      expect(mapped({ severityNumber })).toMatchObject({ fields: { level, message: '' }, severity })
    }
  })

  it('has the name of its text where loggers know it', () => {
    expect(mapped({ severityText: 'NOTICE', severityNumber: 10 })).toMatchObject({ fields: { level: 'notice' } })
    expect(mapped({ severityText: 'crit' })).toMatchObject({ fields: { level: 'crit', message: '' }, severity: 5 })
  })

  it('is that of the number where the text is another name, which becomes a field', () => {
    expect(mapped({ severityText: 'Audit', severityNumber: 17 })).toMatchObject({
      fields: { level: 'error', message: '{"severityText":"Audit"}' },
      severity: 4,
    })
  })

  it('is the text, or info, where there is no number of a level', () => {
    expect(mapped({ severityText: 'Audit', severityNumber: 0 })).toMatchObject({
      fields: { level: 'audit', message: '' },
      severity: 2,
    })
    expect(mapped({ severityNumber: 25 }).fields.level).toBe('info')
    expect(mapped({}).fields.level).toBe('info')
  })
})

describe('the message of a record', () => {
  it('is its body: a text as it is, any other value as JSON', () => {
    const circular: Record<string, unknown> = { a: 1 }
    circular.self = circular
    const messages = ['text', { a: [1, null] }, 7, true, undefined, new Uint8Array(3), 12n, circular].map((body) =>
      messageOf({ body }),
    )
    expect(messages).toEqual([
      'text',
      '{"a":[1,null]}',
      '7',
      'true',
      '',
      '[Uint8Array, 3 bytes]',
      '12',
      '{"a":1,"self":{"a":1,"self":"[circular]"}}',
    ])
  })

  it('is one object with the attributes and the scope where its body is an object, and loses no field', () => {
    const bodyOf = (body: unknown, attributes = {}) =>
      JSON.parse(messageOf({ body, attributes, instrumentationScope: { name: 'checkout' } }))
    expect(bodyOf({ order: { id: 7 }, list: ['a'] })).toEqual({ order: { id: 7 }, list: ['a'], scope: 'checkout' })
    expect(bodyOf({ scope: 'mine', a: 1, '': 'x', level: 'loud', time: 5 }, { a: 2, body: 3 })).toEqual({
      a: 2,
      scope: 'checkout',
      level: 'loud',
      time: 5,
      body: 3,
      'body.body': { scope: 'mine', a: 1, '': 'x' },
    })
    const attributes = { 'exception.message': 'boom' }
    expect(
      messageOf({
        body: {
          a: 1,
          get b(): never {
            throw new Error('no')
          },
        },
        attributes,
      }),
    ).toBe('boom {"a":1,"b":"[unreadable: no]"}\nError: boom')
  })

  it('has the attributes behind it, of any type', () => {
    const circular: Record<string, unknown> = {}
    circular.self = circular
    const attributes = { big: 12n, circular, bytes: Buffer.alloc(4), none: undefined, nan: Number.NaN }
    const expected = 'hello {"big":"12","circular":{"self":"[circular]"},"bytes":"[Buffer, 4 bytes]","nan":"NaN"}'
    expect(messageOf({ body: 'hello', attributes })).toBe(expected)
  })

  it('has the other attributes where one throws', () => {
    const attributes = {
      a: 1,
      get b(): never {
        throw new Error('boom')
      },
      ['__proto__']: 3,
    }
    expect(messageOf({ attributes })).toBe('{"a":1,"b":"[unreadable: boom]","__proto__":3}')
  })

  it('has the scope, the name of the event and the ids of trace and span', () => {
    const about = {
      instrumentationScope: { name: 'checkout' },
      eventName: 'order.placed',
      spanContext: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) },
    }
    expect(JSON.parse(messageOf(about))).toEqual({
      scope: 'checkout',
      eventName: 'order.placed',
      trace_id: 'a'.repeat(32),
      span_id: 'b'.repeat(16),
    })
    expect(messageOf({ instrumentationScope: { name: 'unknown' } })).toBe('')
    expect(messageOf({ ...about, eventName: undefined, attributes: { scope: 1, trace_id: 2, span_id: 3 } })).toBe(
      '{"scope":1,"trace_id":2,"span_id":3}',
    )
  })
})

describe('an attribute', () => {
  it.each(['level', 'time', 'msg', 'name', 'pid', 'hostname', 'severity', '7', '__proto__'])(
    'with the name %s is a field like any other',
    (name) => {
      for (const body of ['hello', undefined]) {
        for (const scope of ['checkout', '']) {
          const attributes = Object.fromEntries([
            [name, 'own'],
            ['other', 1],
          ])
          const { fields } = mapped({ body, severityNumber: 13, attributes, instrumentationScope: { name: scope } })
          expect(fields).toMatchObject({ level: 'warn', timeStamp: 1_600_000_000_123 })
          const context = Object.entries(JSON.parse(fields.message.slice(fields.message.indexOf('{'))))
          expect(context.sort()).toEqual(
            [[name, 'own'], ['other', 1], ...(scope === '' ? [] : [['scope', scope]])].sort(),
          )
        }
      }
    },
  )
})

describe('the error of a record', () => {
  it('is the exception of its attributes', () => {
    const attributes = {
      id: 7,
      'exception.type': 'TypeError',
      'exception.message': 'boom',
      'exception.stacktrace': 'TypeError: boom\n    at shop.js:1:1',
    }
    expect(messageOf({ body: 'failed', attributes })).toBe('failed {"id":7}\nTypeError: boom\n    at shop.js:1:1')
    expect(messageOf({ attributes })).toBe('boom {"id":7}\nTypeError: boom\n    at shop.js:1:1')
  })

  it('may have no stack', () => {
    const attributes = { 'exception.type': 'TypeError', 'exception.message': 'boom' }
    expect(messageOf({ body: 'failed', attributes })).toBe('failed {"exception.type":"TypeError"}\nTypeError: boom')
    expect(messageOf({ body: 'failed', attributes: { 'exception.message': 7 } })).toBe('failed {"exception.message":7}')
  })

  it('is also what instrumentations of loggers put into the attributes err and error', () => {
    const err = { type: 'Error', message: 'boom', stack: 'Error: boom\n    at shop.js:1:1', code: 'E1' }
    expect(messageOf({ attributes: { err } })).toBe('boom {"err":{"code":"E1"}}\nError: boom\n    at shop.js:1:1')
  })
})

describe('the event of a record', () => {
  it('is its attribute eventId, if that is a whole number', () => {
    expect(mapped({ body: 'paid', attributes: { eventId: 1001 } }).fields).toMatchObject({
      message: 'paid',
      eventId: 1001,
    })
    expect(mapped({ body: 'paid', attributes: { eventId: 1.5 } }).fields).toEqual({
      timeStamp: 1_600_000_000_123,
      level: 'info',
      message: 'paid {"eventId":1.5}',
    })
  })
})

describe('what redaction hides', () => {
  it('is hidden in body, attributes and exception', () => {
    const redact = { keys: ['password', 'trace_id'], patterns: ['email'], mask: '*' } as const
    const { fields, redacted } = mapped(
      {
        body: { password: 'p1', note: 'to ann@example.com' },
        attributes: { password: 'p2', eventId: 7, 'exception.message': 'no ann@example.com' },
        spanContext: { traceId: 't', spanId: 's' },
      },
      redacting({ ...style, redact }),
    )
    expect(fields).toMatchObject({
      eventId: 7,
      message: 'no * {"password":"*","trace_id":"*","span_id":"s","note":"to *","body":{"password":"*"}}\nError: no *',
    })
    expect(redacted).toBe(true)
  })
})
