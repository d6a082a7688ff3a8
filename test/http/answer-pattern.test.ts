import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readHead } from '../../src/http/answer-head.js'
import { AnswerPattern } from '../../src/http/answer-pattern.js'
import { type AwaitingRequests, answerOf, noRequests, type ReadAnswer } from '../../src/http/read-answer.js'
import { ResponseReader } from '../../src/http/response-reader.js'
import { runs } from '../support/full.js'
import { superLinear } from '../support/linear-time.js'

/** The whole answer as a reader sees it that knows no other; undefined where it is not understood, or where more bytes follow. */
function readAlone(text: string): ReadAnswer | undefined {
  const reader = new ResponseReader()
  reader.push(Buffer.from(text, 'latin1'))
  const answer = reader.next(noRequests)?.answer
  return reader.pending || reader.failure !== undefined ? undefined : answer
}

function patternOf(text: string): AnswerPattern {
  const headLength = text.indexOf('\r\n\r\n')
  const head = readHead(text.slice(0, headLength))
  if ('failure' in head) throw new Error(head.failure)
  return new AnswerPattern(answerOf(head, { bytes: text.slice(headLength + 4), complete: true }), text, headLength)
}

/** So many requests wait, with the keys `k-0`, `k-1` and so on. */
function waiting(awaiting = 1000): AwaitingRequests {
  return { awaiting, hasKey: (ahead, key) => key === `k-${ahead}` }
}

/** All have the key that is asked for. */
const anyKey: AwaitingRequests = { awaiting: 1000, hasKey: () => true }

type Fields = Readonly<Record<string, string>>

const textOf = (fields: Fields, { status = 'HTTP/1.1 201 Created', body = '{}' } = {}) =>
  `${[status, ...Object.entries(fields).map(([name, value]) => `${name}: ${value}`)].join('\r\n')}\r\n\r\n${body}`

const usual = { server: 'x', 'X-Correlation-Id': 'c1', 'content-length': '2', 'idempotency-key': 'k-0', via: 'y' }

const status = fc.constantFrom('HTTP/1.1 201 Created', 'HTTP/1.1 201 Created', 'HTTP/1.1 204 X', 'HTTP/1.0 201 Created')
const names = fc.constantFrom(
  ...['date', 'x-correlation-id', 'X-Correlation-Id', 'idempotency-key', 'content-length', 'connection', 'server'],
  ...['transfer-encoding', 'keep-alive', 'retry-after', 'location', 'bad name', '', 'idempotency-key-x', 'x-', 'Age'],
)
const values = fc.constantFrom(
  ...['a', ' a', 'b', ' ab', '', ' close', ' chunked', '5', ' 15', 'timeout=72', 'a: b', 'date:', 'x-a: b\r\nage: 1'],
  ...['tab\t', 'nul\0', 'bare\rcr', '\n', ' k-0'],
)
const field = fc.tuple(names, values).map(([name, value]) => `${name}:${value}`)

