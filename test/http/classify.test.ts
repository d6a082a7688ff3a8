import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Outcome } from '../../src/delivery/sender.js'
import { classify, retryAfterMs } from '../../src/http/classify.js'
import { hide } from '../../src/options/secret.js'
import { runs } from '../support/full.js'

const now = Date.parse('2026-01-01T00:00:00Z')
const outcome = (status: number, body = '', headers: { retryAfter?: string; location?: string } = {}) =>
  classify({ status, body, ...headers }, now)

describe('an answer of the service', () => {
  it.each([
    [201, '{"result":true,"validationErrors":[],"errors":[]}'],
    [200, '{"result":true}'],
    [201, ''],
    [201, ' \r\n'],
    [201, '\ufefftrue'],
    [201, '{}'],
    [201, '{"success":true,"isValid":true,"result":true,"errors":{},"validationErrors":null}'],
    [201, '{"result":true,"errors":"","message":"created"}'],
    [201, '{"result":tr'],
    [204, ''],
  ])('%i %s means delivered', (status, body) => {
    expect(outcome(status, body)).toEqual({ type: 'delivered' })
  })

  it.each([
    [201, '{"result":false}'],
    [200, '{"result":true,"errors":[{"correlationId":"c","message":"no"}]}'],
    [400, '{"validationErrors":[{"name":"level","attemptedValue":null,"message":"is required"}]}'],
    [400, '{"isValid":false,"validationErrors":[]}'],
    [409, '{"result":null,"validationErrors":null,"errors":null}'],
    [413, '{"errors":[{"correlationId":"c","message":"too long"}]}'],
    [415, '{"errors":"no JSON"}'],
    [422, '{"validationErrors":[{"name":"message","attemptedValue":"it breaks o'],
  ])('%i %s means rejected', (status, body) => {
    expect(outcome(status, body)).toMatchObject({ type: 'rejected', status })
  })

  it.each([
    [
      '{"result":null,"validationErrors":[{"name":"level","attemptedValue":7,"message":"no text"}]}',
      ': level: no text',
    ],
    ['{"result":true,"validationErrors":["no room",null]}', ': no room'],
    ['{"isValid":false,"validationErrors":[]}', ''],
    ['{"success":false}', ''],
    ['{"success":false,"message":"the quota is used up"}', ': the quota is used up'],
    ['{"result":null,"errors":"the quota is used up"}', ': the quota is used up'],
    ['{"errors":{"correlationId":"c","message":"no"}}', ': no'],
    ['{"errors":{"level":["is required"],"appName":"too long"}}', ': level: ["is required"]; appName: too long'],
  ])('a success with %s means rejected, with the reasons in it', (body, words) => {
    for (const status of [200, 201, 202]) {
      const reason = `the service refused the record (${status})${words}`
      expect(outcome(status, body)).toMatchObject({ type: 'rejected', status, reason })
    }
  })

  it.each(['<!doctype html><title>Log in</title>', 'OK', '\n <html>', 'result=true', '[{'])(
    '201 with %j is none of the service: the lane pauses, as for a wrong URL',
    (body) => {
      expect(outcome(201, body)).toEqual({
        type: 'pause',
        status: 201,
        scope: 'lane',
        reason: expect.stringMatching(/^not the service: .*; check the URL/),
      })
      expect((outcome(201, body) as { reason: string }).reason.length).toBeLessThan(200)
    },
  )

  it('keeps the complaints of the service about a rejected record', () => {
    const body = '{"validationErrors":[{"name":"level","attemptedValue":7,"message":"must be string"}]}'
    expect(outcome(400, body)).toEqual({
      type: 'rejected',
      status: 400,
      reason: 'the service refused the record (400): level: must be string',
      validationErrors: [{ name: 'level', attemptedValue: 7, message: 'must be string' }],
    })
  })

  it.each([
    ['{"errors":[{"message":{"toString":1,"valueOf":1}}]}', '{"toString":1,"valueOf":1}'],
    ['{"errors":[null,[],{"code":7},5]}', 'null; []; {"code":7}; 5'],
    ['{"validationErrors":[{"name":{"toString":1},"message":null},null]}', '{"toString":1}: null'],
  ])('shows what stands in %s where a text is expected', (body, words) => {
    expect(outcome(400, body)).toMatchObject({ reason: `the service refused the record (400): ${words}` })
  })

  it.each<[number, string, string]>([
    [
      400,
      '<html>\r\n<head><title>400 No required SSL certificate was sent</title></head>\r\n<body>',
      'a web page answers in place of the service (400): 400 No required SSL certificate was sent; ' +
        'Sluice sends no client certificate, so set SLUICE_URL to an address that asks for none',
    ],
    [
      400,
      '<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head>',
      'a web page answers in place of the service (400): 400 The plain HTTP request was sent to HTTPS port; ' +
        'SLUICE_URL has to begin with https:',
    ],
    [
      400,
      'Client sent an HTTP request to an HTTPS server.\n',
      'an answer is not in the words of the API (400): Client sent an HTTP request to an HTTPS server.; ' +
        'SLUICE_URL has to begin with https:',
    ],
    [
      400,
      '<html><head><title>400 Request Header Or Cookie Too Large</title></head>',
      'a web page answers in place of the service (400): 400 Request Header Or Cookie Too Large; ' +
        'check the length of SLUICE_API_KEY, or raise the limit of the gateway for headers',
    ],
    [
      413,
      '<html><head><title>413 Request Entity Too Large</title></head>',
      'a web page answers in place of the service (413): 413 Request Entity Too Large; ' +
        'raise the limit of the gateway for a body, or lower SLUICE_MAX_MESSAGE_BYTES',
    ],
    [
      400,
      '{"message":"Bad Request"}',
      'an answer is not in the words of the API (400): Bad Request; check SLUICE_URL, and for a gateway or proxy on the way',
    ],
    [
      400,
      '<!doctype html><title>\u001b[31mno\nway; see below</title>',
      'a web page answers in place of the service (400): [31mno way; see below; check SLUICE_URL, and for a gateway or proxy on the way',
    ],
    [
      409,
      '',
      'an answer is not in the words of the API (409); check SLUICE_URL, and for a gateway or proxy on the way',
    ],
    [
      422,
      '{"message":"It breaks o',
      'an answer is not in the words of the API (422): {"message":"It breaks o; check SLUICE_URL, and for a gateway or proxy on the way',
    ],
  ])('%i with %j is a gateway’s: the lane pauses', (status, body, reason) => {
    expect(outcome(status, body)).toEqual({ type: 'pause', scope: 'lane', status, reason })
  })

  it.each([400, 409, 413, 415, 422])('%i is never a rejection where the API does not say what is wrong', (status) => {
    for (const body of [
      '',
      'Bad Request',
      '[]',
      'null',
      '{}',
      '{"message":"no","error":"Bad Request"}',
      '[{"errors":1}]',
    ]) {
      expect(outcome(status, body)).toMatchObject({ type: 'pause', scope: 'lane', status })
    }
  })

  it('shows a bounded part of what a gateway says, in time that does not grow with its page', () => {
    for (const body of [
      `<html>${'<title'.repeat(10_000)}`,
      `<title>${'x'.repeat(60_000)}</title>`,
      'x '.repeat(30_000),
    ]) {
      const startedAt = performance.now()
      const { reason } = outcome(400, body) as { reason: string }
      expect(reason.length).toBeLessThan(400)
      expect(performance.now() - startedAt).toBeLessThan(100)
    }
  })

  it.each([401, 403])('%i pauses every lane of the key', (status) => {
    expect(outcome(status)).toMatchObject({ type: 'pause', scope: 'key', status })
  })

  it.each([401, 403])('%i with a web page says so, and not that the key is wrong', (status) => {
    for (const body of ['<!DOCTYPE html><title>Log in</title>', '\ufeff\n <html lang=en>', '<!-- proxy -->']) {
      expect(outcome(status, body)).toEqual({
        type: 'pause',
        status,
        scope: 'key',
        reason: `a web page answers in place of the service (${status}); check SLUICE_URL, and for a login page or proxy on the way, then the key`,
      })
    }
    for (const body of ['', '{"errors":[{"message":"<html>"}]}', 'Unauthorized', '<problem/>']) {
      expect(outcome(status, body)).toMatchObject({ reason: expect.stringMatching(/^the key .*check/) })
    }
  })

  it.each([402, 404, 412, 301, 302, 307, 308, 405, 410])('%i pauses the lane', (status) => {
    expect(outcome(status)).toMatchObject({ type: 'pause', scope: 'lane', status })
  })

  it('shows the target of a redirect', () => {
    expect(outcome(308, '', { location: 'https://other.example/' })).toMatchObject({
      reason: expect.stringContaining('https://other.example/'),
    })
  })

  it.each([408, 425, 429, 500, 502, 503, 504, 507])('%i is retried', (status) => {
    expect(outcome(status)).toMatchObject({
      type: 'retry',
      status,
      exchange: 'answered',
      backPressure: status === 429 || status === 503,
    })
  })

  it('keeps the wait of Retry-After', () => {
    expect(outcome(503, '', { retryAfter: '7' })).toMatchObject({ retryAfterMs: 7000 })
    expect(outcome(503)).not.toHaveProperty('retryAfterMs')
  })

  it.each([
    [302, 'the service redirects (302); set that as the URL'],
    [503, 'the service answered 503'],
    [418, 'the service answered 418; check the URL'],
    [100, 'the service answered 100; check the URL'],
    [401, 'the key is missing or wrong (401); check SLUICE_API_KEY or SLUICE_API_KEY_FILE'],
  ])('%i says: %s', (status, reason) => {
    expect(outcome(status)).toMatchObject({ reason })
  })
})

