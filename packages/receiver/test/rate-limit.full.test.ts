import { createSluice } from 'sluice'
import { describe, expect, it, onTestFinished } from 'vitest'
import { RateLimit } from '../dist/keys/rate-limit.js'
import { caller, log, refusal, startReceiverForTest } from './support.js'

async function start(rateLimit: number) {
  const receiver = await startReceiverForTest({ rateLimit })
  onTestFinished(() => receiver.close())
  return receiver
}

const otlp = (count: number) => ({
  resourceLogs: [
    { scopeLogs: [{ logRecords: Array.from({ length: count }, () => ({ body: { stringValue: 'x' } })) }] },
  ],
})

describe('the bucket of a key', () => {
  it('holds the records of one second, and fills again with time', () => {
    let nowMs = 0
    const limit = new RateLimit(4, () => nowMs)
    const takes = (...records: number[]) => records.map((each) => limit.take('a', each))
    expect(takes(1, 2, 1, 1)).toEqual([0, 0, 0, 1])
    expect(limit.take('b', 1)).toBe(0)
    nowMs = 249
    expect(takes(1)).toEqual([1])
    nowMs = 250
    expect(takes(1, 1)).toEqual([0, 1])
    nowMs = 60_000
    expect(takes(4, 1)).toEqual([0, 1])
  })
})

describe('--rate-limit', () => {
  it('answers the records of a key beyond it with 429 and Retry-After, and not those of another key', async () => {
    const receiver = await start(3)
    const answers = await Promise.all(Array.from({ length: 60 }, () => receiver.call('POST', '/logs/demo', log)))
    const refused = answers.filter(({ status }) => status === 429)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 429]))
    for (const { headers, body } of refused) {
      expect(headers.get('retry-after')).toBe('1')
      expect(body).toEqual(refusal('has sent more than 3 records in a second'))
    }
    const { total } = (await receiver.call('GET', '/api/logs/demo')).body
    expect(total).toBe(answers.length - refused.length)
    const { key } = (await receiver.call('POST', '/api/keys', {})).body
    expect((await caller({ url: receiver.url, apiKey: key })('POST', '/logs/demo', log)).status).toBe(201)
  })

  it('counts each log of a request of OpenTelemetry', async () => {
    const receiver = await start(10)
    expect(await receiver.call('POST', '/otlp/demo/v1/logs', otlp(11))).toMatchObject({
      status: 413,
      body: { code: 8, message: 'body must not have more than 10 records' },
    })
    expect((await receiver.call('POST', '/otlp/demo/v1/logs', otlp(10))).status).toBe(200)
    const refused = await receiver.call('POST', '/otlp/demo/v1/logs', otlp(1))
    expect(refused).toMatchObject({ status: 429, body: { code: 8, message: expect.stringContaining('10 records') } })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect((await receiver.call('POST', '/api/test-record', {})).status).toBe(429)
  })

  it('delays the records of the library, and loses none', async () => {
    const { url, apiKey, call } = await start(20)
    const sluice = createSluice({ url, apiKey: apiKey!, bucket: 'demo', mode: 'inline', retryBaseMs: 100 })
    for (let id = 1; id <= 60; id++) sluice.track(id)
    expect(await sluice.close({ timeoutMs: 60_000 })).toMatchObject({ accepted: 60, delivered: 60 })
    expect((await call('GET', '/api/values/demo')).body.total).toBe(60)
  })

  it('of a program must be a whole number of records', async () => {
    for (const rateLimit of [0, 1.5, Number.NaN]) {
      await expect(startReceiverForTest({ rateLimit })).rejects.toThrow('rateLimit: expected a whole number')
    }
  })
})
