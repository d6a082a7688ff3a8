import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Days } from '../../dist/storage/postgres/days.js'
import { PostgresStorage } from '../../dist/storage/postgres/postgres-storage.js'
import { dayOf, msOfId, RecordIds } from '../../dist/storage/postgres/record-ids.js'
import { RecordWriter } from '../../dist/storage/postgres/record-writer.js'
import { Transactions } from '../../dist/storage/postgres/transactions.js'
import type { RecordQuery, StoredRecord } from '../../dist/storage/record-storage.js'
import { newRecord, times } from '../contract/stores.js'
import { Cluster } from './cluster.js'
import { postgresInstalled, withPostgres } from './installation.js'
import { stopServers } from './server.js'

const dayMs = 86_400_000
const days = 6
const perDay = 60

describe.skipIf(!postgresInstalled)(withPostgres('records of several days'), { timeout: 60_000 }, () => {
  let url: string
  const storages: PostgresStorage[] = []
  beforeAll(async () => {
    const cluster = await Cluster.start()
    url = await cluster.createDatabase()
  })
  afterEach(() => Promise.all(storages.splice(0).map((storage) => storage.close())))
  afterAll(stopServers)

  /** Stores records of the last days, in one commit on both sides of each midnight. */
  async function openWithPast(bucket: string): Promise<PostgresStorage> {
    const storage = await PostgresStorage.open(url)
    storages.push(storage)
    const transactions = new Transactions(storage.servers, { deadlineMs: 60_000 })
    const today = Math.floor(storage.nowMs() / dayMs) * dayMs
    for (let day = 1; day < days; day++) {
      await new Days(storage.servers, transactions).prepare(today - day * dayMs)
      let now = today - day * dayMs - 40
      const ids = new RecordIds({ slot: 60, nowMs: () => now })
      const takeId = () => {
        now++
        return ids.take()
      }
      const writer = new RecordWriter({ nowMs: () => now, takeId })
      await new Days(storage.servers, transactions).prepare(now)
      const records = times(perDay, (number) =>
        newRecord('logs', {
          bucket,
          message: `record ${number} of ${day} ${number % 7 === 0 ? 'rare' : 'usual'}`,
          level: ['info', 'warn', 'error'][number % 3]!,
          appName: `app${number % 4}`,
        }),
      )
      await transactions.run((client) => writer.write(client, { records, writer: 9000 }))
    }
    return storage
  }

  const filters: readonly (Partial<RecordQuery> & { matches: (record: StoredRecord) => boolean })[] = [
    { matches: () => true },
    { levels: ['warn'], matches: ({ level }) => level === 'warn' },
    { notLevels: ['warn'], matches: ({ level }) => level !== 'warn' },
    { text: 'rare', matches: ({ message }) => String(message).includes('rare') },
    { notText: 'rare', matches: ({ message }) => !String(message).includes('rare') },
    {
      text: 'rare',
      levels: ['info', 'error'],
      appName: 'app1',
      matches: ({ message, level, appName }) =>
        String(message).includes('rare') && level !== 'warn' && appName === 'app1',
    },
  ]

  it('are read page by page, each once, forwards and backwards, with any filter', async () => {
    const { records } = await openWithPast('pages')
    const query = { kind: 'logs', bucket: 'pages' } as const
    const { list: all } = await records.read({ ...query, limit: 1000 })
    expect(all).toHaveLength((days - 1) * perDay)
    expect(new Set(all.map(({ id }) => dayOf(msOfId(id)))).size).toBe(days)
    for (const { matches, ...filter } of filters) {
      const expected = all.filter(matches).map(({ id }) => id)
      for (const limit of [1, 7, 100]) {
        const seen: number[] = []
        for (let before = Number.MAX_SAFE_INTEGER; ; ) {
          const { list, total } = await records.read({ ...query, ...filter, before, limit })
          expect(total).toBe(expected.length)
          if (list.length === 0) break
          seen.push(...list.map(({ id }) => id))
          before = list.at(-1)!.id
        }
        expect(seen).toEqual(expected)
      }
      for (const at of [0, 59, 60, 150, expected.length - 1]) {
        const [after, before] = [all[200]!.id, all[at]!.id]
        const { list } = await records.read({ ...query, ...filter, after, before, limit: 1000 })
        expect(list.map(({ id }) => id)).toEqual(expected.filter((id) => id > after && id < before))
      }
    }
  })

  it('are forgotten by two receivers at once, while others read and write', async () => {
    const one = await openWithPast('busy')
    const other = await PostgresStorage.open(url)
    storages.push(other)
    const query = { kind: 'logs', bucket: 'busy' } as const
    let isOver = false
    const failures: unknown[] = []
    const repeat = async (work: () => Promise<unknown>) => {
      while (!isOver) await work().catch((error: unknown) => failures.push(error))
    }
    const working = [
      ...storages.map(({ records }) => repeat(() => records.append(newRecord('logs', { bucket: 'busy' })))),
      ...filters.map(({ matches: _, ...filter }) =>
        repeat(() => one.records.read({ ...query, ...filter, limit: 100 })),
      ),
      repeat(() => other.records.counts({ ...query, stepMs: 3_600_000 })),
      repeat(() => other.records.counts({ ...query, since: 1, until: 2e12 + 1 })),
      repeat(() => other.records.facets({ ...query, limit: 100 })),
      repeat(() => other.records.arrivals({ ...query, after: 0, limit: 100 })),
    ]
    const today = Math.floor(one.nowMs() / dayMs) * dayMs
    const forgotten = await Promise.all(
      storages.map(async ({ records }) => {
        let sum = 0
        for (let step = 1; step > 0; sum += step) step = await records.forget(today)
        return sum
      }),
    )
    isOver = true
    await Promise.all(working)
    expect(failures).toEqual([])
    expect(forgotten[0]! + forgotten[1]!).toBeGreaterThan(0)
    const { list } = await one.records.read({ ...query, text: 'record', limit: 1000 })
    expect(list).toEqual([])
  })
})
