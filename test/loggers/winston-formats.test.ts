import fc from 'fast-check'
import { captureSluice } from 'sluice/testing'
import { SluiceTransport, type SluiceTransportOptions } from 'sluice/winston'
import { describe, expect, it } from 'vitest'
import winston from 'winston'
import { runs } from '../support/full.js'

const { align, cli, colorize, combine, errors, json, label, logstash, metadata, ms, padLevels } = winston.format
const { prettyPrint, printf, simple, splat, timestamp, uncolorize } = winston.format
type Format = winston.Logform.Format

const secret = 'S3CRET'
const hidden = new Set(['password', 'config', 'pin'])
const replacer = (key: string, value: unknown) => (hidden.has(key) ? undefined : value)
const masking = (key: string, value: unknown) => (hidden.has(key) ? '***' : value)
const hides = winston.format((info) => {
  for (const key of hidden) delete info[key]
  return info
})
/** Hides within the objects of the application. */
const hidesWithin = winston.format((info) => {
  for (const value of Object.values(info)) {
    if (typeof value === 'object' && value !== null)
      for (const key of hidden) if (key in value) Reflect.set(value, key, '***')
  }
  return hides().transform(info) as winston.Logform.TransformableInfo
})

interface Formats {
  /** Of the logger. @default winston's own */
  readonly format?: Format
  /** Of the transport. @default none */
  readonly own?: Format
  readonly options?: SluiceTransportOptions
}

/** The messages of the records of what `log` logs, without the places in the code. */
function messagesOf({ format, own, options }: Formats, log: (logger: winston.Logger) => void): string[] {
  using captured = captureSluice()
  const transport = new SluiceTransport({ ...options, ...(own === undefined ? {} : { format: own }) })
  log(winston.createLogger({ level: 'silly', transports: [transport], ...(format === undefined ? {} : { format }) }))
  return captured.logs.map(({ message }) => message.replace(/\n {4}at [^\n]+/g, ''))
}

const failure = (fields: object = {}, cause?: unknown) =>
  Object.assign(new Error('boom', cause === undefined ? {} : { cause }), fields)

/** Calls with a secret below a key that the chains hide. */
const calls: Readonly<Record<string, (logger: winston.Logger) => void>> = {
  'a field': (logger) => logger.info('login', { user: 'Ann', password: secret, pin: 7_301 }),
  'a field of a child': (logger) => logger.child({ password: secret }).info('login', { user: 'Ann' }),
  'a field within a field': (logger) => logger.info('login', { user: { name: 'Ann', password: secret } }),
  'a field of an item': (logger) => logger.info('login', { users: [{ name: 'Ann', password: secret }] }),
  'an error behind the message': (logger) => logger.error('failed', failure({ config: { auth: secret } })),
  'an error alone': (logger) => logger.error(failure({ config: { auth: secret } })),
  'a field that is an error': (logger) => logger.error('failed', { err: failure({ config: { auth: secret } }) }),
  'the cause of a field': (logger) => logger.error('failed', { err: failure({}, failure({ config: secret })) }),
  'a cause that is no error': (logger) => logger.error('failed', { err: failure({}, { config: secret }) }),
  'the cause behind the message': (logger) => logger.error('failed', failure({}, failure({ config: secret }))),
  'a member of a field': (logger) =>
    logger.error('failed', { err: new AggregateError([failure({ config: secret })], 'all') }),
  'a map': (logger) => logger.info('login', { map: new Map([['password', secret]]) }),
  'a second object': (logger) => logger.info('login', { user: 'Ann' }, { password: secret }),
}

/** Chains whose output never has what is below the keys. */
const chains: Readonly<Record<string, Formats>> = {
  'json with a replacer': { format: json({ replacer }) },
  'json with a replacer, over several lines': { format: json({ replacer, space: 2 }) },
  'timestamp and json with a replacer': { format: combine(timestamp(), json({ replacer })) },
  'timestamp and json with a mask': { format: combine(timestamp(), json({ replacer: masking })) },
  'errors, splat, timestamp and json with a replacer': {
    format: combine(errors({ stack: true, cause: true }), splat(), timestamp(), json({ replacer })),
  },
  'colours and json with a replacer': { format: combine(colorize(), json({ replacer })) },
  'a chain in a chain': { format: combine(combine(timestamp()), combine(ms(), json({ replacer }))) },
  'JSON of a few fields': {
    format: printf(({ level, message, user }) =>
      JSON.stringify({ level, message, user: typeof user === 'string' ? user : undefined }),
    ),
  },
  'JSON of its own making': {
    format: printf(({ level, message, ...rest }) =>
      JSON.stringify({ severity: level, text: message, ...rest }, replacer),
    ),
  },
  'a replacer of the transport': { own: json({ replacer }) },
  'a chain of the transport': { own: combine(timestamp(), json({ replacer })) },
  'a replacer, and a format of the transport that makes no text': {
    format: combine(timestamp(), json({ replacer })),
    own: label({ label: 'api' }),
  },
}

