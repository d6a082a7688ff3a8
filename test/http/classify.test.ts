import { describe, expect, it } from 'vitest'
import { classify } from '../../src/http/classify.js'
import { retryAfterMs } from '../../src/http/retry-after.js'

const now = Date.parse('2026-01-01T00:00:00Z')
const outcome = (status: number, body = '', headers: { retryAfter?: string; location?: string } = {}) =>
  classify({ status, body, ...headers }, now)

describe('an answer of the service', () => {
  it.each([
    [201, '{"result":true,"validationErrors":[],"errors":[]}'],
    [200, '{"result":true}'],
    [201, ''],
    [201, 'not JSON'],
    [204, ''],
  ])('%i %s means delivered', (status, body) => {
    expect(outcome(status, body)).toEqual({ type: 'delivered' })
  })

  it.each([
    [201, '{"result":false}'],
    [200, '{"result":true,"errors":[{"correlationId":"c","message":"no"}]}'],
    [400, '{"validationErrors":[{"name":"level","attemptedValue":null,"message":"is required"}]}'],
    [413, ''],
    [415, ''],
    [422, ''],
  ])('%i %s means rejected', (status, body) => {
    expect(outcome(status, body)).toMatchObject({ type: 'rejected', status })
  })

  it('keeps what the service says is wrong with a rejected record', () => {
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

  it.each([401, 403])('%i pauses every lane of the key', (status) => {
    expect(outcome(status)).toMatchObject({ type: 'pause', scope: 'key', status })
  })

  it.each([402, 404, 412, 301, 302, 307, 308, 405, 410])('%i pauses the lane', (status) => {
    expect(outcome(status)).toMatchObject({ type: 'pause', scope: 'lane', status })
  })

  it('says where a redirect points', () => {
    expect(outcome(308, '', { location: 'https://other.example/' })).toMatchObject({
      reason: expect.stringContaining('https://other.example/'),
    })
  })

  it.each([408, 425, 429, 500, 502, 503, 504])('%i is retried', (status) => {
    expect(outcome(status)).toMatchObject({
      type: 'retry',
      status,
      exchange: 'answered',
      backPressure: status === 429 || status === 503,
    })
  })

  it('carries Retry-After along', () => {
    expect(outcome(503, '', { retryAfter: '7' })).toMatchObject({ retryAfterMs: 7000 })
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
