import { describe, expect, it } from 'vitest'
import winston from 'winston'
import TransportStream from 'winston-transport'
import type { LogFields } from '../../src/records/encode.js'
import { type WinstonInfo, winstonMapper } from '../../src/records/from-winston.js'

const arrival = 1_700_000_000_000
const map = winstonMapper({ context: 'json', maxMessageBytes: 32_768, timestampUnit: 'ms' })

/** What winston really hands to a transport, mapped. */
function logged(log: (logger: winston.Logger) => void, options: winston.LoggerOptions = {}): LogFields {
  let fields: LogFields | undefined
  const transport = new TransportStream({
    log(info: WinstonInfo, next: () => void) {
      fields = map(info, { arrivedAt: arrival }).fields
      next()
    },
  })
  log(winston.createLogger({ level: 'silly', transports: [transport], ...options }))
  return fields!
}

describe('a line of winston', () => {
  it('has its message, level and time of arrival', () => {
    expect(logged((logger) => logger.info('hello'))).toEqual({ timeStamp: arrival, level: 'info', message: 'hello' })
  })

  it('has a clean level under a format that colours', () => {
    const format = winston.format.combine(winston.format.colorize(), winston.format.simple())
    expect(logged((logger) => logger.warn('hello'), { format }).level).toBe('warn')
  })

  it('keeps its metadata and defaultMeta as context', () => {
    expect(logged((logger) => logger.info('order', { id: 7 }), { defaultMeta: { part: 'shop' } }).message).toBe(
      'order {"part":"shop","id":7}',
    )
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
    expect(map(throwing, { arrivedAt: arrival }).fields.message).toContain('odd')
  })

  it('changes nothing of what was logged', () => {
    const info = Object.freeze({ level: 'info', message: 'm', err: Object.freeze(new Error('e')), eventId: 1, a: 1 })
    expect(() => map(info, { arrivedAt: arrival })).not.toThrow()
    expect(Object.keys(info)).toEqual(['level', 'message', 'err', 'eventId', 'a'])
  })
})