const contexts = ['json', 'logfmt', 'none'] as const

describe.each(Object.entries(chains))('what %s leaves out is not in the record', (_, formats) => {
  it.each(Object.entries(calls))('%s', (_, log) => {
    for (const context of contexts) {
      const messages = messagesOf({ ...formats, options: { context } }, log)
      expect(messages).toEqual([expect.stringMatching(/login|failed|boom|^undefined$|^.left out by a format./)])
      expect(messages[0]).not.toMatch(/S3CRET|7301/)
    }
  })
})

it('nor is it, whatever is around it', { timeout: 60_000 }, () => {
  const key = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 6 }),
    fc.constantFrom('err', 'a', 'stack', 'cause', '__proto__'),
  )
  const around = fc.dictionary(key, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 })
  const levels = fc.array(fc.option(key, { freq: 4 }), { maxLength: 4 })
  const chain = fc.constantFrom(...Object.values(chains))
  fc.assert(
    fc.property(
      levels,
      around,
      chain,
      fc.constantFrom(...contexts),
      fc.boolean(),
      (levels, others, formats, context, isError) => {
        let fields: unknown = { ...others, password: secret, config: { auth: secret } }
        for (const level of levels) fields = level === null ? [fields] : { b: 1, [level]: fields }
        const given = Array.isArray(fields) ? { list: fields } : (fields as object)
        const meta = isError ? failure(given) : given
        expect(
          messagesOf({ ...formats, options: { context } }, (logger) => logger.info('m', meta)).join(),
        ).not.toContain(secret)
      },
    ),
    { numRuns: runs({ some: 100, all: 20_000 }) },
  )
})

/** Calls whose secrets a format can reach before the text is made. */
const reached = [
  'a field',
  'a field of a child',
  'a field within a field',
  'an error behind the message',
  'an error alone',
]

describe.each<[string, Formats]>([
  ['before json', { format: combine(hidesWithin(), json()) }],
  ['before simple', { format: combine(hidesWithin(), simple()) }],
  ['behind json, which has written them', { format: hidesWithin() }],
  ['of the transport, behind winston’s own json', { own: hidesWithin() }],
  ['of the transport, behind another chain', { format: combine(timestamp(), json()), own: hidesWithin() }],
  ['of the transport, behind a text', { format: combine(timestamp(), simple()), own: hidesWithin() }],
])('what a format deletes is not in the record: %s', (_, formats) => {
  it.each(reached)('%s', (name) => {
    for (const context of contexts) {
      const [message] = messagesOf({ ...formats, options: { context } }, calls[name]!)
      expect(message).toMatch(/login|failed|boom/)
      expect(message).not.toMatch(/S3CRET|7301/)
    }
  })
})

const order = (logger: winston.Logger) => logger.info('order placed', { id: 7 })
const shop = printf(({ level, message }) => `[${level}] shop: ${String(message)}`)

it('nor where the stream of the transport keeps the lines for a while', () => {
  for (const format of [undefined, combine(timestamp(), json()), simple()]) {
    using captured = captureSluice()
    const transport = new SluiceTransport({ format: hidesWithin() })
    const logger = winston.createLogger({ transports: [transport], ...(format && { format }) })
    transport.cork()
    for (const name of ['a field', 'a field within a field']) calls[name]!(logger)
    transport.uncork()
    expect(captured.logs.map(({ message }) => message)).toEqual(Array(2).fill(expect.stringMatching(/^login.*Ann/)))
    expect(JSON.stringify(captured.logs)).not.toMatch(/S3CRET|7301/)
  }
})

