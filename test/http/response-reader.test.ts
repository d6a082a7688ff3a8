import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AwaitingRequests } from '../../src/http/read-answer.js'
import { ResponseReader } from '../../src/http/response-reader.js'
import { runs } from '../support/full.js'

/** As many as come, whose keys nobody knows. */
const requests: AwaitingRequests = { awaiting: 1000, hasKey: () => false }

/** All that is read from a connection: the answers, the place where reading ended, and the answer that its end added. */
function read(chunks: readonly Buffer[]) {
  const reader = new ResponseReader()
  const answers: unknown[] = []
  for (const chunk of chunks) {
    reader.push(chunk)
    for (let run = reader.next(requests); run !== undefined; run = reader.next(requests)) {
      for (let each = 0; each < run.count; each++) answers.push(run.answer)
    }
  }
  const { over, failure } = reader
  const atEnd = reader.end(requests)?.answer
  return { answers, over, failure, atEnd }
}

/** The same without the reason: the pieces may decide which of several faults is seen first. */
function outcome(chunks: readonly Buffer[]) {
  const { failure, ...rest } = read(chunks)
  return { ...rest, understood: failure === undefined }
}

const bytes = (text: string) => Buffer.from(text, 'latin1')
const readText = (text: string) => read([bytes(text)])
const body = '{"result":true}'
const plain = `HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n${body}`
const chunkedHead = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

