import { afterAll, beforeAll, expect, it } from 'vitest'
import { createReadingClient } from '../../dist/client.js'
import { log, startReceiverForTest, value } from '../support.js'

let receiver: Awaited<ReturnType<typeof startReceiverForTest>>
beforeAll(async () => {
  receiver = await startReceiverForTest()
  const lines = [
    { message: 'request completed {"reqId":"r-1","res":{"statusCode":200}}', level: 'info' },
    {
      message: 'request failed {"reqId":"r-2","res":{"statusCode":503}}\nError: x\n    at f (a.js:1:2)',
      level: 'error',
    },
    { message: 'health check', level: 'debug', appName: 'jobs', machineName: 'web-1' },
  ]
  for (const line of lines) await receiver.call('POST', '/logs/demo', { ...log, ...line })
  for (const eventId of [1001, 1002]) await receiver.call('POST', '/value_tracking/demo', { ...value, eventId })
})
afterAll(() => receiver.close())

const ask = (path: string, q: string) =>
  receiver.call('GET', `${path}${path.includes('?') ? '&' : '?'}q=${encodeURIComponent(q)}`)

it.each([
  ['request', [2, 1]],
  ['res.statusCode>=500', [2]],
  ['-request', [3]],
  ['level>=info reqId:*', [2, 1]],
  ['fail*', [2]],
  ['host:web-* OR reqId:r-1', [3, 1]],
  ['since:2m', []],
  ['until:2100-01-01', [3, 2, 1]],
  ['', [3, 2, 1]],
])('q=%s finds the records that it means', async (q, ids) => {
  const { status, body } = await ask('/api/logs/demo', q)
  expect({ status, total: body.total, ids: body.list.map(({ id }: { id: number }) => id) }).toEqual({
    status: 200,
    total: ids.length,
    ids,
  })
})

it('is combined with the other parameters, and counts, facets and values know it', async () => {
  expect((await ask('/api/logs/demo?level=error', 'request')).body.list).toHaveLength(1)
  expect((await ask('/api/logs/demo?appName=jobs', 'app:shop')).body.list).toHaveLength(0)
  expect((await ask('/api/logs/demo/counts', 'request level:error')).body.totals).toEqual({ error: 1 })
  expect((await ask('/api/logs/demo/counts', 'level>=error')).body.totals).toEqual({ error: 1 })
  expect((await ask('/api/facets/logs?bucket=demo', 'reqId:*')).body.levels).toEqual({ info: 1, error: 1 })
  expect((await ask('/api/values/demo', 'event:1002')).body.list).toMatchObject([{ eventId: 1002 }])
  expect((await ask('/api/values/demo/counts', 'event>1001')).body.totals).toEqual({ 1002: 1 })
})

it('names a value that no record has, but no level: nothing may have gone wrong yet', async () => {
  expect((await ask('/api/logs/demo', 'app:sop')).body.hint).toContain('did you mean shop?')
  expect((await ask('/api/logs/demo', 'level>=fatal')).body).toEqual({ total: 0, list: [] })
})

it('names a field that no record has, beside empty pages, counts and errors', async () => {
  const status =
    'no record of bucket demo has a field status; known: reqId, res.statusCode; did you mean res.statusCode?'
  expect((await ask('/api/logs/demo', 'status>=500')).body).toEqual({ total: 0, list: [], hint: status })
  expect((await ask('/api/logs/demo/counts', 'status>=500')).body).toMatchObject({ total: 0, hint: status })
  const { hint } = (await receiver.call('GET', '/api/logs/demo/errors?app=sop')).body
  expect(hint).toBe('no record of bucket demo has appName sop; known: shop, jobs; did you mean shop?')
  expect((await receiver.call('GET', '/api/logs/demo/errors?since=1s')).body).not.toHaveProperty('hint')
  const reading = createReadingClient({ url: receiver.url, apiKey: receiver.apiKey! })
  expect((await reading.countLogs('demo', { q: 'status>=500' })).hint).toBe(status)
  expect((await reading.errors('demo', { app: 'sop' })).hint).toBe(hint)
})

it('finds the records of a kind of error', async () => {
  const { list } = (await receiver.call('GET', '/api/logs/demo/errors')).body
  expect(list).toMatchObject([{ type: 'Error', message: 'x', frame: 'f (a.js)', count: 1, sample: 2 }])
  expect((await ask('/api/logs/demo', `error:${list[0].id}`)).body.list.map(({ id }: { id: number }) => id)).toEqual([
    2,
  ])
  expect((await ask('/api/logs/demo', `error:${list[0].id} level:info`)).body.list).toEqual([])
  expect((await ask('/api/logs/demo', 'error:*')).body.total).toBe(1)
})

it('is refused with the place where it is wrong', async () => {
  for (const path of ['/api/logs/demo', '/api/values/demo', '/api/logs/demo/counts', '/api/facets/logs?bucket=demo']) {
    const { status, body } = await ask(path, 'a level:')
    const message = 'q: expected a value after "level:" at 9'
    expect({ status, body }).toEqual({
      status: 400,
      body: { isValid: false, validationErrors: [{ name: 'q', attemptedValue: 'a level:', message }] },
    })
  }
  expect((await ask('/api/logs/demo', 'x'.repeat(1001))).status).toBe(400)
})

it('is a filter of the reading client', async () => {
  const reading = createReadingClient({ url: receiver.url, apiKey: receiver.apiKey! })
  const found: number[] = []
  for await (const { id } of reading.logs('demo', { q: 'res.statusCode>=500' })) found.push(id)
  expect(found).toEqual([2])
  await expect(reading.logs('demo', { q: '(' }).page()).rejects.toThrow('q: expected a condition at 2')
})
