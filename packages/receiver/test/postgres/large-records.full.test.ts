import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { full } from '../../../../test/support/full.js'
import { PostgresStorage } from '../../dist/storage/postgres/postgres-storage.js'
import { newRecord, times } from '../contract/stores.js'
import { Cluster } from './cluster.js'
import { postgresInstalled, withPostgres } from './installation.js'
import { stopServers } from './server.js'

/** Nearly the largest body that the receiver takes. */
const most = 1_000_000

describe.skipIf(!postgresInstalled)(withPostgres('a large record'), { timeout: 60_000 }, () => {
  let cluster: Cluster
  let storage: PostgresStorage
  beforeAll(async () => {
    cluster = await Cluster.start()
  })
  afterEach(() => storage.close())
  afterAll(stopServers)

  it('is stored, whatever it has, and so are those that come with it', async () => {
    storage = await PostgresStorage.open(await cluster.createDatabase())
    const bucket = `b${'x'.repeat(99)}`
    const idempotencyKey = 'k'.repeat(200)
    const odd = [
      { level: 'l'.repeat(most), idempotencyKey },
      { level: '\u0001'.repeat(100_000) },
      { level: '😀'.repeat(100_000), appName: 'a'.repeat(10_000), env: '"\\{},'.repeat(2000) },
      { appName: `${'a'.repeat(172)}😀${'b'.repeat(100)}`, machineName: '\ud800'.repeat(200) },
      { appName: '\0', level: '\0', message: '\0 \ud800 \udfff one' },
      { message: 'w'.repeat(most) },
      { message: Array.from({ length: 100_000 }, (_, word) => `w${word}`).join(' ') },
      { message: 'a '.repeat(most / 2) },
      { message: '"'.repeat(most / 2) },
      { message: '\u0345'.repeat(most / 2) },
      { timeStamp: 1e308 },
      { timeStamp: -1e308 },
      { timeStamp: 5e-324 },
      { timeStamp: -0, eventId: -0 },
      { timeStamp: 0.1, eventId: 1e308 },
    ]
    await Promise.all(odd.map((record) => storage.records.append(newRecord('logs', { bucket, ...record }))))
    const { list, total } = await storage.records.read({ kind: 'logs', bucket, limit: 100 })
    expect(total).toBe(odd.length)
    expect(list.length).toBeGreaterThan(0)
  })

  it.runIf(full)('shares its commit with few others: all of them stand in memory at once', async () => {
    storage = await PostgresStorage.open(await cluster.createDatabase())
    const commits: number[] = []
    storage.records.onCommit(({ records }) => commits.push(records))
    const large = newRecord('logs', { bucket: 'demo', message: 'w'.repeat(most / 2) })
    await Promise.all(times(20, () => storage.records.append(large)))
    expect(Math.max(...commits)).toBeLessThanOrEqual(4)
    await Promise.all(times(200, () => storage.records.append(newRecord('logs', { bucket: 'demo' }))))
    expect(Math.max(...commits)).toBe(200)
  })
})