/** Answers that are understood, and the values that are read. */
const understood: Record<string, [text: string, answer: object]> = {
  'a plain one': [plain, { status: 201, body, complete: true, version: '1.1', closes: false, last: false }],
  'no reason, not even a space': ['HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n', { status: 200, body: '' }],
  'no spaces, or many, around values': [
    'HTTP/1.1 429 Too Many\r\nContent-Length:2\r\nRetry-After: \t 7 \t\r\nx:\r\n\r\n{}',
    { status: 429, body: '{}', retryAfter: '7' },
  ],
  '204': ['HTTP/1.1 204 No Content\r\nserver: x\r\n\r\n', { status: 204, body: '', last: false }],
  '204 that says its body is empty': ['HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n', { status: 204 }],
  '304 with the length of what is not sent': [
    'HTTP/1.1 304 X\r\ncontent-length: 50\r\n\r\n',
    { status: 304, body: '' },
  ],
  chunks: [`${chunkedHead}8\r\n{"result\r\n7;a="b"\r\n":true}\r\n0\r\n\r\n`, { status: 200, body, complete: true }],
  'chunks with trailers': [`${chunkedHead}00F\r\n${body}\r\n0\r\nx-sum: 1\r\nx: \r\n\r\n`, { body, complete: true }],
  'no chunk at all': [`${chunkedHead}0\r\n\r\n`, { status: 200, body: '', complete: true }],
  'interim answers before it': [
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${plain}`,
    { status: 201, body },
  ],
  'a body that is not ASCII': ['HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n"gr\xc3\xbc\xc3\x9f"', { body: '"grüß"' }],
  'every header that matters': [
    'HTTP/1.1 503 X\r\nretry-after: 3\r\nlocation: /y\r\nX-Correlation-Id: c\r\nidempotency-key: k-1\r\n' +
      'keep-alive: timeout=72, max=3\r\ncontent-length: 0\r\n\r\n',
    { status: 503, retryAfter: '3', location: '/y', echoedKey: 'k-1', keepAliveMs: 72_000 },
  ],
  'HTTP/1.0 that keeps the connection': [
    'HTTP/1.0 200 OK\r\nconnection: Keep-Alive\r\ncontent-length: 0\r\n\r\n',
    { version: '1.0', last: false },
  ],
}

/** Answers after which no other can come. */
const final: Record<string, [text: string, answer: object]> = {
  'Connection: close': [
    `HTTP/1.1 201 X\r\nconnection: x, CLOSE\r\ncontent-length: 0\r\n\r\n`,
    { closes: true, last: true },
  ],
  'HTTP/1.0': ['HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n', { version: '1.0', closes: false, last: true }],
}

/** Answers that end with the connection. */
const unfinished: Record<string, [text: string, answer: object]> = {
  'a body without a length': ['HTTP/1.1 200 OK\r\n\r\nall of it', { status: 200, body: 'all of it', complete: true }],
  'a body that breaks off': [
    'HTTP/1.1 201 X\r\ncontent-length: 9\r\n\r\n{"re',
    { status: 201, body: '{"re', complete: false },
  ],
  'chunks that break off': [`${chunkedHead}8\r\n{"re`, { status: 200, body: '{"re', complete: false }],
  'a body that would be too long': [
    'HTTP/1.1 201 X\r\ncontent-length: 50000000\r\n\r\n<html>',
    { status: 201, body: '<html>', complete: false },
  ],
  'a chunk that would be too long': [`${chunkedHead}FFFFFF\r\n<html>`, { body: '<html>', complete: false }],
}

/** Bytes that are not understood, and the status, which counts where the head was whole. */
const strange: Record<string, [text: string, reason: RegExp, status?: number]> = {
  garbage: ['\x00\x01 this is not HTTP \r\n\r\n', /status line/],
  'HTTP/2': ['HTTP/2 200\r\n\r\n', /status line/],
  'HTTP/1.2': ['HTTP/1.2 200 OK\r\n\r\n', /status line/],
  'a status of two digits': ['HTTP/1.1 20 OK\r\n\r\n', /status line/],
  'a status of four digits': ['HTTP/1.1 2011 OK\r\n\r\n', /status line/],
  'a status that HTTP does not have': ['HTTP/1.1 600 X\r\n\r\n', /status line/],
  'another protocol (101)': ['HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\n', /101/],
  'a folded header': ['HTTP/1.1 200 OK\r\nx: a\r\n b\r\ncontent-length: 0\r\n\r\n', /header line/],
  'a space before the colon': ['HTTP/1.1 200 OK\r\ncontent-length : 0\r\n\r\n', /header line/],
  'a header without a colon': ['HTTP/1.1 200 OK\r\nx\r\n\r\n', /header line/],
  'a header without a name': ['HTTP/1.1 200 OK\r\n: x\r\n\r\n', /header line/],
  'a bare LF': ['HTTP/1.1 200 OK\ncontent-length: 0\n\n', /status line/],
  'a bare LF among CRLFs': ['HTTP/1.1 200 OK\r\nx: y\ncontent-length: 0\r\n\r\n', /header line|bare LF/],
  'a bare CR': ['HTTP/1.1 200 OK\r\nx: y\rz\r\n\r\n', /header line/],
  'two lengths': ['HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n', /twice/],
  'the same length twice': ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\nContent-Length: 0\r\n\r\n', /twice/],
  'a list of lengths': ['HTTP/1.1 200 OK\r\ncontent-length: 0, 0\r\n\r\n', /not a number/],
  'a negative length': ['HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n', /not a number/],
  'a length with a sign': ['HTTP/1.1 200 OK\r\ncontent-length: +1\r\n\r\n', /not a number/],
  'an empty length': ['HTTP/1.1 200 OK\r\ncontent-length:\r\n\r\n', /not a number/],
  'a length beyond all numbers': ['HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999\r\n\r\n', /not a number/],
  'a length beside chunks': [
    'HTTP/1.1 200 OK\r\ncontent-length: 0\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    /beside/,
  ],
  'another coding': ['HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n', /not chunked/],
  'two codings': ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n', /twice/],
  'chunks in HTTP/1.0': ['HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', /1\.0/],
  '204 with a body': ['HTTP/1.1 204 X\r\ncontent-length: 1\r\n\r\n', /204/],
  'an interim answer with a body': ['HTTP/1.1 100 X\r\ncontent-length: 1\r\n\r\n', /100/],
  'interim answers without end': ['HTTP/1.1 100 Continue\r\n\r\n'.repeat(40), /interim/],
  'a head without end': [`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(17_000)}`, /too long/],
  'a chunk size that is no number': [`${chunkedHead}x\r\n`, /chunks/, 200],
  'a chunk size with a space': [`${chunkedHead}1 \r\na\r\n`, /chunks/, 200],
  'a chunk size with a bare LF': [`${chunkedHead}1\na\r\n0\r\n\r\n`, /chunks/, 200],
  'a chunk that is longer than it said': [`${chunkedHead}1\r\nab\r\n0\r\n\r\n`, /chunks/, 200],
  'chunks that are longer than anything': [`${chunkedHead}FFFFFFFF\r\n${' '.repeat(1100)}`, /too long/, 200],
  'chunks with endless extensions': [`${chunkedHead}${`1;${'x'.repeat(1000)}\r\ny\r\n`.repeat(600)}`, /too long/, 200],
  'a chunk size line without end': [`${chunkedHead}1;${'x'.repeat(2000)}`, /chunks/, 200],
  'a longer chunk size with a bare LF': [`${chunkedHead}10\na\r\n0\r\n\r\n`, /chunks/, 200],
  'a trailer with a bare LF': [`${chunkedHead}0\r\nx: yz\n\r\n`, /chunks/, 200],
  'a trailer that is no header': [`${chunkedHead}0\r\nx\r\n\r\n`, /chunks/, 200],
  'a body of 50 MB': [`HTTP/1.1 201 X\r\ncontent-length: 50000000\r\n\r\n${' '.repeat(1100)}`, /too long/, 201],
  'a body without length or end': [`HTTP/1.1 201 X\r\n\r\n${'x'.repeat(65_537)}`, /too long/, 201],
}

describe('an answer', () => {
  it.each(Object.entries(understood))('is understood: %s', (_, [text, answer]) => {
    const { answers, over, failure, atEnd } = readText(text)
    expect({ over, failure, atEnd }).toEqual({ over: false, failure: undefined, atEnd: undefined })
    expect(answers).toEqual([expect.objectContaining(answer)])
  })

  it.each(Object.entries(final))('is the last of its connection: %s', (_, [text, answer]) => {
    const { answers, over, failure } = readText(text + plain)
    expect({ over, failure }).toEqual({ over: true, failure: undefined })
    expect(answers).toEqual([expect.objectContaining(answer)])
  })

  it.each(Object.entries(unfinished))('ends with its connection: %s', (_, [text, answer]) => {
    const { answers, failure, atEnd } = readText(text)
    expect({ answers, failure }).toEqual({ answers: [], failure: undefined })
    expect(atEnd).toMatchObject(answer)
  })

  it.each(Object.entries(strange))('is not understood: %s; the bytes before count', (_, [text, reason, status]) => {
    const { answers, over, failure, atEnd } = readText(plain + text + plain)
    expect({ over, atEnd }).toEqual({ over: true, atEnd: undefined })
    expect(failure).toMatch(reason)
    const counted = [expect.objectContaining({ status: 201, body })]
    if (status !== undefined) counted.push(expect.objectContaining({ status, complete: false }))
    expect(answers).toEqual(counted)
  })

  it('is not there before its last byte, and breaks off without a status before the end of its head', () => {
    for (let cut = 0; cut < plain.length; cut++) {
      const { answers, over, atEnd } = readText(plain.slice(0, cut))
      expect({ answers, over }).toEqual({ answers: [], over: false })
      expect(atEnd !== undefined).toBe(cut >= plain.indexOf('\r\n\r\n') + 4)
    }
  })

  it('that is the same as the one before is the same object', () => {
    const [first, second] = readText(plain + plain).answers
    expect(second).toBe(first)
  })

  it('that comes again after others is the same object, and so are the others once they have come for some time', () => {
    const other = (body: number) => `HTTP/1.1 200 X\r\ncontent-length: 1\r\n\r\n${body}`
    const again = (body: number) => other(body).repeat(8)
    const { answers } = readText(plain + again(1) + other(1) + plain + again(2) + plain + other(2) + other(1))
    const [first, ...more] = answers
    expect(more[8]).toBe(more[7])
    for (const index of [9, 18]) expect(more[index]).toBe(first)
    expect(more[19]).toBe(more[17])
    // Two are known at once.
    expect(more[20]).toEqual(more[7])
    expect(more[20]).not.toBe(more[7])
  })

  it('that begins like the one before is another one', () => {
    const longer = `${plain.replace('Length: 15', 'Length: 16')} `
    const shorter = 'HTTP/1.1 201 X\r\ncontent-length: 1\r\n\r\n1'
    const { answers } = readText(
      plain + longer + plain + shorter + shorter.replace('length: 1', 'length: 12') + '2'.repeat(11),
    )
    expect(answers.map((answer) => (answer as { body: string }).body)).toEqual([
      body,
      `${body} `,
      body,
      '1',
      `1${'2'.repeat(11)}`,
    ])
  })
})

const corpus = [understood, final, unfinished, strange].flatMap((group) => Object.entries(group))
/** The short texts. */
const short = corpus.filter(([, [text]]) => text.length < 500)

describe('the same bytes', () => {
  it.each(short)('give the same, cut at every byte and at every two: %s', (_, [text]) => {
    const whole = bytes(plain + text + plain)
    const expected = outcome([whole])
    for (let first = 0; first <= whole.length; first++) {
      expect(outcome([whole.subarray(0, first), whole.subarray(first)])).toEqual(expected)
    }
    const from = plain.length
    const to = from + text.length
    for (let first = from; first < to; first++) {
      for (let second = first + 1; second <= Math.min(to, first + 40); second++) {
        const pieces = [whole.subarray(0, first), whole.subarray(first, second), whole.subarray(second)]
        expect(JSON.stringify(outcome(pieces))).toBe(JSON.stringify(expected))
      }
    }
  })

  it.each(corpus)('give the same, byte by byte: %s', (_, [text]) => {
    const whole = bytes(plain + text + plain)
    expect(outcome(Array.from(whole, (_, at) => whole.subarray(at, at + 1)))).toEqual(outcome([whole]))
  })

  it('give the same in every grouping of several answers', () => {
    const answers = fc.array(fc.constantFrom(...short.map(([, [text]]) => text), plain, plain), { maxLength: 6 })
    const sizes = fc.array(fc.integer({ min: 1, max: 120 }), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(answers, sizes, (texts, lengths) => {
        const whole = bytes(texts.join(''))
        const pieces: Buffer[] = []
        for (let at = 0, turn = 0; at < whole.length; turn++) {
          const next = at + lengths[turn % lengths.length]!
          pieces.push(whole.subarray(at, next))
          at = next
        }
        expect(outcome(pieces)).toEqual(outcome([whole]))
        // Each text is read as it is alone, up to the first that ends the connection.
        const alone: unknown[] = []
        for (const text of texts) {
          const { answers, over } = read([bytes(text)])
          alone.push(...answers)
          if (over || answers.length === 0) break
        }
        expect(read([whole]).answers.slice(0, alone.length)).toEqual(alone)
      }),
      { seed: 7, numRuns: runs({ some: 100, all: 5000 }) },
    )
  })
})

describe('random bytes', () => {
  const answersOf = (chunks: readonly Buffer[]) =>
    read(chunks).answers.concat(read(chunks).atEnd ?? []) as { status: number }[]

  it('never throw, and are no answer', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 8 }), (pieces) => {
        expect(answersOf(pieces.map((piece) => Buffer.from(piece)))).toEqual([])
      }),
      { seed: 11, numRuns: runs({ some: 100, all: 5000 }) },
    )
  })

  it('in an answer never make a success of a failure', () => {
    const refused = 'HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 4\r\n\r\nbusy'
    const changed = fc.record({
      text: fc.constantFrom(refused, refused.replace('content-length: 4', 'x: y'), refused.replace('503', '429')),
      at: fc.integer({ min: 12, max: refused.length }),
      remove: fc.integer({ min: 0, max: 6 }),
      insert: fc.uint8Array({ maxLength: 6 }),
      cut: fc.integer({ min: 0, max: refused.length }),
    })
    fc.assert(
      fc.property(changed, ({ text, at, remove, insert, cut }) => {
        const whole = Buffer.concat([bytes(text.slice(0, at)), insert, bytes(text.slice(at + remove)), bytes(refused)])
        const statuses = answersOf([whole.subarray(0, cut), whole.subarray(cut)]).map(({ status }) => status)
        expect(statuses.filter((status) => status < 300)).toEqual([])
      }),
      { seed: 13, numRuns: runs({ some: 100, all: 5000 }) },
    )
  })

  it('after an answer that is whole change nothing about it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), (noise) => {
        const { answers } = read([Buffer.concat([bytes(plain), noise])])
        expect(answers).toEqual([expect.objectContaining({ status: 201, body })])
      }),
      { seed: 17, numRuns: runs({ some: 100, all: 5000 }) },
    )
  })

  it.each<[string, (size: number) => string]>([
    ['chunks with long extensions', (size) => chunkedHead + `1;${'x'.repeat(1000)}\r\ny\r\n`.repeat(size / 1000)],
    ['one long chunk', (size) => `${chunkedHead}${size.toString(16)}\r\n${'x'.repeat(size)}\r\n0\r\n\r\n`],
    ['trailers', (size) => `${chunkedHead}0\r\n${'x: y\r\n'.repeat(size / 40)}\r\n`],
    ['a head of short lines', (size) => `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(size / 100)}\r\n`],
    ['interim answers', (size) => `HTTP/1.1 103 X\r\nlink: ${'x'.repeat(size / 30)}\r\n\r\n`.repeat(30) + plain],
  ])('of %s, one at a time, are read in time that is linear in their number', (_, textOf) => {
    const took = (size: number) => {
      const pieces = Array.from(bytes(textOf(size)), (byte) => Buffer.of(byte))
      const startedAt = performance.now()
      read(pieces)
      return performance.now() - startedAt
    }
    let few = Number.POSITIVE_INFINITY
    let many = Number.POSITIVE_INFINITY
    // The best of several rounds, because other work runs on this machine, too.
    for (let round = 0; round < 10 && !(many / few < 9); round++) {
      few = Math.min(few, took(60_000))
      many = Math.min(many, took(240_000))
    }
    // For four times the bytes a quadratic reader takes sixteen times as long.
    expect(many / few).toBeLessThan(9)
  })

  it('in great numbers, byte by byte, take linear time', () => {
    const long = bytes(`HTTP/1.1 201 X\r\ncontent-length: 65000\r\n\r\n${'x'.repeat(65_000)}`)
    const many = bytes(`${chunkedHead}${'1\r\nx\r\n'.repeat(10_000)}0\r\n\r\n`)
    for (const whole of [long, many]) {
      const { answers } = read(Array.from(whole, (_, at) => whole.subarray(at, at + 1)))
      expect(answers).toEqual([expect.objectContaining({ complete: true })])
    }
  })
})

