import pino from 'pino'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import winston from 'winston'
import { sluicePino, sluicePinoOptions } from '../../src/pino.js'
import { captureSluice } from '../../src/testing.js'
import { defineEvents } from '../../src/tracking/events.js'
import { track, tracked } from '../../src/tracking/sluice.js'
import { SluiceTransport } from '../../src/winston.js'
import { full, rowsOf } from '../support/full.js'

const captured = captureSluice()
beforeEach(() => captured.clear())
afterAll(() => captured.restore())

const trap = () => {
  throw new Error('trap')
}

function thrower(thrown: unknown): object {
  return {
    get bad() {
      throw thrown
    },
  }
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

function chain(length: number): Error {
  let error = new Error('bottom')
  for (let level = 0; level < length; level++) error = new Error(`level ${level}`, { cause: error })
  return error
}

/** An empty array of the greatest length. */
function sparse(): unknown[] {
  const list: unknown[] = []
  list.length = 2 ** 32 - 2
  return list
}

class Endless extends Map {
  override *[Symbol.iterator](): MapIterator<[unknown, unknown]> {
    for (;;) yield ['nothing', undefined]
  }
}

const noText = Object.create(null) as object
const hostile: Readonly<Record<string, () => unknown>> = {
  'a getter that throws': () => thrower(new Error('getter')),
  'a getter that throws what has no text': () => thrower(noText),
  'a getter that throws a revoked proxy': () => thrower(revoked()),
  'a getter that throws nothing': () => thrower(undefined),
  'a proxy that throws': () => new Proxy({}, { get: trap, ownKeys: trap, getPrototypeOf: trap, has: trap }),
  'a revoked proxy': revoked,
  'an object without a prototype': () => noText,
  'toString that throws': () => ({ toString: trap, [Symbol.toPrimitive]: trap }),
  'toJSON that throws': () => ({ toJSON: trap }),
  'an endless map of nothing': () => new Endless(),
  'an array of 2^32 - 2': sparse,
  'a message that throws': () => Object.defineProperty(new Error('x'), 'message', { get: trap }),
  'a stack that throws': () => Object.defineProperty(new Error('x'), 'stack', { get: trap }),
  'a message that is no text': () => Object.assign(new Error('x'), { message: noText, cause: revoked() }),
  'a thousand causes': () => chain(1000),
  'thousands of errors in one': () =>
    new AggregateError(
      Array.from({ length: full ? 100_000 : 10_000 }, () => new Error('one')),
      'all',
    ),
  'a buffer of a megabyte': () => Buffer.alloc(1_048_576),
  'fields in thousands': () => Object.fromEntries(Array.from({ length: 10_000 }, (_, key) => [`key${key}`, key])),
}

const logger = pino(sluicePinoOptions(), sluicePino())
const transport = new SluiceTransport()
const asLogged = winston.createLogger({ format: winston.format((info) => info)(), transports: [new SluiceTransport()] })
const [LEVEL, SPLAT] = [Symbol.for('level'), Symbol.for('splat')]

/** Ways to log a value with the text `here`. pino and winston themselves survive all of them. */
const ways: Readonly<Record<string, (value: unknown) => void>> = {
  'pino, as a field': (value) => logger.info({ value }, 'here'),
  'pino, in a field': (value) => logger.info({ value: { in: [value] } }, 'here'),
  'pino, as an error': (value) => logger.info({ error: value }, 'here'),
  'pino, behind the message': (value) => logger.info('here', ...([value] as unknown as [])),
  'winston, as a field': (value) => void asLogged.info('here', { value, err: value, error: value }),
  'winston, behind the message': (value) => void asLogged.info('here', {}, value),
  'winston, laid out over the line': (value) => {
    const fields = { stack: value, timestamp: value, cause: value, eventId: value }
    transport.log({ [LEVEL]: 'info', message: 'here', ...fields, [SPLAT]: [value] })
  },
  'winston, as a level': (value) => void transport.log({ [LEVEL]: value, message: 'here' }),
}

// The largest value has one way of each logger.
const someWays = ['pino, as an error', 'winston, as a field']

describe.each(Object.entries(ways))('%s', (way, log) => {
  const chosen = ([name]: [string, unknown]) => name !== 'thousands of errors in one' || someWays.includes(way)
  it.each(rowsOf(Object.entries(hostile), chosen))('%s: the line becomes a record, soon', (_, make) => {
    const value = make()
    const startedAt = performance.now()
    log(value)
    expect(performance.now() - startedAt).toBeLessThan(2000)
    expect(captured.logs).toHaveLength(1)
    expect(captured.logs[0]?.message).toMatch(/^here/)
    expect(captured.logs[0]?.message.length).toBeLessThanOrEqual(32_768)
  })
})

describe('winston, as the message', () => {
  it.each(Object.entries(hostile))('%s: it becomes a record, soon', (_, make) => {
    const value = make()
    transport.log({ [LEVEL]: 'info', message: value })
    expect(captured.logs).toHaveLength(1)
    expect(captured.logs[0]?.message).not.toContain('could not be read')
  })
})

describe('many errors behind a message of pino', () => {
  it('take time in proportion to their number, and each has a field', () => {
    const errors = Array.from({ length: 20_000 }, () => new Error('one'))
    for (const error of errors) error.stack = 'Error: one'
    const startedAt = performance.now()
    logger.error('here', ...(errors as unknown as []))
    expect(performance.now() - startedAt).toBeLessThan(5000)
    expect(captured.logs[0]?.message).toMatch(/^here/)
  })
})

describe('track', () => {
  it.each(Object.entries(hostile))('%s: nothing is thrown, and only a time makes a record', (_, make) => {
    const value = make()
    track(value as number)
    track(1, value as object)
    track(1, { timeStamp: value as number })
    expect(captured.values.length).toBeLessThanOrEqual(1)
  })

  it('around a function passes on whatever it returns', () => {
    for (const make of Object.values(hostile)) {
      const value = make()
      expect(tracked(1, () => value)() === value).toBe(true)
    }
    // biome-ignore lint/suspicious/noThenProperty: this is the hostile value
    const promise = { then: trap }
    expect(tracked(1, () => promise)()).toBe(promise)
  })
})

describe('defineEvents', () => {
  it.runIf(full)('refuses every invalid number', () => {
    for (const make of Object.values(hostile)) {
      expect(() => defineEvents({ event: make() as number })).toThrow(
        /^event event(, number)?: expected a whole number from 0, got /,
      )
    }
  })
})
