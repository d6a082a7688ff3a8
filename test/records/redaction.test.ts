import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type LogFields, logHead } from '../../src/records/encode.js'
import { PinoBytes } from '../../src/records/pino-bytes.js'
import { mapPinoLine, type PinoMapping, pinoMapper } from '../../src/records/pino-line.js'
import { Redactor } from '../../src/records/redactor.js'
import { patternNames } from '../../src/records/secret-patterns.js'
import { WinstonBytes } from '../../src/records/winston-bytes.js'
import { winstonMapper } from '../../src/records/winston-info.js'
import { winstonLineMapper } from '../../src/records/winston-line.js'
import { runs } from '../support/full.js'
import { pinoHead } from '../support/pino-lines.js'
import { encoder, writtenBody } from '../support/record-bytes.js'

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
  fc.constantFrom('err', 'error', 'a', 'req', '0'),
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
type Style = Pick<PinoMapping, 'context' | 'maxMessageBytes' | 'timestampUnit'>
const withRedactor = (style: Style) => ({
  ...style,
  redactor: new Redactor({ keys: hiddenKeys, patterns: patternNames, mask: '[redacted]' }),
})

/** The body of a line of pino, in the way that the line takes. */
function pinoBody(line: string, mapping: PinoMapping): string {
  const bytes = Buffer.from(line)
  const fast = writtenBody(new PinoBytes(mapping, { tail: encoder.logTail }), bytes, 0)
  return fast ?? encoder.completeLog(logHead(mapPinoLine(pinoMapper(mapping), line, { arrivedAt }).fields))
}

const winstonAbout = { level: 'info', severity: 2, arrivedAt } as const

function winstonBody(line: string, mapping: Style): string {
  const bytes = Buffer.from(line)
  const writer = new WinstonBytes(mapping, encoder.logTail)
  const fast = writtenBody(
    {
      most: (length) => writer.most(length),
      write: (lines, from, end, memory, at) => writer.write(lines, from, end, memory, at, winstonAbout),
    },
    bytes,
    0,
  )
  return fast ?? encoder.completeLog(logHead(winstonLineMapper(mapping)(line, winstonAbout).fields))
}

const writers: [string, (fields: object, mapping: Style) => string][] = [
  ['pino', (fields, mapping) => pinoBody(`${pinoHead},${JSON.stringify(fields).slice(1, -1)},"msg":"m"}`, mapping)],
  [
    'winston’s json',
    (fields, mapping) => winstonBody(JSON.stringify({ level: 'info', message: 'm', ...fields }), mapping),
  ],
  [
    'winston',
    (fields, mapping) =>
      winstonMapper(mapping)({ level: 'info', message: 'm', ...fields, [Symbol.for('level')]: 'info' }, { arrivedAt })
        .fields.message,
  ],
]

describe.each(writers)('a line of %s', (_, bodyOf) => {
  it('never lets the value of a hidden key through, whatever is around it', { timeout: 120_000 }, () => {
    fc.assert(
      fc.property(fieldsWithSecret, styles, (fields, style) => {
        expect(bodyOf(fields, withRedactor(style))).not.toContain(secret)
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
        expect(bodyOf(fields, withRedactor(style))).toBe(bodyOf(fields, style))
      }),
      { numRuns: runs({ some: 300, all: 20_000 }) },
    )
  })
})