describe('bytes that cannot become an answer', () => {
  it.each([
    ['other letters', 'GET / ', /not HTTP\/1/],
    ['a first letter', 'x', /not HTTP\/1/],
    ['another version', 'HTTP/2', /not HTTP\/1/],
    ['another letter behind the version', 'HTTP/1x', /not HTTP\/1/],
    ['a bare LF behind the status', 'HTTP/1.1 200 OK\n', /bare LF/],
    ['a bare LF in a field', 'HTTP/1.1 200 OK\r\nx: y\n', /bare LF/],
    ['a head that is too long', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(16_384)}`, /too long/],
  ])('fail at once, in one piece and byte by byte: %s', (_, text, reason) => {
    expect(readText(text)).toMatchObject({ over: true, failure: expect.stringMatching(reason) })
    const whole = bytes(text)
    expect(read(Array.from(whole, (_, at) => whole.subarray(at, at + 1)))).toMatchObject({
      over: true,
      failure: expect.stringMatching(reason),
    })
  })
})

describe('the bounds of an answer', () => {
  const withHead = (length: number) => {
    const start = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\nx: '
    return `${start}${'y'.repeat(length - start.length)}\r\n\r\n`
  }

  it('are 16 KiB for its head', () => {
    expect(readText(withHead(16_384)).answers).toHaveLength(1)
    expect(readText(withHead(16_385))).toMatchObject({ answers: [], failure: expect.stringMatching(/too long/) })
  })

  it('are the same where all but one field is like the answer before', () => {
    const withId = (length: number) => {
      const start = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\nx-correlation-id: '
      return `${start}${'y'.repeat(length - start.length)}\r\n\r\n`
    }
    expect(readText(withId(100) + withId(16_384)).answers).toHaveLength(2)
    expect(readText(withId(100) + withId(16_385))).toMatchObject({
      answers: [{ status: 200 }],
      failure: expect.stringMatching(/too long/),
    })
  })

  it('are 64 KiB for its body, and 32 interim answers before it', () => {
    const withBody = (size: number) => `HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n${'x'.repeat(size)}`
    expect(readText(withBody(65_536)).answers).toEqual([expect.objectContaining({ complete: true })])
    expect(readText(withBody(65_537)).answers).toEqual([expect.objectContaining({ complete: false })])
    const interim = 'HTTP/1.1 100 Continue\r\n\r\n'
    expect(readText(interim.repeat(32) + plain).answers).toHaveLength(1)
    expect(readText(interim.repeat(33) + plain).answers).toHaveLength(0)
    expect(readText((interim.repeat(20) + plain).repeat(3)).answers).toHaveLength(3)
  })

  it.each([999, 5000, 70_000])(
    'are 512 KiB on the wire for a chunked body, which may come in pieces of %d bytes',
    (size) => {
      const endless = bytes(chunkedHead + `1;${'x'.repeat(1000)}\r\ny\r\n`.repeat(600))
      const pieces = Array.from({ length: Math.ceil(endless.length / size) }, (_, turn) =>
        endless.subarray(turn * size, turn * size + size),
      )
      expect(read(pieces)).toMatchObject({ over: true, failure: expect.stringMatching(/too long/) })
    },
  )

  it('let 1 KiB of a body that is too long be read', () => {
    const long = 'HTTP/1.1 200 OK\r\ncontent-length: 70000\r\n\r\n'
    expect(readText(long + 'x'.repeat(1023)).answers).toEqual([])
    expect(readText(long + 'x'.repeat(1024)).answers).toEqual([expect.objectContaining({ body: 'x'.repeat(1024) })])
  })
})

describe('answers that say the same', () => {
  const keyed = (key: string, id = key, text = body) =>
    `HTTP/1.1 201 Created\r\nx-correlation-id: ${id}\r\nidempotency-key: ${key}\r\nContent-Length: ${text.length}\r\n\r\n${text}`
  /** Requests with the keys `k-0`, `k-1` and so on, of which so many are left. */
  const runsOf = (text: string, awaiting = 1000) => {
    const reader = new ResponseReader()
    const runs: [count: number, key: string][] = []
    let answered = 0
    const awaited: AwaitingRequests = {
      get awaiting() {
        return awaiting - answered
      },
      hasKey: (ahead, key) => key === `k-${answered + ahead}`,
    }
    reader.push(bytes(text))
    for (let run = reader.next(awaited); run !== undefined; run = reader.next(awaited)) {
      runs.push([run.count, run.key])
      answered += run.count
    }
    return runs
  }

  it('come together, as many as requests wait for them', () => {
    expect(runsOf(plain.repeat(9))).toEqual([
      [1, 'none'],
      [8, 'none'],
    ])
    expect(runsOf(plain.repeat(9), 5)).toEqual([[1, 'none'], [4, 'none'], ...new Array(4).fill([1, 'none'])])
  })

  it('come together though each has a correlation id and its own key', () => {
    const texts = Array.from({ length: 9 }, (_, index) => keyed(`k-${index}`, `id ${index * 7919}`))
    expect(runsOf(texts.join(''))).toEqual([
      [1, 'right'],
      [8, 'right'],
    ])
    expect(runsOf(texts.slice(0, 5).join('') + plain + texts.slice(6).join(''))).toEqual([
      [1, 'right'],
      [4, 'right'],
      [1, 'none'],
      [3, 'right'],
    ])
  })

  it('do not come together with others whose heads have been learned meanwhile', () => {
    const refused = (turn: number) => `${chunkedHead.replace('200 OK', `503 X\r\nx-turn: ${turn}`)}0\r\n\r\n`
    const { answers, failure } = readText(
      `HTTP/1.1 201 X\r\ncontent-length: 0\r\n\r\n${Array.from({ length: 30 }, (_, turn) => refused(turn)).join('')}`,
    )
    expect(failure).toBeUndefined()
    expect(answers).toMatchObject([{ status: 201 }, ...new Array(30).fill({ status: 503 })])
  })

  it('do not come together with one that has another key, or another body', () => {
    expect(runsOf(['k-0', 'k-1', 'k-3', 'k-3'].map((key) => keyed(key)).join(''))).toEqual([
      [1, 'right'],
      [1, 'right'],
      [1, 'wrong'],
      [1, 'right'],
    ])
    expect(runsOf(keyed('k-0') + keyed('k-1', 'id', body.replace('true', 'null')) + keyed('k-2'))).toEqual([
      [1, 'right'],
      [1, 'right'],
      [1, 'right'],
    ])
  })
})

describe('a reader', () => {
  const push = (reader: ResponseReader, text: string) => {
    reader.push(bytes(text))
    return reader.next(requests)?.answer
  }

  it('has something pending from the first byte of an answer to its last', () => {
    for (const [first, rest] of [
      ['H', plain.slice(1)],
      [plain.slice(0, 30), plain.slice(30)],
      [plain.slice(0, -5), plain.slice(-5)],
      [`${chunkedHead}8\r\n{"re`, 'sult\r\n0\r\n\r\n'],
      ['HTTP/1.1 100 Continue\r\n\r\n', plain],
    ] as const) {
      const reader = new ResponseReader()
      expect(reader.pending).toBe(false)
      expect(push(reader, first)).toBeUndefined()
      expect(reader.pending).toBe(true)
      expect(push(reader, rest)).toBeDefined()
      expect(reader.pending).toBe(false)
    }
  })

  it('has something pending while another answer has come', () => {
    const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'
    const reader = new ResponseReader()
    expect(push(reader, plain + ok)).toBeDefined()
    expect(reader.pending).toBe(true)
    reader.next(requests)
    expect(reader.pending).toBe(false)
  })

  it('gives nothing after its connection has ended, whatever comes', () => {
    const reader = new ResponseReader()
    expect(reader.end(requests)).toBeUndefined()
    expect(reader.over).toBe(true)
    expect(push(reader, plain)).toBeUndefined()
    expect(reader.pending).toBe(false)
  })

  it('gives an answer behind interim ones, or in chunks, as another object each time', () => {
    for (const text of [`HTTP/1.1 100 Continue\r\n\r\n${plain}`, `${chunkedHead}2\r\n{}\r\n0\r\n\r\n`]) {
      const reader = new ResponseReader()
      const first = push(reader, text)
      expect(push(reader, text)).toEqual(first)
      expect(push(reader, plain)).toMatchObject({ status: 201, body })
    }
  })
})
