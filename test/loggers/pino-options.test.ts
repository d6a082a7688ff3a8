import { runInNewContext } from 'node:vm'
import pino, { type LoggerOptions } from 'pino'
import { describe, expect, it } from 'vitest'
import { sluicePinoOptions } from '../../src/loggers/pino-options.js'
import { lineMapper } from '../../src/records/line.js'

const map = lineMapper({ context: 'json', maxMessageBytes: 32_768, timestampUnit: 'ms' })

/** pino for JavaScript: its types do not allow an error after the message. */
type LooseLogger = Record<'info' | 'warn' | 'error', (...args: unknown[]) => void>

function pinoLoosely(options: LoggerOptions, lines: string[]): LooseLogger {
  return pino(sluicePinoOptions(options), { write: (line: string) => void lines.push(line) }) as unknown as LooseLogger
}

/** The message of a call's record, without the frames of its stacks. */
function messageOf(log: (logger: LooseLogger) => void, options: LoggerOptions = {}): string {
  const lines: string[] = []
  log(pinoLoosely(options, lines))
  expect(lines).toHaveLength(1)
  return map(lines[0]!, { arrivedAt: 0 }).fields.message.replace(/(\\n|\n) {4}at [^\n"]+/g, '')
}

const error = () =>
  Object.assign(new Error('boom', { cause: Object.assign(new TypeError('inner'), { code: 'E2' }) }), { code: 'E1' })
const text = 'Error: boom\ncaused by: TypeError: inner\n    {"code":"E2"}'

describe('pino with sluicePinoOptions() keeps an error', () => {
  it.each<[string, (logger: LooseLogger) => void, string]>([
    ['as the only argument', (logger) => logger.error(error()), `boom {"err":{"code":"E1"}}\n${text}`],
    ['before the message', (logger) => logger.error(error(), 'failed'), `failed {"err":{"code":"E1"}}\n${text}`],
    ['behind the message', (logger) => logger.error('failed', error()), `failed {"err":{"code":"E1"}}\n${text}`],
    ['in the message', (logger) => logger.error('%s!', error()), `Error: boom! {"err":{"code":"E1"}}\n${text}`],
    ['behind fields', (logger) => logger.error({ id: 7 }, error()), `boom {"id":7,"err":{"code":"E1"}}\n${text}`],
    [
      'behind fields and message',
      (l) => l.error({ id: 7 }, 'failed', error()),
      `failed {"id":7,"err":{"code":"E1"}}\n${text}`,
    ],
    ['as err', (logger) => logger.error({ err: error() }, 'failed'), `failed {"err":{"code":"E1"}}\n${text}`],
    ['as error', (logger) => logger.error({ error: error() }, 'failed'), `failed {"error":{"code":"E1"}}\n${text}`],
  ])('%s', (_, log, message) => {
    expect(messageOf(log)).toBe(message)
  })

  it('as any field, and in lists and objects of fields', () => {
    const message = messageOf((logger) => logger.warn({ first: error(), all: [{ reason: error() }] }, 'two'))
    const context = JSON.parse(message.slice('two '.length))
    const whole = {
      type: 'Error',
      message: 'boom',
      code: 'E1',
      cause: { type: 'TypeError', message: 'inner', code: 'E2' },
    }
    expect(context).toMatchObject({ first: whole, all: [{ reason: whole }] })
  })

  it('and a second one beside it', () => {
    expect(messageOf((logger) => logger.error(new Error('one'), 'both', new Error('two')))).toBe(
      'both\nError: one\nError: two',
    )
  })

  it('with the members of an aggregate', () => {
    expect(messageOf((logger) => logger.error(new AggregateError([new Error('one')], 'all')))).toBe(
      'all\nAggregateError: all\nerror 1 of 1: Error: one',
    )
  })

  it('under the errorKey of the application', () => {
    const lines: string[] = []
    pinoLoosely({ errorKey: 'problem' }, lines).error('failed', new Error('boom'))
    expect(JSON.parse(lines[0]!)).toMatchObject({ msg: 'failed', problem: { message: 'boom' } })
  })
})

describe('sluicePinoOptions()', () => {
  it('leaves lines without errors as they are, and does not change logged values', () => {
    const fields = Object.freeze({ a: { b: [1, 2] }, date: new Date(0) })
    expect(messageOf((logger) => logger.info(fields, 'text %d', 7))).toBe(
      'text 7 {"a":{"b":[1,2]},"date":"1970-01-01T00:00:00.000Z"}',
    )
    const withError = Object.freeze({ list: Object.freeze([new Error('e')]) })
    messageOf((logger) => logger.info(withError, 'text'))
    expect(withError.list[0]).toBeInstanceOf(Error)
  })

  it('runs the serializers, hooks and formatters of the application, too', () => {
    const levels: number[] = []
    const message = messageOf(
      (logger) => logger.info({ user: { name: 'Ann', password: 'p' } }, 'hello', new Error('e')),
      {
        serializers: { user: ({ name }) => name, err: () => 'mine' },
        formatters: { log: (fields) => ({ ...fields, added: 1 }) },
        hooks: {
          logMethod(args, method, level) {
            levels.push(level)
            method.apply(this, args)
          },
        },
      },
    )
    expect(message).toBe('hello {"user":"Ann","err":"mine","added":1}')
    expect(levels).toEqual([30])
  })

  it('gives the hook of the application the arguments of the call, and works on those that it passes on', () => {
    const flipped: LoggerOptions['hooks'] = {
      // As pino documents it.
      logMethod(inputArgs, method) {
        if (inputArgs.length < 2) return method.apply(this, inputArgs)
        const args: unknown[] = inputArgs
        const arg1 = args.shift()
        const arg2 = args.shift()
        return method.apply(this, [arg2, arg1, ...args] as typeof inputArgs)
      },
    }
    const prefixed: LoggerOptions['hooks'] = {
      logMethod(args, method) {
        args[0] = `[app] ${args[0]}`
        method.apply(this, args)
      },
    }
    const failed = (logger: LooseLogger) => logger.error('failed', new Error('boom'))
    expect(messageOf(failed, { hooks: flipped })).toBe('failed\nError: boom')
    expect(messageOf(failed, { hooks: prefixed })).toBe('[app] failed\nError: boom')
    expect(messageOf((logger) => logger.info('hello', { id: 7 }), { hooks: flipped })).toBe('hello {"id":7}')
    expect(messageOf((logger) => logger.error('%s!', 'x', new Error('boom')), { hooks: prefixed })).toBe(
      '[app] x!\nError: boom',
    )
  })

  it('keeps errors of another realm, as an application in a vm or in jest has them', () => {
    const foreign = runInNewContext('Object.assign(new TypeError("boom"), { code: "E1", cause: new Error("inner") })')
    const written = 'TypeError: boom\ncaused by: Error: inner'
    expect(messageOf((logger) => logger.error(foreign))).toBe(`boom {"err":{"code":"E1"}}\n${written}`)
    expect(messageOf((logger) => logger.error(foreign, 'failed'))).toBe(`failed {"err":{"code":"E1"}}\n${written}`)
    expect(messageOf((logger) => logger.error('failed', foreign))).toBe(`failed {"err":{"code":"E1"}}\n${written}`)
    const nested = messageOf((logger) => logger.warn({ result: { reason: foreign } }, 'two'))
    expect(JSON.parse(nested.slice('two '.length))).toMatchObject({
      result: { reason: { message: 'boom', code: 'E1' } },
    })
  })

  it('lets redaction work on errors, too', () => {
    const failure = Object.assign(new Error('refused'), { config: { token: 'secret' } })
    const message = messageOf((logger) => logger.error(failure), { redact: ['err.config.token'] })
    expect(message).toBe('refused {"err":{"config":{"token":"[Redacted]"}}}\nError: refused')
  })

  it('leaves a request of HTTP to pino’s own serializer', () => {
    const request = {
      method: 'GET',
      url: '/',
      headers: { authorization: 'secret' },
      socket: {},
      rawHeaders: ['secret'],
    }
    const message = messageOf((logger) => logger.error(request, 'failed', new Error('boom')), {
      redact: ['req.headers.authorization'],
      serializers: { req: ({ method, headers }) => ({ method, headers }) },
    })
    expect(message).toBe('failed {"req":{"method":"GET","headers":{"authorization":"[Redacted]"}}}\nError: boom')
  })

  it('reads no more of a web of objects than people read', () => {
    const nodes = Array.from({ length: 5000 }, (): { peers: unknown[] } => ({ peers: [] }))
    for (const node of nodes) node.peers = nodes
    const startedAt = performance.now()
    messageOf((logger) => logger.info({ node: nodes[0] }, 'web'))
    expect(performance.now() - startedAt).toBeLessThan(1000)
  })

  it('never throws where pino does not', () => {
    const hostile = {
      nested: {
        get bad() {
          throw new Error('getter')
        },
      },
    }
    expect(messageOf((logger) => logger.info(hostile, 'odd'))).toMatch(/^odd/)
  })
})
