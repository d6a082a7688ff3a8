import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { full } from '../../../../test/support/full.js'
import { hintFor } from '../../dist/query/hint.js'
import { Days } from '../../dist/storage/postgres/days.js'
import { PostgresStorage } from '../../dist/storage/postgres/postgres-storage.js'
import { RecordIds } from '../../dist/storage/postgres/record-ids.js'
import { RecordWriter } from '../../dist/storage/postgres/record-writer.js'
import { Transactions } from '../../dist/storage/postgres/transactions.js'
import { StoreUnavailableError } from '../../dist/storage/store-unavailable.js'
import { newRecord, times } from '../contract/stores.js'
import { Cluster } from './cluster.js'
import { postgresInstalled, withPostgres } from './installation.js'
import { stopServers } from './server.js'

const dayMs = 86_400_000
const lane = { kind: 'logs', bucket: 'demo' } as const

/** Stores records as if they had been received at a time. */
async function receivedAt(
  storage: PostgresStorage,
  { ms, count, records: fields = [] }: { ms: number; count: number; records?: readonly object[] },
): Promise<void> {
  const transactions = new Transactions(storage.servers, { deadlineMs: 10_000 })
  await new Days(storage.servers, transactions).prepare(ms)
  const ids = new RecordIds({ slot: 60, nowMs: () => ms })
  const writer = new RecordWriter({ nowMs: () => ms, takeId: () => ids.take() })
  const records = times(count, (number) =>
    newRecord('logs', {
      ...lane,
      idempotencyKey: `${ms} ${number}`,
      message: `line ${number}`,
      timeStamp: ms,
      appName: number === 0 && fields.length === 0 ? `app of ${ms}` : 'shop',
      ...fields[number],
    }),
  )
  await transactions.run((client) => writer.write(client, { records, writer: 1 }))
}