describe('the pattern of an answer', () => {
  it('finds no other answers than those that are read alike, however similar they are', { timeout: 300_000 }, () => {
    // The lines of the first head, some with another value, some left out or added.
    const changes = fc.array(
      fc.tuple(fc.nat({ max: 5 }), fc.constantFrom('value', 'value', 'line', 'none', 'more'), values, field),
      { maxLength: 2 },
    )
    const others = fc.array(fc.tuple(status, changes, fc.constantFrom('12345', '12345', '1234x')), { maxLength: 30 })
    let found = 0
    fc.assert(
      fc.property(status, fc.array(field, { maxLength: 6 }), others, (first, more, others) => {
        const lines = [...more, 'content-length:5']
        const text = `${[first, ...lines].join('\r\n')}\r\n\r\n12345`
        const own = readAlone(text)
        if (own === undefined) return
        const pattern = patternOf(text)
        for (const [start, changed, body] of others) {
          const mine = [...lines]
          for (const [at, how, value, line] of changed) {
            if (how === 'more') mine.splice(at, 0, line)
            else if (at < mine.length && how === 'none') mine.splice(at, 1)
            else if (at < mine.length) mine[at] = how === 'line' ? line : mine[at]!.replace(/:.*/s, `:${value}`)
          }
          const other = `${[start, ...mine].join('\r\n')}\r\n\r\n${body}`
          let asked: string | undefined
          const hasKey = (_: number, key: string) => {
            asked = key
            return true
          }
          const run = pattern.find(`more${other}`, 4, { awaiting: 1, hasKey })
          if (run === undefined) continue
          found++
          expect(run.end).toBe(4 + other.length)
          expect(readAlone(other)).toEqual({ ...own, echoedKey: asked?.trim() })
        }
      }),
      { numRuns: runs({ some: 1000, all: 25_000 }) },
    )
    expect(found).toBeGreaterThan(100)
  })

  it.each([
    ...['date', 'x-correlation-id', 'X-Request-Time', 'x-', 'ETag', 'age', 'CF-Ray', 'traceparent', 'server-timing'],
    ...['Request-Id', 'set-cookie', 'report-to'],
  ])('leaves open the value of %s', (name) => {
    const pattern = patternOf(textOf({ ...usual, [name]: 'one' }))
    for (const value of ['two', '', ' with blanks ', 'grün: 1']) {
      const text = textOf({ ...usual, [name]: value })
      expect(pattern.find(text, 0, waiting())).toMatchObject({ count: 1, key: 'right', end: text.length })
    }
    expect(pattern.find(textOf({ ...usual, [name]: 'nul\0' }), 0, waiting())).toBeUndefined()
    expect(pattern.find(textOf({ ...usual, [name]: 'a\nb' }), 0, waiting())).toBeUndefined()
  })

  it.each([
    ['another status', textOf(usual, { status: 'HTTP/1.1 400 Bad' })],
    ['another length', textOf({ ...usual, 'content-length': '3' })],
    ['another body', textOf(usual, { body: '[]' })],
    ['a close', textOf({ ...usual, connection: 'close' })],
    ['a field less', textOf({ 'content-length': '2' })],
    ['a field more', textOf({ ...usual, date: 'today' })],
    ['another value of any other field', textOf({ ...usual, server: 'z' })],
    ['a key with a control character', textOf({ ...usual, 'idempotency-key': 'k-0\0' })],
    ['the key of another request', textOf({ ...usual, 'idempotency-key': 'k-7' })],
    ['blanks behind the key', textOf({ ...usual, 'idempotency-key': 'k-0 ' })],
    ['a part of its body', textOf(usual).slice(0, -1)],
  ])('does not find an answer with %s', (_, text) => {
    const pattern = patternOf(textOf(usual))
    expect(pattern.find(text, 0, waiting())).toBeUndefined()
    expect(pattern.find(textOf(usual) + text, 0, waiting())).toMatchObject({ count: 1, end: textOf(usual).length })
  })

  it('finds an answer with the key of its request, with a blank before it and without', () => {
    const pattern = patternOf(textOf(usual))
    for (const text of [textOf(usual), textOf(usual).replace('key: k-0', 'key:k-0')]) {
      expect(pattern.find(text, 0, waiting())).toMatchObject({ count: 1, key: 'right' })
    }
  })

  it('takes the first of two keys', () => {
    const twice = (key: string, other: string) =>
      `HTTP/1.1 200 OK\r\ncontent-length: 0\r\nidempotency-key: ${key}\r\nidempotency-key: ${other}\r\n\r\n`
    const pattern = patternOf(twice('a', 'b'))
    expect(pattern.find(twice('k-0', 'c') + twice('k-1', 'd') + twice('e', 'k-2'), 0, waiting())?.count).toBe(2)
  })

  it('finds as many answers as stand behind one another, and no more than requests wait', () => {
    const piece = fc
      .constantFrom('a', 'b', 'ab', '')
      .map((body) => textOf({ 'content-length': `${body.length}` }, { body }))
    const times = fc.nat({ max: 300 })
    fc.assert(
      fc.property(piece, fc.array(fc.tuple(times, piece), { maxLength: 6 }), times, (once, parts, most) => {
        const pattern = patternOf(once)
        for (const [count, end] of parts) {
          const text = `x${once.repeat(count)}${end}`
          let expected = 0
          while (expected < most && text.startsWith(once, 1 + expected * once.length)) expected++
          const run = pattern.find(text, 1, waiting(most))
          if (expected === 0) expect(run).toBeUndefined()
          else expect(run).toMatchObject({ count: expected, key: 'none', end: 1 + expected * once.length })
        }
      }),
      { seed: 2, numRuns: runs({ some: 150, all: 5000 }) },
    )
  })

  it('finds answers in time that is linear in the text', () => {
    const once = textOf(usual)
    const pattern = patternOf(once)
    const work = (length: number) => {
      const text = once.repeat(length / 64)
      return () => {
        // Each search ends at the bound, and the next one goes on behind it.
        for (let at = 0; at < text.length; ) at = pattern.find(text, at, { ...anyKey, awaiting: 3 })!.end
      }
    }
    expect(superLinear(work)).toBeUndefined()
  })
})
