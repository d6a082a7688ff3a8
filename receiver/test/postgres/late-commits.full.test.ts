import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PostgresStorage } from '../../dist/storage/postgres/postgres-storage.js'
import type { RecordStorage } from '../../dist/storage/record-storage.js'
import { newRecord } from '../contract/stores.js'
import { Cluster } from './cluster.js'
import { postgresInstalled, withPostgres } from './installation.js'
import { stopServers } from './server.js'

const newLog = (bucket: string, message: string) => newRecord('logs', { bucket, idempotencyKey: message, message })

/** A transaction that holds the key of a record keeps the receiver that stores it from its commit. */
class Holder {
  readonly #client: pg.Client

  constructor(url: string) {
    this.#client = new pg.Client(url)
  }

  async connect(): Promise<void> {
    await this.#client.connect()
  }

  async hold(bucket: string, key: string): Promise<void> {
    await this.#client.query('BEGIN')
    await this.#client.query(`INSERT INTO sluice_attempts VALUES ($1, 'logs', $2, '', 0)`, [bucket, key])
  }

  /** Resolves when a receiver waits for the key. */
  async untilWaitedFor(): Promise<void> {
    const waiting = `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'`
    await expect.poll(async () => (await this.#client.query(waiting)).rows).toHaveLength(1)
  }

  async release(): Promise<void> {
    await this.#client.query('ROLLBACK')
  }

  end(): Promise<void> {
    return this.#client.end()
  }
}

/** Follows the logs of a bucket from its newest record on. */
class Follower {
  readonly #records: RecordStorage
  readonly #bucket: string
  /** Id of the last record that it has read. */
  after = 0

  constructor(records: RecordStorage, bucket: string) {
    this.#records = records
    this.#bucket = bucket
  }

  async begin(): Promise<void> {
    const { logs } = await this.#records.position({ bucket: this.#bucket })
    this.after = logs
  }

  /** The messages that have arrived since. */
  async look(): Promise<string[]> {
    const query = { kind: 'logs', bucket: this.#bucket, after: this.after, limit: 100 } as const
    const { json, last } = await this.#records.arrivals(query)
    this.after = last
    return (JSON.parse(json) as { message: string }[]).map(({ message }) => message)
  }
}

describe.skipIf(!postgresInstalled)(withPostgres('a live reader'), { timeout: 60_000 }, () => {
  let url: string
  let holder: Holder
  let stores: PostgresStorage[] = []
  beforeAll(async () => {
    url = await (await Cluster.start()).createDatabase()
  })
  beforeEach(async () => {
    stores = await Promise.all(Array.from({ length: 4 }, () => PostgresStorage.open(url)))
    holder = new Holder(url)
    await holder.connect()
  })
  afterEach(async () => {
    await holder.end()
    await Promise.all(stores.map((store) => store.close()))
  })
  afterAll(stopServers)

  it('gets each record once where commits come in the reverse order of their ids', async () => {
    const [reading, slow, fast, fresh] = stores.map(({ records }) => records) as Four
    const reader = new Follower(reading, 'demo')
    await reader.begin()
    const begin = reader.after
    const seen: string[] = []
    for (let round = 0; round < 5; round++) {
      await holder.hold('demo', `late ${round}`)
      const late = slow.append(newLog('demo', `late ${round}`))
      await holder.untilWaitedFor()
      await fast.append(newLog('demo', `early ${round}`))
      const early = await reader.look()
      expect(early.at(-1)).toBe(`early ${round}`)
      await holder.release()
      await late
      seen.push(...early, ...(await reader.look()))
      expect(seen.at(-1)).toBe(`late ${round}`)
    }
    const { list } = await reading.read({ kind: 'logs', bucket: 'demo', limit: 100 })
    expect(list.map(({ message }) => message)).not.toEqual([...seen].reverse())
    expect(list.map(({ message }) => message).sort()).toEqual([...seen].sort())

    // A reader that resumes in this process goes on where it was; one that comes from another receiver gets all that follows by its id.
    expect(await reader.look()).toEqual([])
    const { count: all } = await fresh.arrivals({ kind: 'logs', bucket: 'demo', after: begin, limit: 100 })
    expect(all).toBe(10)
  })

  it('gets what commits after its beginning, also with a smaller id than the newest record then', async () => {
    const [reading, slow, fast] = stores.map(({ records }) => records) as Four
    await holder.hold('begins', 'late')
    const late = slow.append(newLog('begins', 'late'))
    await holder.untilWaitedFor()
    await fast.append(newLog('begins', 'early'))
    const reader = new Follower(reading, 'begins')
    await reader.begin()
    expect(await reader.look()).toEqual([])
    await holder.release()
    await late
    expect(await reader.look()).toEqual(['late'])
    await fast.append(newLog('begins', 'next'))
    expect(await reader.look()).toEqual(['next'])
    expect(await reader.look()).toEqual([])
  })
})

type Four = [RecordStorage, RecordStorage, RecordStorage, RecordStorage]