describe.skipIf(!postgresInstalled)(withPostgres('a store that forgets'), { timeout: 60_000 }, () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await Cluster.start()
  })
  afterAll(stopServers)

  it('drops whole days with their counts and names, and keeps the keys', async () => {
    const storage = await PostgresStorage.open(await cluster.createDatabase())
    const today = Math.floor(storage.nowMs() / dayMs) * dayMs
    const days = [3, 2, 1].map((ago) => today - ago * dayMs + 1000)
    for (const [index, ms] of days.entries()) await receivedAt(storage, { ms, count: 10 * (index + 1) })
    await storage.records.append(newRecord('logs', { ...lane, message: 'line today', timeStamp: storage.nowMs() }))
    const { records } = storage
    const totalOf = async (filter: object = {}) => (await records.read({ ...lane, limit: 100, ...filter })).total
    const { logs: position } = await records.position(lane)

    expect(await totalOf()).toBe(61)
    expect(await records.oldest()).toBe(days[0])
    expect(await records.receiptsAround(days[1]!)).toEqual({ before: days[0], since: days[1] })

    // A day goes when its last record is too old.
    expect(await records.forget(today - 2 * dayMs - 1)).toBe(0)
    expect(await records.forget(today - dayMs)).toBe(10)
    expect(await records.forget(today - dayMs)).toBe(20)
    expect(await records.forget(today - dayMs)).toBe(0)
    expect(await totalOf()).toBe(31)
    expect(await records.oldest()).toBe(days[2])
    expect(await totalOf({ text: 'line' })).toBe(31)
    expect(await totalOf({ appName: 'shop' })).toBe(30)
    const gone = { ...lane, appName: `app of ${days[0]}` }
    expect(await records.read({ ...gone, limit: 1 })).toEqual({ total: 0, list: [] })
    expect(await hintFor(gone, { records })).toContain('did you mean app of')
    const counts = await records.counts({ ...lane, stepMs: 3_600_000 })
    expect(counts.total).toBe(31)
    expect(counts.steps).toHaveLength(2)

    // Keys are remembered for 24 hours, whatever becomes of the records; a live reader goes on.
    const again = newRecord('logs', { ...lane, idempotencyKey: `${days[2]} 0`, message: 'line 0' })
    await storage.records.append(again)
    await storage.records.append(again)
    expect(await totalOf()).toBe(32)
    const { count } = await records.arrivals({ ...lane, after: position, limit: 10 })
    expect(count).toBe(1)
    await storage.close()
  })

  it('forgets the errors of a day, and remembers which version came first', async () => {
    const storage = await PostgresStorage.open(await cluster.createDatabase())
    const today = Math.floor(storage.nowMs() / dayMs) * dayMs
    const failed = (appVersion: string, message = 'failed') => ({ level: 'error', message, appVersion })
    const days = [3, 2, 1].map((ago) => today - ago * dayMs + 1000)
    const store = (index: number, records: readonly object[]) =>
      receivedAt(storage, { ms: days[index]!, count: records.length, records })
    await store(0, [failed('1.0'), failed('1.0', 'gone')])
    await store(1, [failed('1.0'), failed('1.1'), failed('1.1', 'new')])
    await store(2, [failed('1.1'), failed('1.0')])
    const errors = async () => {
      const { total, list } = await storage.records.errors({ bucket: 'demo', limit: 9, nowMs: storage.nowMs() })
      return [total, ...list.map(({ message, count, firstMs, isNew }) => [message, count, firstMs, isNew])]
    }
    expect(await errors()).toEqual([
      3,
      ['failed', 5, days[0], false],
      ['new', 1, days[1], true],
      ['gone', 1, days[0], false],
    ])
    expect(await storage.records.forget(today - 2 * dayMs)).toBe(2)
    // Both versions were received on the first day that is left, but one of them had been there before.
    expect(await errors()).toEqual([2, ['failed', 4, days[1], false], ['new', 1, days[1], true]])
    await storage.close()
  })

  it('waits for nobody who reads a day, so that no write waits for it, and drops the day the next time', async () => {
    const url = await cluster.createDatabase()
    const storage = await PostgresStorage.open(url)
    const { records } = storage
    const today = Math.floor(storage.nowMs() / dayMs) * dayMs
    await receivedAt(storage, { ms: today - 2 * dayMs, count: 10 })
    const reader = new pg.Client(url)
    await reader.connect()
    await reader.query('BEGIN')
    await reader.query('SELECT count(*) FROM sluice_records')

    let isOver = false
    const failure = records
      .forget(today)
      .catch((error: Error) => error)
      .finally(() => {
        isOver = true
      })
    do await records.append(newRecord('logs', lane))
    while (!isOver)
    expect(await failure).toBeInstanceOf(StoreUnavailableError)
    await reader.end()
    expect(await records.forget(today)).toBe(10)
    await storage.close()
  })

  it.runIf(full)('forgets beside others that write, and two at once', async () => {
    const url = await cluster.createDatabase()
    const [one, other] = [await PostgresStorage.open(url), await PostgresStorage.open(url)]
    const today = Math.floor(one.nowMs() / dayMs) * dayMs
    for (const ago of [4, 3, 2]) await receivedAt(one, { ms: today - ago * dayMs, count: 50 })
    let isOver = false
    const writing = Promise.all(
      times(8, async (writer) => {
        for (let number = 0; !isOver; number++) {
          const storage = number % 2 === 0 ? one : other
          await storage.records.append(newRecord('logs', { ...lane, message: `${writer} ${number}`, level: 'warn' }))
        }
      }),
    )
    const forget = async (storage: PostgresStorage) => {
      let forgotten = 0
      for (let step = 1; step > 0; forgotten += step) step = await storage.records.forget(today - dayMs)
      return forgotten
    }
    const [first, second] = await Promise.all([forget(one), forget(other)])
    isOver = true
    await writing
    expect(first! + second!).toBe(150)
    const { total, values } = await one.records.counts(lane)
    expect(values.map(({ value }) => value)).toEqual(['warn'])
    expect((await other.records.read({ ...lane, limit: 1 })).total).toBe(total)
    await Promise.all([one.close(), other.close()])
  })
})