describe('a record has what the JSON of a format has, else the message and the fields that the formats have left', () => {
  it.each<[string, Formats, string]>([
    ['winston’s own', {}, 'order placed {"id":7}'],
    ['json over several lines', { format: json({ space: 2 }) }, 'order placed {"id":7}'],
    ['timestamp and json', { format: combine(timestamp(), json()) }, 'order placed {"id":7}'],
    [
      'timestamp and json over several lines',
      { format: combine(timestamp(), json({ space: 2 })) },
      'order placed {"id":7}',
    ],
    ['label, ms and json', { format: combine(label({ label: 'api' }), json()) }, 'order placed {"id":7,"label":"api"}'],
    ['metadata', { format: combine(metadata(), json()) }, 'order placed {"metadata":{"id":7}}'],
    ['no text at all', { format: timestamp() }, 'order placed {"id":7}'],
    ['simple', { format: simple() }, 'order placed {"id":7}'],
    [
      'simple with time and colours',
      { format: combine(colorize({ all: true }), timestamp(), align(), simple()) },
      'order placed {"id":7}',
    ],
    ['simple with padding', { format: combine(padLevels(), simple()) }, '    order placed {"id":7}'],
    ['cli', { format: cli() }, 'order placed {"id":7}'],
    ['cli in full colour', { format: cli({ all: true }) }, 'order placed {"id":7}'],
    [
      'level and message',
      { format: printf(({ level, message }) => `${level}: ${String(message)}`) },
      'order placed {"id":7}',
    ],
    [
      'level, time and message',
      {
        format: combine(
          timestamp(),
          printf((info) => `[${info.timestamp}] ${info.level.toUpperCase()} - ${info.message}`),
        ),
      },
      'order placed {"id":7}',
    ],
    [
      'more behind the message',
      { format: printf(({ level, message, id }) => `${level}: ${String(message)} id=${String(id)}`) },
      'order placed {"id":7}',
    ],
    [
      'JSON behind the message',
      { format: printf(({ level, message, ...rest }) => `${level}: ${String(message)} ${JSON.stringify(rest)}`) },
      'order placed {"id":7}',
    ],
    ['more before the message', { format: shop }, 'order placed {"id":7}'],
    ['no message', { format: printf(({ id }) => `order ${String(id)}`) }, 'order placed {"id":7}'],
    [
      'JSON with other keys',
      { format: printf(({ message, id }) => JSON.stringify({ text: message, id })) },
      'order placed {"id":7}',
    ],
    ['what begins like JSON', { format: printf(({ message }) => `{${String(message)}}`) }, 'order placed {"id":7}'],
    ['logstash', { format: logstash() }, 'order placed {"@fields":{"id":7,"level":"info"}}'],
    ['prettyPrint', { format: prettyPrint() }, 'order placed {"id":7}'],
    ['the transport’s own json, behind a text', { format: shop, own: json() }, 'order placed {"id":7}'],
    [
      'the transport’s own chain, behind a text',
      { format: shop, own: combine(timestamp(), json()) },
      'order placed {"id":7}',
    ],
    ['the transport’s own label, behind json', { own: label({ label: 'api' }) }, 'order placed {"id":7,"label":"api"}'],
    [
      'the transport’s own label, behind a chain',
      { format: combine(timestamp(), json()), own: label({ label: 'api' }) },
      'order placed {"id":7,"label":"api"}',
    ],
    [
      'the transport’s own uncolorize',
      { format: combine(colorize(), json()), own: uncolorize() },
      'order placed {"id":7}',
    ],
  ])('%s', (_, formats, expected) => {
    expect(messagesOf(formats, order)).toEqual([expected])
  })

  it('in the style of the option context', () => {
    const chain = { format: combine(timestamp(), json({ replacer })) }
    const log = (logger: winston.Logger) => logger.info('login', { user: 'Ann', password: secret })
    const shown = contexts.map((context) => messagesOf({ ...chain, options: { context } }, log)[0])
    expect(shown).toEqual(['login {"user":"Ann"}', 'login user=Ann', 'login'])
  })

  it('at the time that the line has, also where the text does not show it', () => {
    using captured = captureSluice()
    const at = winston.format((info) => ({ ...info, timestamp: '2023-11-14T22:13:20.123Z' }))
    const format = combine(
      at(),
      printf(({ message }) => String(message)),
    )
    order(winston.createLogger({ format, transports: [new SluiceTransport()] }))
    expect(captured.logs).toMatchObject([{ message: 'order placed {"id":7}', timeStamp: 1_700_000_000_123 }])
  })

  it('without the fields of an error that winston has laid out, where the option context is none', () => {
    const chain = { format: combine(hides(), json()), options: { context: 'none' } } as const
    const log = (logger: winston.Logger) => logger.error('failed', failure({ config: { auth: secret }, code: 'E1' }))
    expect(messagesOf(chain, log)).toEqual(['failed boom\nError: boom'])
  })
})