/** Fields that a line as bytes may have, some of them with something to hide. */
const mixedFields = fc.dictionary(
  fc.oneof({ weight: 6, arbitrary: fc.stringMatching(/^[a-z]{1,6}$/) }, hiddenKey, fc.constant('x@example.com')),
  fc.oneof(
    { weight: 4, arbitrary: fc.stringMatching(/^[a-z0-9 ]{0,20}$/) },
    fc.constantFrom(
      'to bob@example.com',
      '4111 1111 1111 1111',
      'Bearer abcdefghij',
      'eyJa.b.c',
      'http://u:p@h/',
      '@ eyJ bear',
    ),
    fc.constantFrom(4111111111111111, 1700000000000, 'a\nb@c.de', 'card 5 4111-1111-1111-1111', 'BEARER\tabcdefgh'),
    fc.constantFrom<unknown>([{ token: 1 }], { a: [{ 'set-cookie': secret }] }, { b: ['bob@example.com'] }),
  ),
  { maxKeys: 4 },
)
const asText: Record<string, (line: string, mapping: Style) => { readonly fields: LogFields }> = {
  pino: (line, mapping) => mapPinoLine(pinoMapper(mapping), line, { arrivedAt }),
  'winston’s json': (line, mapping) => winstonLineMapper(mapping)(line, winstonAbout),
}

it.each(['pino', 'winston’s json'])(
  'a line of %s is redacted as bytes as it is as text',
  { timeout: 120_000 },
  (name) => {
    fc.assert(
      fc.property(mixedFields, styles, (fields, style) => {
        const isPino = name === 'pino'
        const written = JSON.stringify(isPino ? { ...fields, msg: 'm' } : { level: 'info', message: 'm', ...fields })
        const line = isPino ? `${pinoHead},${written.slice(1)}` : written
        const mapping = withRedactor(style)
        const text = encoder.completeLog(logHead(asText[name]!(line, mapping).fields))
        expect(isPino ? pinoBody(line, mapping) : winstonBody(line, mapping)).toBe(text)
      }),
      { numRuns: runs({ some: 300, all: 20_000 }) },
    )
  },
)

it.each(writers)('a line of %s shows no text of a pattern, in values, keys and numbers', (_, bodyOf) => {
  const style = { context: 'json', maxMessageBytes: 32_768, timestampUnit: 'ms' } as const
  const fields = {
    to: 'a\nbob@example.com\nb',
    'carol@example.com': { list: ['x dave@example.com', 4111111111111111] },
    err: { type: 'Error', message: 'Bearer abcdefgh12345', stack: 'Error: eyJhbGci.eyJzdWIi.c2ln\n at x' },
  }
  const body = bodyOf(fields, withRedactor(style))
  expect(body).not.toMatch(/bob|carol|dave|4111|abcdefgh|c2ln/)
  expect(body).toMatch(/a\\+n/)
})

describe('errors and objects of winston', () => {
  const redactor = new Redactor({
    keys: [...hiddenKeys, 'cause', 'errors', 'stack'],
    patterns: patternNames,
    mask: '[redacted]',
  })
  const map = winstonMapper({ context: 'json', maxMessageBytes: 32_768, timestampUnit: 'ms', redactor })
  const messageOf = (fields: object) => {
    const mapped = map({ level: 'info', message: 'm', ...fields, [Symbol.for('level')]: 'info' }, { arrivedAt })
    return [mapped.fields.message, mapped.redacted]
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

  it('do not show a cause that winston has copied, in any style', () => {
    for (const context of ['json', 'logfmt', 'none'] as const) {
      const error = new Error('boom', { cause: secret })
      const info = { level: 'error', message: 'm', stack: error.stack, cause: secret, [Symbol.for('splat')]: [error] }
      for (const untouched of [true, false]) {
        const keys = { keys: ['cause'], patterns: [], mask: '[redacted]' }
        const style = { context, maxMessageBytes: 32_768, timestampUnit: 'ms', redactor: new Redactor(keys) } as const
        const { fields, redacted } = winstonMapper(style)(info, { arrivedAt, untouched })
        expect([fields.message, redacted]).toEqual([expect.stringContaining('caused by: [redacted]'), true])
        expect(fields.message).not.toContain(secret)
      }
    }
  })

  it('do not count where nothing is hidden', () => {
    expect(messageOf({ user: 'bob' })).toEqual(['m {"user":"bob"}', undefined])
  })
})
