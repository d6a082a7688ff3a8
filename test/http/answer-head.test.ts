import { describe, expect, it } from 'vitest'
import { type AnswerHead, isField, readHead } from '../../src/http/answer-head.js'

const ok = 'HTTP/1.1 200 OK'
const read = (...lines: string[]) => readHead([ok, 'content-length: 0', ...lines].join('\r\n')) as AnswerHead

describe('a field', () => {
  it.each([
    ['location: /x', { location: '/x' }],
    ['Location: /x', { location: '/x' }],
    ['retry-after: 3', { retryAfter: '3' }],
    ['idempotency-key: k', { echoedKey: 'k' }],
    ['connection: close', { closes: true, last: true }],
    ['keep-alive: timeout=5, max=7', { keepAliveMs: 5000, keepAliveMax: 7 }],
  ])('is read: %s', (line, expected) => {
    expect(read(line)).toMatchObject(expected)
  })

  it('of another name is none of them, though it is as long', () => {
    const others = ['x-lengt', 'x-keep-ali', 'x-length-11', 'x-length-of-14', 'x-length-of--15', 'x-length-of---16']
    const lines = [...others, 'x-locati', 'x-connecti', 'x-retry-aft', 'x-length-of----17'].map(
      (name) => `${name}: close`,
    )
    expect(read(...lines)).toEqual(read())
  })

  it('that stands twice counts as it stood first', () => {
    const twice = read(
      'location: a',
      'location: b',
      'retry-after: 1',
      'retry-after: 2',
      'keep-alive: max=1',
      'keep-alive: max=2',
    )
    expect(twice).toMatchObject({ location: 'a', retryAfter: '1', keepAliveMax: 1 })
    expect(
      read('idempotency-key: a', 'idempotency-key: b', 'x-correlation-id: a', 'x-correlation-id: b'),
    ).toMatchObject({
      echoedKey: 'a',
    })
  })

  it.each(['a: b', 'a:', 'A1-_.~!: \t x', 'a:\x80'])('has a name, a colon and no control character: %j', (line) => {
    expect(isField(line)).toBe(true)
  })

  it.each(['', ': b', 'a b: c', 'a', ' a: b', 'a: \x7f', 'a: \0', 'a: b\r', '(a): b'])('is not %j', (line) => {
    expect(isField(line)).toBe(false)
  })
})

describe('the header connection', () => {
  it.each([
    [['connection: close'], true],
    [['connection: Close'], true],
    [['connection: x , close , y'], true],
    [['connection: upgrade', 'connection: close'], true],
    [['connection: close', 'connection: keep-alive'], true],
    [['connection: closed'], false],
    [['connection: not-close, close2'], false],
    [['connection: keep-alive'], false],
    [[], false],
  ])('announces a close, or not: %j', (lines, closes) => {
    expect(read(...lines)).toMatchObject({ closes, last: closes })
  })

  it('keeps a connection of HTTP/1.0 only by keep-alive', () => {
    const old = (...lines: string[]) => readHead(['HTTP/1.0 200 OK', 'content-length: 0', ...lines].join('\r\n'))
    expect(old()).toMatchObject({ last: true, closes: false, version: '1.0' })
    expect(old('connection: keep-alive')).toMatchObject({ last: false })
    expect(old('connection: not-keep-alive')).toMatchObject({ last: true })
  })
})

describe('the header keep-alive', () => {
  it.each([
    ['timeout=5', 5000, undefined],
    ['max=100', undefined, 100],
    ['timeout=5, max=100', 5000, 100],
    ['max=100,timeout=5', 5000, 100],
    ['Timeout = 12 ; MAX = 34', 12_000, 34],
    ['timeout  =  5', 5000, undefined],
    ['xtimeout=5, xmax=7', undefined, undefined],
    ['x=timeout, max', undefined, undefined],
    ['timeout=x, max=y', undefined, undefined],
    ['timeout=123456789', 123_456_789_000, undefined],
    ['', undefined, undefined],
  ])('%j: so many ms, so many requests', (text, keepAliveMs, keepAliveMax) => {
    expect(read(`keep-alive: ${text}`)).toMatchObject({ keepAliveMs, keepAliveMax })
    // Read again, from what is remembered.
    expect(read(`keep-alive: ${text}`)).toMatchObject({ keepAliveMs, keepAliveMax })
  })

  it('that is not there says nothing', () => {
    expect(read()).toMatchObject({ keepAliveMs: undefined, keepAliveMax: undefined })
  })
})

describe('a head', () => {
  it('of one line has no framing: the body ends with the connection', () => {
    expect(readHead(ok)).toMatchObject({ status: 200, framing: { type: 'until-close' }, last: true, closes: false })
  })

  it('has a body by its length, by chunks or until the end', () => {
    expect(readHead(`${ok}\r\ncontent-length: 12`)).toMatchObject({
      framing: { type: 'length', bytes: 12 },
      last: false,
    })
    expect(readHead(`${ok}\r\nTransfer-Encoding: Chunked`)).toMatchObject({ framing: { type: 'chunked' }, last: false })
  })

  it.each(['HTTP/1.1 204 X', 'HTTP/1.1 304 X', 'HTTP/1.1 103 X'])('has no body with %s', (line) => {
    expect(readHead(line)).toMatchObject({ framing: { type: 'length', bytes: 0 }, last: false })
  })

  it.each([
    ['HTTP/1.1 204 X\r\ntransfer-encoding: chunked', /body with status 204/],
    ['HTTP/1.1 304 X\r\ntransfer-encoding: chunked', /body with status 304/],
    ['HTTP/1.1 199 X\r\ncontent-length: 1', /body with status 199/],
    ['HTTP/1.1 200 OK\r\ncontent-length: 1 2', /not a number/],
    ['xHTTP/1.1 200 OK', /status line/],
    ['HTTP/1.1 200 O\x01K', /status line/],
    ['HTTP/1.1  200 OK', /status line/],
  ])('is not understood: %j', (text, reason) => {
    expect(readHead(text)).toMatchObject({ failure: expect.stringMatching(reason) })
  })
})
