import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isField, readHead } from '../../src/http/answer-head.js'
import { HeadReader } from '../../src/http/head-reader.js'
import { runs } from '../support/full.js'

const status = fc.constantFrom('HTTP/1.1 201 Created', 'HTTP/1.1 201 Created', 'HTTP/1.1 204 X', 'HTTP/1.0 201 Created')
const names = fc.constantFrom(
  ...['date', 'x-correlation-id', 'X-Correlation-Id', 'idempotency-key', 'content-length', 'connection', 'server'],
  ...['transfer-encoding', 'keep-alive', 'retry-after', 'location', 'bad name', '', 'idempotency-key-x'],
)
const values = fc.constantFrom(
  ...[
    'a',
    ' a',
    'b',
    ' ab',
    '',
    ' close',
    ' chunked',
    '5',
    ' 15',
    'timeout=72',
    'a: b',
    'tab\t',
    'nul\0',
    'bare\rcr',
    '\n',
  ],
)
const field = fc.tuple(names, values).map(([name, value]) => `${name}:${value}`)
const fields = fc.array(field, { maxLength: 6 })

describe('heads of one connection', () => {
  it('are read as each of them alone, however similar to the ones before', { timeout: 300_000 }, () => {
    // The lines of the first head, some with another value, some left out or added.
    const changes = fc.array(
      fc.tuple(fc.nat({ max: 5 }), fc.constantFrom('value', 'line', 'none', 'more'), values, field),
      { maxLength: 2 },
    )
    // The reader learns anew after ten heads.
    const others = fc.array(fc.tuple(status, changes), { maxLength: 30, size: 'max' })
    fc.assert(
      fc.property(status, fields, others, (first, lines, others) => {
        const reader = new HeadReader()
        for (const [start, changed] of [[first, []] as const, ...others]) {
          const mine = [...lines]
          for (const [at, how, value, line] of changed) {
            if (how === 'more') mine.splice(at, 0, line)
            else if (at < mine.length && how === 'none') mine.splice(at, 1)
            else if (at < mine.length) mine[at] = how === 'line' ? line : mine[at]!.replace(/:.*/s, `:${value}`)
          }
          const text = [start, ...mine].join('\r\n')
          const before = reader.learned === undefined ? undefined : { ...reader.learned }
          const answer = `more${text}\r\n\r\n`
          const behind = reader.behindAlike(answer, 'more'.length)
          if (behind !== -1 && answer.startsWith('\r\n', behind)) {
            expect(behind).toBe(answer.length - 2)
            const key = reader.keyAt === -1 ? undefined : answer.slice(reader.keyAt, reader.keyEnd)
            if (key === undefined || isField(`k:${key}`)) {
              expect(readHead(text)).toEqual({ ...before, echoedKey: key?.trim() })
            }
          }
          expect(reader.read(`${text}\r\n`)).toEqual(readHead(text))
        }
      }),
      { numRuns: runs({ some: 500, all: 25_000 }) },
    )
  })
})

describe('a head that is like the one before', () => {
  const head = (fields: Readonly<Record<string, string>>, status = 'HTTP/1.1 201 Created') =>
    `${[status, ...Object.entries(fields).map(([name, value]) => `${name}: ${value}`)].join('\r\n')}\r\n`
  const usual = { server: 'x', 'X-Correlation-Id': 'c1', 'content-length': '15', 'idempotency-key': 'k1', via: 'y' }

  it('but for the key and the correlation id is the same object with another key', () => {
    const reader = new HeadReader()
    const first = reader.read(head(usual))
    expect(first).toMatchObject({ echoedKey: 'k1' })
    for (const [id, key] of [
      ['c2', 'k2'],
      [' longer one ', ''],
      ['c3', 'k3'],
    ] as const) {
      const next = reader.read(head({ ...usual, 'X-Correlation-Id': id, 'idempotency-key': key }))
      expect(next).toBe(first)
      expect(next).toMatchObject({ echoedKey: key, status: 201 })
    }
  })

  it('but for a field that varies is read so after the next lesson, which comes after ten heads', () => {
    const reader = new HeadReader()
    const withDate = (date: number) => head({ ...usual, date: `at ${date}` })
    const first = reader.read(withDate(0))
    for (let number = 1; number < 10; number++) expect(reader.read(withDate(number))).not.toBe(first)
    const lesson = reader.read(withDate(10))
    expect(reader.read(withDate(11))).toBe(lesson)
    expect(reader.read(withDate(12))).toBe(lesson)
  })

  it.each([
    ['another status', head(usual, 'HTTP/1.1 400 Bad'), { status: 400 }],
    ['another length', head({ ...usual, 'content-length': '16' }), { framing: { type: 'length', bytes: 16 } }],
    ['a close', head({ ...usual, connection: 'close' }), { closes: true }],
    ['a field less', head({ 'content-length': '15' }), { echoedKey: undefined }],
    ['a key with a control character', head({ ...usual, 'idempotency-key': 'a\0b' }), { failure: /header line/ }],
    ['the end of another', `${head(usual)}x: y\r\n`, { status: 201 }],
  ])('is read anew with %s', (_, text, expected) => {
    const reader = new HeadReader()
    const first = reader.read(head(usual))
    const next = reader.read(text)
    expect(next).not.toBe(first)
    expect(next).toEqual(readHead(text.slice(0, -2)))
    if ('failure' in expected) expect(next).toHaveProperty('failure')
    else expect(next).toMatchObject(expected)
  })

  it('never learns that a field varies which decides about the end of an answer', () => {
    const reader = new HeadReader()
    const withLength = (bytes: number) => head({ ...usual, 'content-length': `${bytes}`, 'retry-after': `${bytes}` })
    for (let bytes = 1; bytes < 40; bytes++) {
      expect(reader.read(withLength(bytes))).toMatchObject({
        framing: { type: 'length', bytes },
        retryAfter: `${bytes}`,
      })
    }
  })

  it('takes the first of two keys', () => {
    const reader = new HeadReader()
    const twice = (key: string) => `HTTP/1.1 200 OK\r\nidempotency-key: ${key}\r\nx-correlation-id: ${key}\r\n`
    for (const key of ['a', 'b', 'c']) {
      const text = `${twice(key)}idempotency-key: other ${key}\r\nx-correlation-id: other ${key}\r\n`
      expect(reader.read(text)).toMatchObject({ echoedKey: key })
    }
  })

  it('is read anew where more fields vary than it remembers', () => {
    const reader = new HeadReader()
    const many = (turn: number) =>
      head(Object.fromEntries(Array.from({ length: 40 }, (_, number) => [`x-${number}`, `${turn}`])))
    for (let turn = 0; turn < 40; turn++) expect(reader.read(many(turn))).toEqual(readHead(many(turn).slice(0, -2)))
    expect(reader.read(many(40))).not.toBe(reader.read(many(41)))
  })
})
