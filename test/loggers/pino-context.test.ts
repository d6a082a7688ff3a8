import pino, { type LoggerOptions } from 'pino'
import { currentContext, withContext } from 'sluice'
import { sluicePino, sluicePinoOptions } from 'sluice/pino'
import { captureSluice } from 'sluice/testing'
import { describe, expect, it } from 'vitest'

/** The lines of a logger that any target gets, without the part that pino writes by itself. */
function linesOf(options: LoggerOptions, log: (logger: pino.Logger) => void): string[] {
  const lines: string[] = []
  log(pino(sluicePinoOptions({ base: null, timestamp: false, ...options }), { write: (line) => void lines.push(line) }))
  return lines.map((line) => line.trim().replace('"level":30,', ''))
}

describe('sluicePinoOptions()', () => {
  it('adds the context to the lines of every target', () => {
    const lines = linesOf({}, (logger) => {
      logger.info({ orderId: 7 }, 'before')
      withContext({ requestId: 'r-1' }, () => {
        logger.info({ orderId: 7 }, 'within')
        logger.info('text')
      })
    })
    expect(lines).toEqual([
      '{"orderId":7,"msg":"before"}',
      '{"requestId":"r-1","orderId":7,"msg":"within"}',
      '{"requestId":"r-1","msg":"text"}',
    ])
  })

  it('adds no field that the call, the logger or its parent has', () => {
    const lines = linesOf({}, (logger) =>
      withContext({ requestId: 'context' }, () => {
        logger.info({ requestId: 'line' }, 'own')
        const child = logger.child({ requestId: 'child' })
        child.info('child')
        child.child({ part: 'cart' }).info('grandchild')
        logger.info('context')
      }),
    )
    expect(lines).toEqual([
      '{"requestId":"line","msg":"own"}',
      '{"requestId":"child","msg":"child"}',
      '{"requestId":"child","part":"cart","msg":"grandchild"}',
      '{"requestId":"context","msg":"context"}',
    ])
  })

  it('keeps the mixin of the application and its strategy', () => {
    const mixin = () => ({ requestId: 'mixin', zone: 'a' })
    const log = (logger: pino.Logger) => withContext({ requestId: 'context' }, () => logger.info({ zone: 'b' }, 'm'))
    expect(linesOf({ mixin }, log)).toEqual(['{"requestId":"mixin","zone":"b","msg":"m"}'])
    const mixinMergeStrategy = (fields: object, mixed: object) => ({ ...fields, ...mixed })
    expect(linesOf({ mixin, mixinMergeStrategy }, log)).toEqual(['{"zone":"a","requestId":"mixin","msg":"m"}'])
  })

  it('gives pino the very object of the call where there is no context', () => {
    const seen: object[] = []
    const log = (fields: Record<string, unknown>) => {
      seen.push(fields)
      return fields
    }
    const fields = { orderId: 7 }
    linesOf({ formatters: { log } }, (logger) => logger.info(fields, 'm'))
    expect(seen[0]).toBe(fields)
  })
})

describe('sluicePino()', () => {
  it('leaves a line alone that is no JSON', () => {
    using captured = captureSluice()
    const stream = sluicePino()
    withContext({ requestId: 'r-1' }, () => {
      for (const line of ['a text\n', '{a text}\n', '"{}"\n']) stream.write(line)
    })
    expect(captured.logs.map(({ message }) => message)).toEqual(['a text', '{a text}', '{}'])
  })

  it('adds the context of the caller where pino writes to several streams', () => {
    using captured = captureSluice()
    const logger = pino({}, pino.multistream([{ stream: sluicePino() }]))
    withContext({ requestId: 'r-1' }, () => logger.info('order'))
    expect(currentContext()).toEqual({})
    expect(captured.logs.map(({ message }) => message)).toEqual(['order {"requestId":"r-1"}'])
  })

  it('adds the context to a line with a carriage return', () => {
    using captured = captureSluice()
    withContext({ requestId: 'r-1' }, () => pino({ crlf: true }, sluicePino()).info({ id: 7 }, 'order'))
    expect(captured.logs.map(({ message }) => message)).toEqual(['order {"id":7,"requestId":"r-1"}'])
  })

  const user = { name: 'Ann', token: 's3cret' }
  it.each<[string, LoggerOptions, string]>([
    [
      'a path',
      { redact: ['token', 'user.token'] },
      'order {"user":{"name":"Ann","token":"[Redacted]"},"token":"[Redacted]"}',
    ],
    [
      'a path that is every field',
      { redact: ['*'], base: null },
      '[Redacted] {"user":"[Redacted]","token":"[Redacted]"}',
    ],
    [
      'a path below every field',
      { redact: ['*.token'] },
      'order {"user":{"name":"Ann","token":"[Redacted]"},"token":"t"}',
    ],
    ['a censor', { redact: { paths: ['token', 'user'], censor: () => '***' } }, 'order {"user":"***","token":"***"}'],
    ['a removal', { redact: { paths: ['token', 'user.token'], remove: true } }, 'order {"user":{"name":"Ann"}}'],
    ['serializers', { serializers: { user: () => 'u', token: () => undefined } }, 'order {"user":"u"}'],
  ])('hides in the context what the logger hides by %s, as sluicePinoOptions() does', (_, options, shown) => {
    for (const given of [options, sluicePinoOptions(options)]) {
      using captured = captureSluice()
      const logger = pino(given, sluicePino())
      withContext({ user, token: 't' }, () => {
        logger.info('order')
        logger.child({}).info('order')
      })
      expect(captured.logs.map(({ message }) => message)).toEqual([shown, shown])
    }
  })

  it('hides in the context what a child hides', () => {
    using captured = captureSluice()
    const logger = pino(sluicePino())
    withContext({ token: 't' }, () => {
      logger.child({}, { redact: ['token'] }).info('child')
      logger.info('parent')
    })
    expect(captured.logs.map(({ message }) => message)).toEqual([
      'child {"token":"[Redacted]"}',
      'parent {"token":"t"}',
    ])
  })

  it('leaves out a field of the context at which a serializer of the logger throws', () => {
    using captured = captureSluice()
    const serializers = {
      user: () => {
        throw new Error('boom')
      },
    }
    withContext({ user, requestId: 'r-1' }, () => pino({ serializers }, sluicePino()).info('order'))
    expect(captured.logs.map(({ message }) => message)).toEqual(['order {"requestId":"r-1"}'])
  })
})
