import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { log, startReceiverForTest, value } from './support.js'

let receiver: Awaited<ReturnType<typeof startReceiverForTest>>
beforeEach(async () => {
  receiver = await startReceiverForTest()
})
afterEach(() => receiver.close())

const errors = (query = '') => receiver.call('GET', `/api/logs/demo/errors?${query}`)
const send = (fields: object) => receiver.call('POST', '/logs/demo', { ...log, level: 'error', ...fields })

describe('errors by kind', () => {
  it('are counted with the records, once for a repeated attempt, and not for values', async () => {
    for (let attempt = 0; attempt < 3; attempt++) {
      const body = { ...log, level: 'error', message: `order ${attempt} failed` }
      await receiver.call('POST', '/logs/demo', body, { 'idempotency-key': 'k' })
    }
    await receiver.call('POST', '/value_tracking/demo', value)
    const { total, list } = (await errors()).body
    expect([total, list[0].message, list[0].count]).toEqual([1, 'order <n> failed', 1])
  })

  it('take a time ago, and odd times and texts', async () => {
    const old = Date.now() - 3 * 3_600_000
    await send({ message: 'old \u0000 \ud800', timeStamp: old, appName: '\ud800', appVersion: 'a\u0000b' })
    await send({ message: 'young', timeStamp: Date.now() })
    await send({ message: 'late', timeStamp: 9.9e13 })
    await send({ message: 'early', timeStamp: -9.9e13 })
    const messages = async (query: string) =>
      (await errors(query)).body.list.map(({ message }: { message: string }) => message).sort()
    expect(await messages('')).toEqual(['early', 'late', 'old \ufffd', 'young'].sort())
    expect(await messages('since=2h')).toEqual(['late', 'young'])
    expect(await messages('since=4h&limit=10')).toEqual(['late', 'old \ufffd', 'young'].sort())
    expect(await messages(`app=${encodeURIComponent('shop')}&since=2h`)).toEqual(['late', 'young'])
    const { list, from } = (await errors()).body
    expect(from).toBe('0000-01-01T00:00:00.000Z')
    for (const { steps, count } of list) expect(steps.reduce((sum: number, step: number) => sum + step)).toBe(count)
  })

  it.each([
    ['since=yesterday', 'since must be'],
    ['limit=0', 'limit must be'],
    ['limit=1001', 'limit must be'],
    ['level=error', 'level is not a field of a query'],
  ])('answer 400 to ?%s', async (query, message) => {
    const { status, body } = await errors(query)
    expect(status).toBe(400)
    expect(body.validationErrors[0].message).toContain(message)
  })

  it('answer 404 for a bucket that is not there', async () => {
    expect((await receiver.call('GET', '/api/logs/nothing/errors')).status).toBe(404)
  })
})
