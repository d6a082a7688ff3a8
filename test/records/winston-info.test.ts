import { describe, expect, it } from 'vitest'
import winston from 'winston'
import TransportStream from 'winston-transport'
import type { LogFields } from '../../src/records/encode.js'
import { severityIn, type WinstonInfo, winstonMapper } from '../../src/records/winston-info.js'

const arrivedAt = 1_700_000_000_000
const map = winstonMapper({ context: 'json', maxMessageBytes: 32_768, timestampUnit: 'ms' })

/** The mapped info that winston really gives to a transport. */
function logged(log: (logger: winston.Logger) => void, options: winston.LoggerOptions = {}): LogFields {
  let fields: LogFields | undefined
  const transport = new TransportStream({
    log(info: WinstonInfo, next: () => void) {
      fields = map(info, { arrivedAt, untouched: options.format === undefined }).fields
      next()
    },
  })
  log(winston.createLogger({ level: 'silly', transports: [transport], ...options }))
  return fields!
}

const messageOf = (log: (logger: winston.Logger) => void, options: winston.LoggerOptions = {}) =>
  logged(log, options).message.replace(/\n {4}at [^\n]+/g, '')

const { combine, colorize, errors, json, simple, splat, timestamp } = winston.format

/** Calls of winston, with the message of the record. */
const golden: Record<
  string,
  [log: (logger: winston.Logger) => void, message: string, options?: winston.LoggerOptions][]
> = {
  'of fields': [
    [(logger) => logger.info('hello'), 'hello'],
    [(logger) => logger.info('order', { id: 7, user: { name: 'Ann' } }), 'order {"id":7,"user":{"name":"Ann"}}'],
    [(logger) => logger.info('order', { id: 7 }), 'order {"part":"shop","id":7}', { defaultMeta: { part: 'shop' } }],
    [(logger) => logger.child({ requestId: 'r1' }).info('hello'), 'hello {"requestId":"r1"}'],
    [(logger) => logger.log({ level: 'info', message: 'one object', id: 7 }), 'one object {"id":7}'],
    [(logger) => logger.info({ a: 1 } as never), '{"a":1}'],
    [(logger) => logger.info('paid', { eventId: 'x' }), 'paid {"eventId":"x"}'],
    [(logger) => logger.info('hello', { timestamp: 'tomorrow' }), 'hello {"timestamp":"tomorrow"}'],
    [(logger) => logger.info('hello', { timestamp: 'see 10:30' }), 'hello {"timestamp":"see 10:30"}'],
    [(logger) => logger.info('hello', { timestamp: 12.5 }), 'hello {"timestamp":12.5}'],
    [(logger) => logger.info('hello', { stack: ['react', 'node'] }), 'hello {"stack":["react","node"]}'],
    [(logger) => logger.info('hello'), 'hello', { format: combine(timestamp({ format: 'HH:mm:ss' }), json()) }],
  ],
  'of what comes behind the message': [
    [(logger) => logger.info('a', 'b', 3), 'a b 3'],
    [(logger) => logger.info('a', { b: 1 }, { c: 2 }), 'a {"b":1,"c":2}'],
    [(logger) => logger.info('%s has %d', 'Ann', 3, { c: 2 }), 'Ann has 3 {"c":2}'],
    [
      (logger) => logger.info('%s has %d', 'Ann', 3, { c: 2 }),
      'Ann has 3 {"c":2}',
      { format: combine(splat(), json()) },
    ],
    [(logger) => logger.info('a', { b: 1 }, { c: 2 }), 'a {"b":1,"c":2}', { format: splat() }],
    [(logger) => logger.info('GET /caf%c3%a9', { h: 1 }), 'GET /caf%c3%a9 {"h":1}'],
    [(logger) => logger.info('user %j logged in', { id: 1 }), 'user {"id":1} logged in'],
    [(logger) => logger.info('cpu 100%done', { host: 'a' }), 'cpu 100%done {"host":"a"}'],
    [(logger) => logger.info('at', new Date(0)), 'at 1970-01-01T00:00:00.000Z'],
  ],
  'of errors': [
    [(logger) => logger.error('failed: %s', new Error('boom')), 'failed: %s\nError: boom'],
    [(logger) => logger.error(new Error('boom')), 'boom\nError: boom'],
    [(logger) => logger.error('failed', new Error('boom')), 'failed boom\nError: boom'],
    [(logger) => logger.error('failed', 'because', new Error('boom')), 'failed because\nError: boom'],
    [(logger) => logger.error('failed', { id: 7 }, new Error('boom')), 'failed {"id":7}\nError: boom'],
    [(logger) => logger.error('failed', { err: new Error('boom') }), 'failed\nError: boom'],
    [(logger) => logger.error('failed', { error: new Error('boom') }), 'failed\nError: boom'],
    [(logger) => logger.log({ level: 'error', message: new Error('boom') as never }), 'boom\nError: boom'],
    [
      (logger) => logger.error('failed', { err: Object.assign(new Error('boom'), { code: 'E1' }) }),
      'failed {"err":{"code":"E1"}}\nError: boom',
    ],
    [
      (logger) => logger.error('failed', Object.assign(new Error('boom'), { code: 'E1' })),
      'failed boom {"code":"E1"}\nError: boom',
    ],
    [
      (logger) => logger.error('failed', new Error('boom', { cause: new TypeError('inner') })),
      'failed boom\nError: boom\ncaused by: TypeError: inner',
    ],
    [
      (logger) => logger.error(new Error('boom', { cause: new TypeError('inner') })),
      'boom\nError: boom\ncaused by: TypeError: inner',
      { format: combine(errors({ stack: true, cause: true }), json()) },
    ],
    [
      (logger) => logger.error('failed', new AggregateError([new Error('one')], 'all')),
      'failed all\nAggregateError: all\nerror 1 of 1: Error: one',
    ],
  ],
}

