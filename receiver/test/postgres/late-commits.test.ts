import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PostgresStorage } from '../../dist/storage/postgres/postgres-storage.js'
import { newRecord } from '../contract/stores.js'
import { Cluster } from './cluster.js'
import { postgresInstalled, withPostgres } from './installation.js'
import { stopServers } from './server.js'

describe.skipIf(!postgresInstalled)(withPostgres('a live reader'), { timeout: 60_000 }, () => {
  let url: string
  beforeAll(async () => {
    url = await (await Cluster.start()).createDatabase()
  })
  afterAll(stopServers)

  it('gets each record once where commits come in the reverse order of their ids', async () => {
    const [reading, slow, fast] = [
      await PostgresStorage.open(url),
      await PostgresStorage.open(url),
      await PostgresStorage.open(url),
    ]
    // A transaction that holds the key of a record keeps the receiver that stores it from its commit.
    const holder = new pg.Client(url)
    await holder.connect()
    const hold = async (key: string) => {
      await holder.query('BEGIN')
      await holder.query(`INSERT INTO sluice_attempts VALUES ('demo', 'logs', $1, '', 0)`, [key])
    }
    const record = (message: string) => newRecord('logs', { bucket: 'demo', idempotencyKey: message, message })
    const { logs: begin } = await reading.records.position({ bucket: 'demo' })
    const seen: string[] = []
    let after = begin
    const look = async () => {
      const { json, last } = await reading.records.arrivals({ kind: 'logs', bucket: 'demo', after, limit: 100 })
      after = last
      seen.push(...(JSON.parse(json) as { message: string }[]).map(({ message }) => message))
    }
    const waits = async () => {
      const { rows } = await holder.query(`SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'`)
      return rows.length
    }

    for (let round = 0; round < 5; round++) {
      await hold(`late ${round}`)
      const late = slow.records.append(record(`late ${round}`))
      await expect.poll(waits).toBe(1)
      await fast.records.append(record(`early ${round}`))
      await look()
      expect(seen.at(-1)).toBe(`early ${round}`)
      await holder.query('ROLLBACK')
      await late
      await look()
      expect(seen.at(-1)).toBe(`late ${round}`)
    }
    const { list } = await reading.records.read({ kind: 'logs', bucket: 'demo', limit: 100 })
    expect(list.map(({ message }) => message)).not.toEqual([...seen].reverse())
    expect(list.map(({ message }) => message).sort()).toEqual([...seen].sort())

    // A reader that resumes in this process goes on where it was; one that comes from another receiver gets all that follows by its id.
    const { count } = await reading.records.arrivals({ kind: 'logs', bucket: 'demo', after, limit: 100 })
    expect(count).toBe(0)
    const fresh = await PostgresStorage.open(url)
    const { count: all } = await fresh.records.arrivals({ kind: 'logs', bucket: 'demo', after: begin, limit: 100 })
    expect(all).toBe(10)
    await holder.end()
    await Promise.all([reading, slow, fast, fresh].map((storage) => storage.close()))
  })

  it('gets what commits after its beginning, also with a smaller id than the newest record then', async () => {
    const [reading, slow, fast] = [
      await PostgresStorage.open(url),
      await PostgresStorage.open(url),
      await PostgresStorage.open(url),
    ]
    const bucket = 'begins'
    const record = (message: string) => newRecord('logs', { bucket, idempotencyKey: message, message })
    const holder = new pg.Client(url)
    await holder.connect()
    await holder.query('BEGIN')
    await holder.query('INSERT INTO sluice_attempts VALUES ($1, $2, $3, $4, 0)', [bucket, 'logs', 'late', ''])
    const late = slow.records.append(record('late'))
    const waits = `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'`
    await expect.poll(async () => (await holder.query(waits)).rows).toHaveLength(1)
    await fast.records.append(record('early'))
    let { logs: after } = await reading.records.position({ bucket })
    const look = async () => {
      const { json, last } = await reading.records.arrivals({ kind: 'logs', bucket, after, limit: 100 })
      after = last
      return (JSON.parse(json) as { message: string }[]).map(({ message }) => message)
    }
    expect(await look()).toEqual([])
    await holder.query('ROLLBACK')
    await late
    expect(await look()).toEqual(['late'])
    await fast.records.append(record('next'))
    expect(await look()).toEqual(['next'])
    expect(await look()).toEqual([])
    await holder.end()
    await Promise.all([reading, slow, fast].map((storage) => storage.close()))
  })
})
