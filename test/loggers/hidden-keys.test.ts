import fc from 'fast-check'
import pino from 'pino'
import { sluicePino, sluicePinoOptions } from 'sluice/pino'
import { captureSluice } from 'sluice/testing'
import { SluiceTransport } from 'sluice/winston'
import { describe, expect, it } from 'vitest'
import winston from 'winston'
import { runs } from '../support/full.js'

const { align, cli, colorize, combine, errors, json, label, logstash, metadata, ms, padLevels } = winston.format
const { prettyPrint, printf, simple, splat, timestamp } = winston.format
type Format = winston.Logform.Format

const secret = 'S3CRET'
const redact = { keys: ['password', '*token*'], patterns: [], mask: '***' } as const

/** The format of a logger, and that of the transport. */
const chains: readonly (readonly [logger: Format | undefined, own?: Format])[] = [
  [undefined],
  [json({ space: 2 })],
  [combine(timestamp(), json())],
  [combine(errors({ stack: true, cause: true }), splat(), json())],
  [combine(splat(), simple())],
  [combine(colorize({ all: true }), timestamp(), align(), simple())],
  [cli()],
  [combine(padLevels(), prettyPrint())],
  [logstash()],
  [combine(metadata(), label({ label: 'error' }), ms(), json())],
  [printf(({ level, message, ...rest }) => `${level}: ${String(message)} ${JSON.stringify(rest)}`)],
  [printf((info) => `{"level":"info"} ${JSON.stringify(info)}`)],
  [printf((info) => `{${JSON.stringify(info)}}`)],
  [printf((info) => JSON.stringify(info))],
  [printf(({ message }) => String(message))],
  [printf(() => '')],
  [timestamp()],
  [undefined, json()],
  [simple(), combine(timestamp(), json())],
  [json(), label({ label: 'api' })],
  [combine(timestamp(), simple()), printf((info) => `{"a":1} ${JSON.stringify(info)} {}`)],
]

const words = fc.constantFrom(
  'error',
  'info',
  'warn',
  'level',
  '',
  ' ',
  '{',
  '{"level":"info"}',
  '}',
  'password',
  ':',
  'm',
)
const messages = fc.oneof(
  words,
  fc.string({ maxLength: 10 }),
  fc.tuple(words, words).map(([one, other]) => `${one} ${other}`),
)
/** Where the secret stands: a hidden key, and keys around it. */
const hidden = fc
  .tuple(
    fc.constantFrom('password', 'PASSWORD', 'accessToken', 'token'),
    fc.constantFrom<unknown>(secret, [secret], { a: { b: secret } }, `${secret}"}`),
    fc.array(fc.constantFrom('a', 'user', 'err', 'message', 'stack', 'meta', '0'), { maxLength: 3 }),
  )
  .map(([key, value, around]) => {
    let fields: Record<string, unknown> = { [key]: value }
    for (const outer of around) fields = { [outer]: fields, b: 1 }
    return fields
  })
const errorsWithSecret = hidden.map((fields) =>
  Object.assign(new Error('boom', { cause: Object.assign(new Error('inner'), fields) }), fields),
)
const arguments_ = fc.oneof(
  hidden.map((fields) => [fields]),
  errorsWithSecret.map((error) => [error]),
  errorsWithSecret.map((err) => [{ err }]),
  fc.tuple(hidden, hidden).map((both) => [...both]),
)
const levels = fc.constantFrom('error', 'warn', 'info')

describe('no value of a hidden key is in a record', () => {
  it('of winston, whatever the format, the level and the message are', { timeout: 300_000 }, () => {
    const calls = fc.tuple(fc.constantFrom(...chains), levels, messages, arguments_, fc.boolean())
    fc.assert(
      fc.property(calls, ([[format, own], level, message, given, isChild]) => {
        using captured = captureSluice()
        const transport = new SluiceTransport({ redact, ...(own && { format: own }) })
        const logger = winston.createLogger({ transports: [transport], ...(format && { format }) })
        const [first] = given
        if (isChild && typeof first === 'object') logger.child(first as object).log(level, message)
        else logger.log(level, message, ...given)
        expect(captured.logs).toHaveLength(1)
        expect(JSON.stringify(captured.logs)).not.toContain(secret)
      }),
      { numRuns: runs({ some: 500, all: 5000 }) },
    )
  })

  it('of pino, whatever the level and the message are', { timeout: 300_000 }, () => {
    const loggers = fc.constantFrom({}, sluicePinoOptions(), { nestedKey: 'p' }, { messageKey: 'error' })
    fc.assert(
      fc.property(loggers, levels, messages, hidden, (options, level, message, fields) => {
        using captured = captureSluice()
        const logger = pino(options, sluicePino({ redact }))
        logger[level as 'info'](fields, message)
        logger.child(fields).info(message)
        expect(captured.logs).toHaveLength(2)
        expect(JSON.stringify(captured.logs)).not.toContain(secret)
      }),
      { numRuns: runs({ some: 300, all: 5000 }) },
    )
  })
})