describe.each(Object.entries(golden))('the message of a line of winston, %s', (_, rows) => {
  it.each(rows.map(([log, ...rest]) => [String(log).replace(/^\(logger\) => /, ''), log, ...rest] as const))(
    '%s',
    (_call, log, message, options) => {
      expect(messageOf(log, options)).toBe(message)
    },
  )
})

describe('the level of a line of winston', () => {
  it('has no colours under a format that adds them', () => {
    const format = combine(colorize(), simple())
    expect(logged((logger) => logger.warn('hello'), { format }).level).toBe('warn')
  })

  it('and so is the message, and that of an error', () => {
    const { align, cli } = winston.format
    for (const format of [
      combine(colorize({ all: true }), timestamp(), align(), simple()),
      combine(colorize({ message: true }), json()),
      cli({ all: true }),
      cli(),
    ]) {
      expect(messageOf((logger) => logger.info('order placed', { id: 7 }), { format })).toBe('order placed {"id":7}')
      expect(messageOf((logger) => logger.error(new TypeError('boom')), { format })).toBe('boom\nTypeError: boom')
      expect(messageOf((logger) => logger.error('failed', new Error('boom')), { format })).toMatch(
        /^failed boom\nError: /,
      )
    }
  })

  it.each(Object.keys(winston.config.syslog.levels))('is that of syslog: %s', (level) => {
    const { levels } = winston.config.syslog
    expect(logged((logger) => logger.log(level, 'm'), { levels, level: 'debug' }).level).toBe(level)
  })

  it('is a custom one, in lower case', () => {
    const levels = { Loud: 0, quiet: 1 }
    expect(logged((logger) => logger.log('Loud', 'm'), { levels, level: 'quiet' }).level).toBe('loud')
  })
})

describe('redaction by a format', () => {
  const redact = winston.format((info) => {
    for (const key of ['password', 'stack', 'cause']) if (info[key] !== undefined) info[key] = '***'
    return info
  })

  it('is respected: redacted values are never read elsewhere', () => {
    const format = combine(redact(), json())
    const all = [
      messageOf((logger) => logger.info('login', { password: 'secret' }), { format }),
      messageOf((logger) => logger.info('login', { user: 'Ann' }, { password: 'secret' }), { format }),
      messageOf((logger) => logger.info('login', 'secret'), { format }),
      messageOf((logger) => logger.error('failed', new Error('m', { cause: new Error('secret') })), { format }),
      messageOf((logger) => logger.error('failed', { a: 1 }, new Error('secret')), { format }),
    ]
    expect(all.filter((message) => message.includes('secret'))).toEqual([])
  })
})