describe('errors, which JSON shows as {}, have their stacks', () => {
  it.each<[string, (logger: winston.Logger) => void, string]>([
    [
      'behind the message',
      (logger) => logger.error('failed', failure({ code: 'E1' })),
      'failed boom {"code":"E1"}\nError: boom',
    ],
    ['alone', (logger) => logger.error(failure()), 'boom\nError: boom'],
    [
      'as err',
      (logger) => logger.error('failed', { err: failure({ code: 'E1' }) }),
      'failed {"err":{"code":"E1"}}\nError: boom',
    ],
    [
      'with a cause',
      (logger) => logger.error('failed', { error: failure({}, new TypeError('inner')) }),
      'failed\nError: boom\ncaused by: TypeError: inner',
    ],
    [
      'with a cause behind the message',
      (logger) => logger.error('failed', failure({}, new TypeError('inner'))),
      'failed boom\nError: boom\ncaused by: TypeError: inner',
    ],
    [
      'with members',
      (logger) => logger.error('failed', { err: new AggregateError([failure()], 'all') }),
      'failed\nAggregateError: all\nerror 1 of 1: Error: boom',
    ],
    ['as the message', (logger) => logger.log({ level: 'error', message: failure() as never }), 'boom\nError: boom'],
  ])('%s', (_, log, expected) => {
    expect(messagesOf({ format: combine(timestamp(), json()) }, log)).toEqual([expected])
  })

  it('deep in a field, and in a circle, behind a text', () => {
    const circle = failure()
    circle.cause = circle
    const [message] = messagesOf({ format: simple() }, (logger) =>
      logger.error('failed', { result: { reason: circle } }),
    )
    expect(message).toContain('"reason":{"type":"Error","message":"boom","stack":"Error: boom\\n')
    expect(message!.length).toBeLessThan(10_000)
  })

  it('and other values that JSON does not know are shown behind a text', () => {
    const values = { odd: Number.NaN, big: 1234567890123456789n, bytes: Buffer.alloc(12), run: order }
    expect(messagesOf({ format: simple() }, (logger) => logger.info('odd', values))).toEqual([
      'odd {"odd":"NaN","big":"1234567890123456789","bytes":"[Buffer, 12 bytes]","run":"[function order]"}',
    ])
  })
})

describe('a text that only looks like JSON', () => {
  it.each([
    ['leaves it', winston.format((info) => info)()],
    ['writes it again', winston.format.printf(({ message }) => `{"app"} ${message} {}`)],
  ])('is no JSON where the own format of the transport %s', (_, format) => {
    using captured = captureSluice()
    const logger = winston.createLogger({
      format: winston.format.printf(({ message }) => `{"app"} ${message} {}`),
      transports: [new SluiceTransport({ format })],
    })
    logger.error('lost?', { a: 1 })
    expect(captured.logs).toMatchObject([{ level: 'error', message: 'lost? {"a":1}' }])
  })
})

describe('a field of a line that cannot be read', () => {
  it('is not missed where a format has written JSON without it', () => {
    using captured = captureSluice()
    const logger = winston.createLogger({
      format: winston.format.printf(({ message }) => JSON.stringify({ message })),
      transports: [new SluiceTransport()],
    })
    logger.write({
      level: 'info',
      message: 'kept',
      get broken() {
        throw new Error('no')
      },
    })
    expect(captured.logs).toMatchObject([{ level: 'info', message: 'kept' }])
  })
})

describe('ever new levels', () => {
  it('keep their names where a format has written JSON without the level', () => {
    using captured = captureSluice()
    const names = Array.from({ length: 300 }, (_, rank) => `new${rank}`)
    const logger = winston.createLogger({
      levels: Object.fromEntries(names.map((name, rank) => [name, rank])),
      level: 'new299',
      format: winston.format.printf(({ message }) => JSON.stringify(message === 'none' ? {} : { message })),
      transports: [new SluiceTransport()],
    })
    for (const name of names) logger.log(name, 'text')
    logger.log('new299', 'none')
    expect(captured.logs.map(({ level, message }) => ({ level, message }))).toEqual([
      ...names.map((level) => ({ level, message: 'text' })),
      { level: 'new299', message: '' },
    ])
  })
})
