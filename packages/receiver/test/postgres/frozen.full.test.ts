import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { PostgresStorage } from '../../dist/storage/postgres/postgres-storage.js'
import { newRecord } from '../contract/stores.js'
import { killAll, ready } from '../processes.js'
import { type Answer, caller, log, startReceiverForTest } from '../support.js'
import { Cluster } from './cluster.js'
import { postgresInstalled, withPostgres } from './installation.js'
import { stopServers } from './server.js'

/** A stop may take this long, in ms, on a busy machine too. */
const longestStopMs = 18_000

describe.skipIf(!postgresInstalled)(withPostgres('a database that does not answer'), { timeout: 60_000 }, () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await Cluster.start()
  })
  afterEach(async () => {
    await killAll()
    await cluster.primary.kill('SIGCONT')
  })
  afterAll(stopServers)

  it('delays the close of a receiver for a limited time: its requests are answered with 503', async () => {
    const receiver = await startReceiverForTest({ database: await cluster.createDatabase() })
    expect((await receiver.call('POST', '/logs/demo', log)).status).toBe(201)
    await cluster.primary.kill('SIGSTOP')
    const send = () => receiver.call('POST', '/logs/demo', log)
    const read = () => receiver.call('GET', '/api/logs/demo?text=hello')
    const requests: Promise<Answer>[] = []
    for (const request of [send, send, read, send, send, send, send, read, send]) {
      requests.push(request())
      // The request has arrived when a later one has been answered.
      expect((await receiver.call('GET', '/api/health')).status).toBe(200)
    }
    const begin = performance.now()
    await receiver.close()
    expect(performance.now() - begin).toBeLessThan(longestStopMs)
    for (const { status, headers } of await Promise.all(requests)) {
      expect([status, headers.get('retry-after')]).toEqual([503, '1'])
    }
  })

  it('delays the end of the process on SIGTERM for a limited time', async () => {
    const { child, exit, url, apiKey } = await ready('--database', await cluster.createDatabase(), '--retain', '1m')
    expect((await caller({ url, apiKey })('POST', '/logs/demo', log)).status).toBe(201)
    await cluster.primary.kill('SIGSTOP')
    const begin = performance.now()
    child.kill('SIGTERM')
    expect(await exit).toEqual([0, null])
    expect(performance.now() - begin).toBeLessThan(longestStopMs)
  })

  it('delays the close of the store, however many commits wait, and leaves no connection', async () => {
    const url = await cluster.createDatabase()
    const sockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length
    const before = sockets()
    const storage = await PostgresStorage.open(url, { commitMs: 500 })
    const record = (message: string) => newRecord('logs', { bucket: 'demo', message })
    await Promise.all(Array.from({ length: 50 }, (_, number) => storage.records.append(record(`${number}`))))
    const appends = Array.from({ length: 50 }, (_, number) => storage.records.append(record(`late ${number}`)))
    const settled = Promise.allSettled(appends)
    await cluster.primary.kill('SIGSTOP')
    await settled
    const begin = performance.now()
    await storage.close()
    expect(performance.now() - begin).toBeLessThan(longestStopMs)
    // None that would keep the process.
    await expect.poll(sockets).toBeLessThanOrEqual(before)
    await expect(storage.records.append(record('after'))).rejects.toThrow('is closed')
    await cluster.primary.kill('SIGCONT')
    const name = new URL(url).pathname.slice(1)
    const connections = () => cluster.primary.query('SELECT pid FROM pg_stat_activity WHERE datname = $1', [name])
    await expect.poll(connections).toEqual([])
  })
})
