import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { winstonLine } from '../../src/loggers/winston-line.js'
import { lineMapper } from '../../src/records/line.js'
import type { LineMapping } from '../../src/records/line-style.js'
import { Redactor } from '../../src/records/redactor.js'
import { patternNames } from '../../src/records/secret-patterns.js'
import { runs } from '../support/full.js'
import { pinoHead } from '../support/pino-lines.js'

const secret = 'S3CRET'
const hiddenKeys = ['password', 'set-cookie', '*token*', 'naïve→key']
const arrivedAt = 1_700_000_000_000

/** A key that is hidden, in any case. */
const hiddenKey = fc
  .tuple(fc.constantFrom('password', 'set-cookie', 'accessTokenOf', 'token', 'naïve→key'), fc.boolean())
  .map(([key, upper]) => (upper ? key.toUpperCase() : key))
/** Values with the secret in every possible place. */
const hiddenValue = fc.constantFrom<unknown>(
  secret,
  `${secret}" \\ \n → 😀`,
  'x'.repeat(300) + secret,
  [secret],
  { a: { [secret]: secret } },
  { msg: secret, message: secret, stack: `Error: ${secret}\n at x` },
)
const otherKey = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.constantFrom('err', 'error', 'a', 'req', '0', 'cause', 'stack', 'log', 'level'),
)
/** Levels of objects and arrays around the secret. */
const wrappers = fc.array(fc.option(otherKey, { freq: 4 }), { maxLength: 4 })
const around = fc.dictionary(otherKey, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 })

/** The fields of a line with a secret under a hidden key. */
const fieldsWithSecret = fc.tuple(hiddenKey, hiddenValue, wrappers, around).map(([key, value, levels, others]) => {
  let fields: unknown = { [key]: value }
  for (const level of levels) fields = level === null ? [fields] : { b: 1, [level]: fields }
  return { ...others, ...(Array.isArray(fields) ? { list: fields } : (fields as object)) }
})

const styles = fc.record({
  context: fc.constantFrom('json' as const, 'logfmt' as const, 'none' as const),
  maxMessageBytes: fc.constantFrom(100, 400, 32_768),
  timestampUnit: fc.constant('ms' as const),
})
type Style = Pick<LineMapping, 'context' | 'maxMessageBytes' | 'timestampUnit' | 'redactor'>
const withRedactor = (style: Style): Style => ({
  ...style,
  redactor: new Redactor({ keys: hiddenKeys, patterns: patternNames, mask: '[redacted]' }),
})

const ofWinston = { logger: 'winston', level: 'info' } as const

/** The record of an `info` of winston without a text of JSON. */
function recordOfInfo(info: object, mapping: Style) {
  const { maxMessageBytes: maxChars, redactor } = mapping
  const { text, errors } = winstonLine(info as Record<string, unknown>, { maxChars, redactor })
  const redacted = redactor?.takeRedacted()
  return lineMapper({ ...mapping, ...ofWinston })(text, { arrivedAt, errors, redacted })
}

const records: [string, (fields: object, mapping: Style) => string][] = [
  [
    'pino',
    (fields, mapping) => {
      const line = `${pinoHead},${JSON.stringify(fields).slice(1, -1)},"msg":"m"}`
      return JSON.stringify(lineMapper(mapping)(line, { arrivedAt }).fields)
    },
  ],
  [
    'winston’s json',
    (fields, mapping) => {
      const line = JSON.stringify({ level: 'info', message: 'm', ...fields })
      return JSON.stringify(lineMapper({ ...mapping, ...ofWinston })(line, { arrivedAt }).fields)
    },
  ],
  [
    'winston',
    (fields, mapping) => JSON.stringify(recordOfInfo({ level: 'info', message: 'm', ...fields }, mapping).fields),
  ],
]