describe('a line of winston', () => {
  it('has its message, level and time of arrival', () => {
    expect(logged((logger) => logger.info('hello'))).toEqual({ timeStamp: arrivedAt, level: 'info', message: 'hello' })
  })

  it('takes the time of a timestamp format', () => {
    const format = winston.format((info) => ({ ...info, timestamp: '2023-11-14T22:13:20.123Z' }))()
    expect(logged((logger) => logger.info('hello'), { format })).toMatchObject({
      timeStamp: 1_700_000_000_123,
      message: 'hello',
    })
  })

  it.each<[string, (logger: winston.Logger, error: Error) => void]>([
    ['the only argument', (logger, error) => logger.error(error)],
    ['second argument', (logger, error) => logger.error('failed', error)],
    ['field err', (logger, error) => logger.error('failed', { err: error })],
    ['field error', (logger, error) => logger.error('failed', { error })],
  ])('keeps stack and cause of an error that is its %s', (_, log) => {
    const error = new Error('boom', { cause: new Error('inner') })
    const { message } = logged((logger) => log(logger, error))
    expect(message).toMatch(/Error: boom\n {4}at /)
    expect(message).toMatch(/caused by: Error: inner\n {4}at /)
    expect(message.match(/Error: boom\n/g)).toHaveLength(1)
  })

  it('has the number of its event', () => {
    expect(logged((logger) => logger.info('paid', { eventId: 1003 }))).toMatchObject({ message: 'paid', eventId: 1003 })
  })

  it('survives cycles, BigInt and getters that throw', () => {
    const cyclic: Record<string, unknown> = { big: 1n }
    cyclic.self = cyclic
    expect(logged((logger) => logger.info('odd', { cyclic })).message).toContain('"big":"1"')
    const throwing = { level: 'info', message: 'odd', [Symbol.for('level')]: 'info' }
    Object.defineProperty(throwing, 'nested', {
      enumerable: true,
      value: {
        get bad() {
          throw new Error('getter')
        },
      },
    })
    expect(map(throwing, { arrivedAt }).fields.message).toContain('odd')
  })

  it('does not change logged values', () => {
    const info = Object.freeze({ level: 'info', message: 'm', err: Object.freeze(new Error('e')), eventId: 1, a: 1 })
    expect(() => map(info, { arrivedAt })).not.toThrow()
    expect(Object.keys(info)).toEqual(['level', 'message', 'err', 'eventId', 'a'])
  })
})

describe('the severity of a level', () => {
  it('follows from its rank in a set of 130,000 levels', () => {
    const levels = Object.fromEntries(Array.from({ length: 130_000 }, (_, rank) => [`level${rank}`, rank]))
    expect(severityIn(levels, 'level0')).toBe(4)
    expect(severityIn(levels, 'level129999')).toBe(0)
  })
})

describe('the lines of nest-winston, whose stack is an array', () => {
  const failure = new Error('no stock')
  const nest = (fields: object) => (logger: winston.Logger) =>
    logger.error('no stock', { context: 'Orders', ...fields })

  it('have the stack as a text for people, once, also where the error comes with it', () => {
    const shown = `no stock {"context":"Orders"}\n${failure.stack}`
    expect(logged(nest({ stack: [failure.stack] })).message).toBe(shown)
    expect(logged(nest({ stack: [failure.stack, undefined] }), { format: json() }).message).toBe(shown)
    expect(logged(nest({ stack: [failure.stack], error: failure })).message).toBe(shown)
  })

  it('have no field for a stack that is missing', () => {
    expect(logged(nest({ stack: [undefined] })).message).toBe('no stock {"context":"Orders"}')
    expect(logged(nest({ stack: [null] })).message).toBe('no stock {"context":"Orders"}')
  })

  it('keep an array of the application that has no stack in it', () => {
    const message = 'no stock {"context":"Orders","stack":["node","postgresql"]}'
    expect(logged(nest({ stack: ['node', 'postgresql'] })).message).toBe(message)
  })
})
