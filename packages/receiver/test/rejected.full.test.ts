import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { exchange, requestBytes, statuses } from './sockets.js'
import { article, isoTime, log, startReceiverForTest } from './support.js'

let receiver: Awaited<ReturnType<typeof startReceiverForTest>>
beforeEach(async () => {
  receiver = await startReceiverForTest()
})
afterEach(() => receiver.close())

interface Item {
  readonly id: number
  readonly method: string
  readonly path: string
  readonly status: number
  readonly reason: string
  readonly body: string
  readonly appName?: string
}

/** The refused requests, once there are so many: a body that nobody reads arrives after the answer. */
async function rejected(count: number): Promise<Item[]> {
  for (;;) {
    const { items } = (await receiver.call('GET', '/api/rejected')).body
    if (items.length >= count) return items
  }
}

describe('GET /api/rejected', () => {
  it('has nothing at first, and nothing of what is accepted or only read', async () => {
    await receiver.call('POST', '/logs/demo', log)
    await receiver.call('GET', '/api/nothing')
    await receiver.call('GET', '/api/logs/demo?limit=0')
    expect((await receiver.call('GET', '/api/rejected')).body).toEqual({ items: [] })
  })

  it('shows the whole of a refused request', async () => {
    const body = JSON.stringify({ ...log, colour: 'red' })
    await receiver.call('POST', '/logs/demo', body, { 'user-agent': 'shop/1.0' })
    expect(await rejected(1)).toEqual([
      {
        id: 1,
        at: isoTime,
        method: 'POST',
        path: '/logs/demo',
        status: 400,
        reason: expect.stringContaining('colour is not a field of a log record'),
        body,
        appName: 'shop',
        userAgent: 'shop/1.0',
        remote: '127.0.0.1',
      },
    ])
  })

  it.each([
    [400, 'POST', '/logs/demo', '{"appName":"shop",', 'not JSON'],
    [400, 'POST', '/v1/value_tracking/demo', '{"appName":"shop"}', 'timeStamp is required'],
    [401, 'POST', '/logs/demo', '{"appName":"shop"}', 'not valid', { 'x-api-key': 'wrong' }],
    [401, 'POST', '/logs/demo', '{"appName":"shop"}', 'missing', { 'x-api-key': '' }],
    [404, 'POST', '/logs/nothing', '{"appName":"shop"}', 'there is no bucket nothing'],
    [404, 'POST', '/api/logs/demo', '{"appName":"shop"}', 'there is no POST /api/logs/demo'],
    [412, 'POST', '/ng-cms/content/demo/article', '{"appName":"shop"}', 'plan'],
    [415, 'POST', '/logs/demo', '{"appName":"shop"}', 'application/json', { 'content-type': 'text/plain' }],
  ] as [number, string, string, string, string, Record<string, string>?][])(
    'shows a request that got %s, with its body: %s %s',
    async (status, method, path, body, reason, headers = {}) => {
      await receiver.call('PUT', '/api/projects/demo/plan', { content: status !== 412 })
      expect((await receiver.call(method, path, body, headers)).status).toBe(status)
      const [item] = await rejected(1)
      expect(item).toMatchObject({
        status,
        method,
        path,
        body,
        appName: 'shop',
        reason: expect.stringContaining(reason),
      })
    },
  )

  it('shows a request with a content type that exists no longer', async () => {
    await receiver.call('POST', '/api/projects/demo/content-types', article)
    await receiver.call('DELETE', '/ng-cms/content-types/demo/article')
    await receiver.call('DELETE', '/ng-cms/content-types/demo/article')
    expect(await rejected(1)).toMatchObject([{ status: 404, method: 'DELETE', body: '' }])
  })

  it('keeps the beginning of huge bodies, read or not', async () => {
    const huge = JSON.stringify({ ...log, message: 'ä'.repeat(900_000) })
    expect((await receiver.call('POST', '/logs/demo', huge)).status).toBe(413)
    const large = JSON.stringify({ ...log, message: '€'.repeat(100_000), colour: 1 })
    expect((await receiver.call('POST', '/logs/demo', large)).status).toBe(400)
    const anonymous = await receiver.call('POST', '/logs/demo', large, { 'x-api-key': 'wrong' })
    expect(anonymous.status).toBe(401)
    const items = await rejected(3)
    const bodies = new Map(items.map(({ status, body }) => [status, body]))
    expect(bodies).toEqual(
      new Map([
        [413, huge.slice(0, 4096)],
        [400, large.slice(0, 4096)],
        [401, large.slice(0, 4096)],
      ]),
    )
  })

  it('shows binary bodies as text, and long paths and reasons in part', async () => {
    const body = '\xff\xfe\0\x01'
    const bytes = requestBytes({ apiKey: receiver.apiKey, body, headers: { connection: 'close' } })
    expect(statuses(await exchange(receiver.url, bytes))).toEqual([400])
    await receiver.call('POST', `/logs/${'x'.repeat(9000)}`, log)
    const [long, binary] = await rejected(2)
    expect(binary!.body).toContain('\0\x01')
    expect(long!.path).toHaveLength(1000)
    expect(long!.reason).toHaveLength(1000)
  })

  it('keeps the newest two hundred, and at most 1 MiB of text', async () => {
    for (let number = 0; number < 210; number++) await receiver.call('POST', '/logs/demo', `${number}`)
    const items = await rejected(200)
    expect(items.map(({ body }) => Number(body))).toEqual(Array.from({ length: 200 }, (_, index) => 209 - index))
    const wide = JSON.stringify({ message: '€'.repeat(4000), colour: 'red' })
    for (let number = 0; number < 150; number++) await receiver.call('POST', '/logs/demo', wide)
    const { items: bounded } = (await receiver.call('GET', '/api/rejected')).body
    expect(Buffer.byteLength(JSON.stringify(bounded))).toBeLessThanOrEqual(1_048_576 + 1000)
    expect(bounded.length).toBeLessThan(150)
    expect(bounded[0].id).toBe(360)
  })
})
