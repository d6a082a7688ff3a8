import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PostgresStorage } from '../../dist/storage/postgres/postgres-storage.js'
import { StoreUnavailableError } from '../../dist/storage/store-unavailable.js'
import { newRecord } from '../contract/stores.js'
import { Cluster, type Standby } from './cluster.js'
import { postgresInstalled, withPostgres } from './installation.js'
import { queryOf, stopServers } from './server.js'

const record = (key: string) => newRecord('logs', { bucket: 'demo', idempotencyKey: key })
/** How many connections wait for a standby. */
const waiting = async (cluster: Cluster) =>
  (await cluster.primary.query(`SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)).length

describe.skipIf(!postgresInstalled)(withPostgres('an acknowledged record'), { timeout: 60_000 }, () => {
  let cluster: Cluster
  let standby: Standby
  beforeAll(async () => {
    cluster = await Cluster.start()
    standby = await cluster.startStandby()
  })
  afterAll(stopServers)

  it('is on the standby: a wait for it that somebody cancels is no success, nor is the repetition', async () => {
    const storage = await PostgresStorage.open(await cluster.createDatabase(), { commitMs: 3000 })
    await storage.records.append(record('before'))
    await standby.server.kill('SIGSTOP')
    const appended = storage.records.append(record('one')).catch((error: Error) => error)
    await expect.poll(() => waiting(cluster)).toBe(1)
    await cluster.primary.query(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)
    expect(await appended).toBeInstanceOf(StoreUnavailableError)
    expect(await appended).toMatchObject({ message: expect.stringContaining('may not be durable') })
    // The row can be seen by now. That another attempt finds it must not be enough.
    const again = storage.records.append(record('one')).catch((error: Error) => error)
    const earlier = storage.records.append(record('before')).catch((error: Error) => error)
    expect(await again).toBeInstanceOf(StoreUnavailableError)
    expect(await earlier).toBeInstanceOf(StoreUnavailableError)
    await standby.server.kill('SIGCONT')
    await expect
      .poll(() =>
        storage.records.append(record('one')).then(
          () => 'stored',
          () => 'refused',
        ),
      )
      .toBe('stored')
    const { list } = await storage.records.read({ kind: 'logs', bucket: 'demo', limit: 10 })
    expect(list).toHaveLength(2)
    await storage.close()
  })

  it('waits no longer than its time, however many others wait', async () => {
    const storage = await PostgresStorage.open(await cluster.createDatabase(), { commitMs: 1000 })
    await standby.server.kill('SIGSTOP')
    for (let round = 0; round < 3; round++) {
      const begin = performance.now()
      const appends = Array.from({ length: 50 }, (_, number) => storage.records.append(record(`${round} ${number}`)))
      const settled = await Promise.allSettled(appends)
      expect(settled.every(({ status }) => status === 'rejected')).toBe(true)
      expect(performance.now() - begin).toBeLessThan(10_000)
    }
    // Each connection that waits is one of the few that this process has: no new ones were opened beside them.
    expect(await waiting(cluster)).toBeLessThanOrEqual(9)
    await standby.server.kill('SIGCONT')
    await expect.poll(() => waiting(cluster)).toBe(0)
    await storage.records.append(record('after'))
    await storage.close()
  })

  it('is on disk, whatever the database has as its default', async () => {
    const url = await cluster.createDatabase()
    const name = new URL(url).pathname.slice(1)
    const settingIn = async (storage: PostgresStorage) => {
      const client = await storage.servers.connect()
      const { rows } = await client.query('SHOW synchronous_commit')
      client.release()
      return rows[0]?.synchronous_commit
    }
    for (const [theirs, ours] of [
      ['off', 'on'],
      ['local', 'on'],
      ['remote_apply', 'remote_apply'],
    ]) {
      await queryOf(url, `ALTER DATABASE ${name} SET synchronous_commit = ${theirs}`)
      const storage = await PostgresStorage.open(url)
      expect(await settingIn(storage)).toBe(ours)
      await storage.close()
    }
  })
})