describe.each(records)('a record of %s', (_, recordOf) => {
  it('never has the value of a hidden key, whatever is around it', { timeout: 120_000 }, () => {
    fc.assert(
      fc.property(fieldsWithSecret, styles, (fields, style) => {
        expect(recordOf(fields, withRedactor(style))).not.toContain(secret)
      }),
      { numRuns: runs({ some: 300, all: 20_000 }) },
    )
  })

  it('is not changed where it has nothing to hide', { timeout: 120_000 }, () => {
    const plain = fc.dictionary(
      fc.string({ unit: 'grapheme', maxLength: 8 }).filter((key) => !/[@\d]|token/iu.test(key) && key !== '__proto__'),
      fc.oneof(
        fc.string({ unit: 'grapheme' }).filter((text) => !/[@\d]/.test(text)),
        fc.boolean(),
        fc.nat(1000),
      ),
      { minKeys: 1, maxKeys: 5 },
    )
    fc.assert(
      fc.property(plain, styles, (fields, style) => {
        expect(recordOf(fields, withRedactor(style))).toBe(recordOf(fields, style))
      }),
      { numRuns: runs({ some: 300, all: 20_000 }) },
    )
  })

  it('shows no text of a pattern, in values, keys and numbers', () => {
    const fields = {
      to: 'a\nbob@example.com\nb',
      'carol@example.com': { list: ['x dave@example.com', 4111111111111111] },
      err: { type: 'Error', message: 'Bearer abcdefgh12345', stack: 'Error: eyJhbGci.eyJzdWIi.c2ln\n at x' },
    }
    const style = { context: 'json', maxMessageBytes: 32_768, timestampUnit: 'ms' } as const
    const body = recordOf(fields, withRedactor(style))
    expect(body).not.toMatch(/bob|carol|dave|4111|abcdefgh|c2ln/)
    expect(body).toMatch(/a\\+n/)
  })
})

describe('errors and objects of winston', () => {
  const redactor = new Redactor({
    keys: [...hiddenKeys, 'cause', 'errors', 'stack'],
    patterns: patternNames,
    mask: '[redacted]',
  })
  const messageOf = (fields: object) => {
    const style = { context: 'json', maxMessageBytes: 32_768, timestampUnit: 'ms', redactor } as const
    const { fields: mapped, redacted } = recordOfInfo({ level: 'info', message: 'm', ...fields }, style)
    return [mapped.message, redacted]
  }

  it.each<[string, object]>([
    ['a field of an error', { err: Object.assign(new Error('boom'), { password: secret }) }],
    [
      'a field of its cause',
      { err: new Error('boom', { cause: Object.assign(new Error('inner'), { token: secret }) }) },
    ],
    ['a map', { map: new Map([['password', secret]]) }],
    ['an object of its own making', { user: { toJSON: () => ({ name: 'bob', password: secret }) } }],
    [
      'a getter',
      {
        user: {
          get password() {
            return secret
          },
        },
      },
    ],
    ['an array in an array', { list: [[{ password: [secret] }]] }],
    ['a key of a map', { map: new Map([[{ password: secret }, 1]]) }],
    [
      'a value beside an object as key',
      {
        map: new Map<unknown, string>([
          [{ a: 1 }, 'x'],
          ['password', secret],
        ]),
      },
    ],
    ['a cause', { err: new Error('boom', { cause: secret }) }],
    ['the cause of a cause', { err: new Error('boom', { cause: new Error('inner', { cause: { a: secret } }) }) }],
    ['the members of an error', { err: new AggregateError([new Error(secret)], 'all') }],
    ['a stack', { stack: `Error: boom\n    at ${secret}` }],
    ['the stack of an error', { err: Object.assign(new Error('boom'), { stack: `Error: boom\n    at ${secret}` }) }],
    ['a coloured token', { err: new Error(`\u001b[32meyJhbGci.eyJzdWIi.${secret}`) }],
    ['a token within JSON', { body: String.raw`{"a":"\neyJhbGci.eyJzdWIi.${secret}"}` }],
  ])('do not show %s', (_, fields) => {
    expect(messageOf(fields)).toEqual([expect.not.stringContaining(secret), true])
  })

  it('do not show the cause of a line that is an error, in any style', () => {
    for (const context of ['json', 'logfmt', 'none'] as const) {
      const keys = { keys: ['cause'], patterns: [], mask: '[redacted]' }
      const style = { context, maxMessageBytes: 32_768, timestampUnit: 'ms', redactor: new Redactor(keys) } as const
      const { stack } = new Error('boom')
      for (const info of [
        Object.assign(new Error('boom', { cause: secret }), { level: 'error' }),
        { level: 'error', message: 'm', stack, cause: secret },
        {
          level: 'error',
          message: 'm',
          stack,
          cause: secret,
          [Symbol.for('message')]: `{"cause":"${secret}","stack":"s"}`,
        },
      ]) {
        const { fields, redacted } = recordOfInfo(info, style)
        expect([fields.message, redacted]).toEqual([expect.stringContaining('caused by: [redacted]'), true])
        expect(fields.message).not.toContain(secret)
      }
    }
  })

  it('do not count where nothing is hidden', () => {
    expect(messageOf({ user: 'bob' })).toEqual(['m {"user":"bob"}', undefined])
  })
})
