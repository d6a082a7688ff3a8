import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { log, refusal, startReceiverForTest } from './support.js'

let receiver: Awaited<ReturnType<typeof startReceiverForTest>>
beforeEach(async () => {
  receiver = await startReceiverForTest()
})
afterEach(() => receiver.close())

async function send(...records: readonly object[]) {
  await Promise.all(records.map((record) => receiver.call('POST', '/logs/demo', { ...log, ...record })))
}

async function facets(query = '') {
  return (await receiver.call('GET', `/api/facets/logs?bucket=demo${query}`)).body
}

describe('GET /api/facets/logs', () => {
  it('counts the values of each field', async () => {
    await send(
      { machineName: 'a', env: 'qa', appVersion: '1.0', eventId: 7 },
      { machineName: 'a', level: 'error', eventId: 7.5 },
      { machineName: 'b', level: 'error', appName: '__proto__', env: 'odd\0 \ud800', appVersion: 'odd\0 \ud800' },
    )
    expect(await facets()).toEqual({
      levels: { error: 2, info: 1 },
      apps: JSON.parse('{"shop":2,"__proto__":1}'),
      machines: { a: 2, b: 1 },
      envs: { qa: 1, 'odd\0 \ud800': 1 },
      versions: { '1.0': 1, 'odd\0 \ud800': 1 },
      eventIds: { 7: 1, 7.5: 1 },
    })
  })

  it('counts only what matches the filters of reading', async () => {
    await send({ env: 'qa', message: 'red fox' }, { env: 'qa', level: 'warn' }, { message: 'red hen', timeStamp: 1 })
    expect((await facets('&env=qa')).levels).toEqual({ info: 1, warn: 1 })
    expect((await facets('&text=red')).envs).toEqual({ qa: 1 })
    expect((await facets('&text=red&until=1990-01-01T00:00:00Z')).levels).toEqual({ info: 1 })
    expect((await facets('&level=fatal')).apps).toEqual({})
    expect((await receiver.call('GET', '/api/facets/logs?bucket=demo&limit=1')).status).toBe(400)
  })

  it('leaves out long values, and lists the hundred most frequent', async () => {
    const machines = Array.from({ length: 120 }, (_, number) => ({ machineName: `m${number}` }))
    await send(...machines, { machineName: 'm119' }, { machineName: 'x'.repeat(201) })
    const { machines: counted } = await facets()
    expect(Object.keys(counted)).toHaveLength(100)
    expect(Object.entries(counted)[0]).toEqual(['m119', 2])
    expect(counted['x'.repeat(201)]).toBeUndefined()
  })

  it('reads at most 16 MiB of records', async () => {
    const message = 'x'.repeat(1_000_000)
    await send(...Array.from({ length: 20 }, () => ({ message })))
    expect((await facets()).levels).toEqual({ info: 16 })
  })
})

describe('POST /api/test-record', () => {
  it('stores a log and a value in the first project, or in a bucket', async () => {
    await receiver.call('POST', '/api/projects', { id: 'other' })
    for (const [bucket, query] of [
      ['demo', ''],
      ['other', '?bucket=other'],
    ]) {
      const { status, body } = await receiver.call('POST', `/api/test-record${query}`)
      expect(status).toBe(201)
      expect((await receiver.call('GET', `/api/logs/${bucket}`)).body.list).toMatchObject([body.log])
      expect((await receiver.call('GET', `/api/values/${bucket}`)).body.list).toMatchObject([body.value])
      expect(body.log).toMatchObject({ level: 'info', appName: 'sluice-receiver' })
    }
    const unknown = await receiver.call('POST', '/api/test-record?bucket=nothing')
    expect(unknown).toMatchObject({ status: 404, body: refusal('there is no bucket nothing') })
  })
})
