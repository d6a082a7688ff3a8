import { randomUUID } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { dataFolder } from './data-folder.js'
import { log, startReceiverForTest, value } from './support.js'

const data = dataFolder()

describe.each(['on disk', 'in memory'])('GET /api/account of a receiver %s', (place) => {
  async function start() {
    const receiver = await startReceiverForTest(place === 'on disk' ? { data: data.path } : {})
    onTestFinished(() => receiver.close())
    const repeated = async (bucket: string) =>
      (await receiver.call('GET', `/api/account?bucket=${bucket}`)).body.repeated
    return { ...receiver, repeated }
  }

  it('counts the records that came again and were stored once, by kind and bucket', async () => {
    const { call, repeated } = await start()
    await call('POST', '/api/projects', { id: 'other' })
    const [first, second] = [{ 'idempotency-key': randomUUID() }, { 'idempotency-key': randomUUID() }]
    expect(await repeated('demo')).toEqual({ logs: 0, values: 0 })
    for (let attempt = 0; attempt < 3; attempt++) await call('POST', '/logs/demo', log, first)
    await Promise.all([1, 2].map(() => call('POST', '/logs/demo', log, second)))
    for (let attempt = 0; attempt < 2; attempt++) await call('POST', '/value_tracking/demo', value, first)
    await call('POST', '/logs/other', log, first)
    for (let time = 0; time < 2; time++) await call('POST', '/logs/demo', log)
    expect(await repeated('demo')).toEqual({ logs: 3, values: 1 })
    expect(await repeated('other')).toEqual({ logs: 0, values: 0 })
    expect((await call('GET', '/api/logs/demo')).body.total).toBe(4)
  })

  it('needs a bucket that exists', async () => {
    const { call } = await start()
    expect((await call('GET', '/api/account')).status).toBe(400)
    expect((await call('GET', '/api/account?bucket=nothing')).status).toBe(404)
  })
})
