import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PostgresStorage } from '../../dist/storage/postgres/postgres-storage.js'
import { newRecord, times } from '../contract/stores.js'
import { Cluster } from './cluster.js'
import { postgresInstalled, withPostgres } from './installation.js'
import { stopServers } from './server.js'

const lane = { kind: 'logs', bucket: 'demo' } as const
const since = { ...lane, since: 1, limit: 10 }

describe.skipIf(!postgresInstalled)(withPostgres('searches that take long'), { timeout: 60_000 }, () => {
  let cluster: Cluster
  let storage: PostgresStorage
  let holder: pg.Client
  beforeAll(async () => {
    cluster = await Cluster.start()
    const url = await cluster.createDatabase()
    storage = await PostgresStorage.open(url)
    await storage.records.append(newRecord('logs', lane))
    holder = new pg.Client(url)
    await holder.connect()
  })
  afterAll(async () => {
    await holder.end()
    await storage.close()
    await stopServers()
  })
  /** How many searches wait at the server. */
  const waiting = async () =>
    (await cluster.primary.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'")).length

  it('delay no question that is cheap, and end with their signal, at the server too', async () => {
    // Only questions with times need this table.
    await holder.query('BEGIN')
    await holder.query('LOCK TABLE sluice_spans IN ACCESS EXCLUSIVE MODE')
    const { records, projects, content, keys, pageSessions } = storage
    const clients = times(12, () => new AbortController())
    const searches = clients
      .map(({ signal }, number) => {
        if (number % 3 === 0) return records.read(since, signal)
        return number % 3 === 1 ? records.facets(since, signal) : records.counts({ ...since, stepMs: 60_000 }, signal)
      })
      .map((search) => search.catch((reason: unknown) => reason))
    await expect.poll(waiting).toBeGreaterThan(0)

    expect(await records.read({ ...lane, limit: 10 })).toMatchObject({ total: 1 })
    expect(await records.position(lane)).toHaveProperty('logs')
    expect(await projects.list()).toEqual([])
    expect(await content.listTypes({ projectId: 'demo', offset: 0, limit: 1 })).toMatchObject({ total: 0 })
    expect([await keys.list(), await pageSessions.list()]).toEqual([[], []])

    const reason = new Error('the client has gone')
    for (const client of clients) client.abort(reason)
    expect(new Set(await Promise.all(searches))).toEqual(new Set([reason]))
    await expect.poll(waiting).toBe(0)
    await expect(records.counts({ ...since, stepMs: 60_000 }, clients[0]!.signal)).rejects.toBe(reason)

    await holder.query('ROLLBACK')
    const found = await Promise.all(times(12, () => records.read(since, new AbortController().signal)))
    expect(found.map(({ total }) => total)).toEqual(times(12, () => 1))
  })
})