/** Every walk that later readers make over the kept parts. */
function walk(kept: Outcome): void {
  expect(JSON.stringify(kept).length).toBeLessThan(100_000)
  expect(structuredClone(kept)).toEqual(kept)
  expect(inspect(kept, { depth: null })).toBeTypeOf('string')
  hide(kept, ['a secret of some length'])
  if (kept.type === 'delivered') return
  expect(kept.reason).toBeTypeOf('string')
  expect(kept.reason.length).toBeLessThan(1200)
  if (kept.type !== 'rejected') return
  for (const { name, message } of kept.validationErrors)
    expect([typeof name, typeof message]).toEqual(['string', 'string'])
  expect(Object.prototype).not.toHaveProperty('polluted')
}

describe('the kept part of an answer', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  it.each([
    [
      'a value that is nested 30,000 deep',
      `{"validationErrors":[{"name":"a","message":"b","attemptedValue":${nested(30_000)}}]}`,
    ],
    ['a message that is', `{"validationErrors":[{"name":"a","message":${nested(30_000)}}]}`],
    ['a name that is', `{"validationErrors":[{"name":${nested(30_000)},"message":"b"}]}`],
    ['errors that are', `{"result":false,"errors":[${nested(30_000)},{"message":${nested(300)}}]}`],
    ['20,000 errors', `{"errors":[${'{"message":"m"},'.repeat(20_000)}1]}`],
    ['a message of 60,000 characters', `{"errors":[{"message":"${'😀'.repeat(15_000)}"}]}`],
    [
      'a field __proto__',
      '{"validationErrors":[{"name":"a","message":"b","attemptedValue":{"__proto__":{"polluted":1}}}]}',
    ],
  ])('is small and shallow: %s', (_, body) => {
    for (const status of [201, 400]) walk(outcome(status, body))
  })

  it('is safe for later readers, whatever the service sends', () => {
    const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constant('x'.repeat(5000)))
    const key = fc.oneof(
      fc.string(),
      fc.constantFrom('__proto__', 'constructor', 'toString', 'toJSON', 'message', 'name'),
    )
    const number = fc.constantFrom('1e999', '-0', '1e-999', '12345678901234567890123', '0.1')
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 6 },
        text.map((each) => JSON.stringify(each)),
        number,
        fc.constantFrom('null', 'true', 'false'),
        tie('list'),
        tie('fields'),
      ),
      list: fc.array(tie('value') as fc.Arbitrary<string>, { maxLength: 6 }).map((each) => `[${each.join()}]`),
      fields: fc
        .array(fc.tuple(key, tie('value') as fc.Arbitrary<string>), { maxLength: 6 })
        .map((each) => `{${each.map(([name, of]) => `${JSON.stringify(name)}:${of}`).join()}}`),
    })) as { value: fc.Arbitrary<string> }
    const body = fc.oneof(
      value,
      fc
        .tuple(value, value, value)
        .map(
          ([name, message, attempted]) =>
            `{"validationErrors":[{"name":${name},"message":${message},"attemptedValue":${attempted}}]}`,
        ),
      fc.tuple(value, value).map(([message, error]) => `{"errors":[{"message":${message}},${error}]}`),
      fc.string(),
    )
    fc.assert(
      fc.property(fc.constantFrom(200, 201, 204, 308, 400, 401, 404, 422, 503), body, (status, sent) => {
        const headers = { location: sent, retryAfter: sent }
        walk(outcome(status, sent, headers))
      }),
      { seed: 23, numRuns: runs({ some: 300, all: 5000 }) },
    )
  })
})

describe('Retry-After', () => {
  it.each([
    ['120', 120_000],
    [' 1 ', 1000],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['99999999', 99_999_999_000],
    ['99999999999', 3_155_760_000_000],
    ['9'.repeat(400), 3_155_760_000_000],
    ['Tue, 01 Jan 2036 00:00:00 GMT', 315_532_800_000],
    ['soon', undefined],
    [undefined, undefined],
  ])('%s is %s ms', (header, expected) => {
    expect(retryAfterMs(header, now)).toBe(expected)
  })
})
