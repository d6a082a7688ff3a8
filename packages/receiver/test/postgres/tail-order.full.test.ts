import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Days } from '../../dist/storage/postgres/days.js'
import { PostgresStorage } from '../../dist/storage/postgres/postgres-storage.js'
import { firstIdOf } from '../../dist/storage/postgres/record-ids.js'
import { Transactions } from '../../dist/storage/postgres/transactions.js'
import { newRecord, times } from '../contract/stores.js'
import { Cluster } from './cluster.js'
import { postgresInstalled, withPostgres } from './installation.js'
import { queryOf, stopServers } from './server.js'

type Message = { readonly message: string }

/** A stream of one reader. */
class Stream {
  readonly #storage: PostgresStorage
  readonly seen: string[] = []
  after: number

  constructor(storage: PostgresStorage, after: number) {
    this.#storage = storage
    this.after = after
  }

  async read(limit = 500): Promise<boolean> {
    const query = { kind: 'logs', bucket: 'demo', after: this.after, limit } as const
    const { json, last, hasMore } = await this.#storage.records.arrivals(query)
    this.after = last
    this.seen.push(...(JSON.parse(json) as Message[]).map(({ message }) => message))
    return hasMore
  }

  /** Reads until there is no more. */
  async catchUp(limit?: number): Promise<this> {
    while (await this.read(limit));
    return this
  }
}

const record = (message: string) => newRecord('logs', { bucket: 'demo', idempotencyKey: message, message })

describe.skipIf(!postgresInstalled)(withPostgres('a stream of live records'), { timeout: 60_000 }, () => {
  let cluster: Cluster
  let url: string
  const closing: (() => Promise<unknown>)[] = []
  beforeAll(async () => {
    cluster = await Cluster.start()
  })
  afterEach(() => Promise.all(closing.splice(0).map((close) => close())))
  afterAll(stopServers)

  async function open(instances: number): Promise<PostgresStorage[]> {
    url = await cluster.createDatabase()
    return Promise.all(times(instances, openOne))
  }
  async function openOne(): Promise<PostgresStorage> {
    const storage = await PostgresStorage.open(url)
    closing.push(() => storage.close())
    return storage
  }

  /** Stores a record whose id is smaller than that of others which are stored before it. Returns what commits it. */
  async function begun(storage: PostgresStorage, message: string): Promise<() => Promise<void>> {
    const holder = new pg.Client(url)
    await holder.connect()
    await holder.query('BEGIN')
    await holder.query(`INSERT INTO sluice_attempts VALUES ('demo', 'logs', $1, '', 0)`, [message])
    const { rows } = await holder.query('SELECT pg_backend_pid() AS pid')
    const late = storage.records.append(record(message))
    const waits = 'SELECT pid FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))'
    await expect.poll(() => cluster.primary.query(waits, [rows[0]!.pid]), { interval: 5 }).toHaveLength(1)
    return async () => {
      await holder.query('ROLLBACK')
      await holder.end()
      await late
    }
  }

  it('has a record that was committed after it began, though the newest one then had a larger id', async () => {
    const [reading, slow, fast] = await open(3)
    const commit = await begun(slow!, 'late')
    await fast!.records.append(record('early'))
    const { logs } = await reading!.records.position({ bucket: 'demo' })
    const stream = new Stream(reading!, logs)
    await commit()
    expect((await stream.catchUp()).seen).toEqual(['late'])
  })

  it('has a record whose commit took a minute, once', async () => {
    const [reading] = await open(1)
    const { servers, records } = reading!
    const dayMs = 86_400_000
    await new Days(servers, new Transactions(servers, { deadlineMs: 10_000 })).prepare(reading!.nowMs() - dayMs)
    await records.append(record('early'))
    const { logs } = await records.position({ bucket: 'demo' })
    const stream = await new Stream(reading!, logs).catchUp()
    // What is left of such a commit.
    const older = firstIdOf(60_000) - firstIdOf(0)
    await queryOf(
      url,
      `WITH late AS (
         INSERT INTO sluice_records SELECT bucket, kind, id - ${older}, received_ms, time_ms, value, terms, replace(record, 'early', 'late')
           FROM sluice_records
       )
       INSERT INTO sluice_batches SELECT bucket, kind, id - ${older}, last_id - ${older} FROM sluice_batches`,
    )
    const seen = async () => (await stream.catchUp()).seen
    await expect.poll(seen, { timeout: 10_000 }).toEqual(['late'])
    await records.append(record('last'))
    expect(await seen()).toEqual(['late', 'last'])
  })

  it('catches up in small steps with each record once, also where they arrived in another order than that of their ids', async () => {
    const [reading, slow, fast] = await open(3)
    await fast!.records.append(record('old'))
    const { logs } = await fast!.records.position({ bucket: 'demo' })
    await fast!.records.append(record('before'))
    await reading!.records.position({ bucket: 'demo' })
    for (const round of [1, 2, 3]) {
      const commit = await begun(slow!, `late ${round}`)
      await fast!.records.append(record(`early ${round}`))
      await reading!.records.position({ bucket: 'demo' })
      await commit()
      await reading!.records.position({ bucket: 'demo' })
    }
    const later = ['before', 'early 1', 'late 1', 'early 2', 'late 2', 'early 3', 'late 3']
    for (const limit of [1, 2, 3, 500]) {
      expect((await new Stream(reading!, logs).catchUp(limit)).seen).toEqual(later)
      const { counts } = await reading!.records.missed({ bucket: 'demo', since: { store: '', logs, values: 0 } })
      expect(counts.logs).toBe(later.length)
    }
  })

  it('has each record once, whatever the order of commits, the steps of readers and the time at which they begin', async () => {
    const storages = await open(3)
    const { logs: begin } = await storages[0]!.records.position({ bucket: 'demo' })
    const whole = storages.map((storage) => new Stream(storage, begin))
    const resumed: Stream[] = []
    const sent: string[] = []
    const send = async (message: string) => {
      await pick(storages).records.append(record(message))
      sent.push(message)
    }
    const open_: (() => Promise<void>)[] = []
    for (let round = 0; round < 120; round++) {
      const turn = Math.random()
      if (turn < 0.15 && open_.length < 3) {
        const commit = await begun(pick(storages), `late ${round}`)
        open_.push(() => commit().then(() => void sent.push(`late ${round}`)))
      } else if (turn < 0.3 && open_.length > 0) {
        await open_.splice(Math.floor(Math.random() * open_.length), 1)[0]!()
      } else if (turn < 0.7) {
        await Promise.all(times(1 + Math.floor(Math.random() * 8), (each) => send(`${round} ${each}`)))
      } else {
        await pick([...whole, ...resumed]).read(1 + Math.floor(Math.random() * 6))
      }
      if (round % 40 === 20) {
        // A reader that has seen nothing yet, at a receiver that begins now.
        resumed.push(new Stream(await openOne(), begin))
      }
    }
    for (const commit of open_) await commit()
    for (const stream of [...whole, ...resumed]) {
      await stream.catchUp(5)
      expect(stream.seen.toSorted()).toEqual(sent.toSorted())
    }
  })
})

function pick<Item>(items: readonly Item[]): Item {
  return items[Math.floor(Math.random() * items.length)]!
}
