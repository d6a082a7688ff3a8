import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { parseQuery } from '../dist/query/parse-query.js'
import { type Database, openSqlite } from '../dist/storage/sqlite/database.js'
import { RecordReader } from '../dist/storage/sqlite/record-reader.js'
import { SqliteStorage } from '../dist/storage/sqlite/sqlite-storage.js'
import { dataFolder } from './data-folder.js'
import { log } from './support.js'

const data = dataFolder()
const noon = Date.UTC(2026, 0, 31, 12)
let storage: SqliteStorage
let database: Database
let reader: RecordReader
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: noon })
  storage = new SqliteStorage(data.file('receiver.sqlite'))
  database = openSqlite(data.file('receiver.sqlite'))
  reader = new RecordReader(database, data.file('texts.sqlite'))
})
afterEach(async () => {
  database.close()
  await storage.close()
  vi.useRealTimers()
})

/** Stores records a minute later than those before. */
async function store(count: number, message: string): Promise<void> {
  vi.setSystemTime(Date.now() + 60_000)
  const record = { kind: 'logs', bucket: 'demo', idempotencyKey: undefined, record: { ...log, message } } as const
  await Promise.all(Array.from({ length: count }, () => storage.records.append(record)))
}

async function forget(before: number): Promise<void> {
  while ((await storage.records.forget(before)) > 0);
}

function follow(): void {
  while (reader.texts.follow());
  while (reader.texts.tidy());
}

const parts = () => database.prepare('SELECT first_id FROM texts.parts ORDER BY 1').all() as { first_id: number }[]
const read = (query: object) => reader.read({ kind: 'logs', bucket: 'demo', limit: 10, ...query })
const idsOf = (query: object) => read(query).list.map(({ id }) => id)
const pagesOf = () => (database.prepare('PRAGMA texts.page_count').get() as { page_count: number }).page_count

it('the text index has parts, reads over all of them, and drops those without records', async () => {
  await store(25_000, 'first word')
  follow()
  const both = [{ first_id: 1 }, { first_id: 20_001 }]
  expect(parts()).toEqual(both)
  await forget(Date.now())
  await store(10, 'second word')
  follow()
  expect(parts()).toEqual(both)

  await storage.records.forget(Date.now())
  await store(10, 'third word')
  follow()
  expect(parts()).toEqual(both)
  expect(read({ text: 'word' })).toMatchObject({ total: 1000, totalIsAtLeast: true })
  expect(idsOf({ text: 'word' }).at(-1)).toBe(25_011)
  expect(idsOf({ text: 'word', before: 25_012 })).toEqual([
    25_011,
    ...Array.from({ length: 9 }, (_, back) => 25_010 - back),
  ])
  expect(idsOf({ text: 'word', after: 25_019 })).toEqual([25_020])
  expect(idsOf({ text: 'second', limit: 1 })).toEqual([25_010])
  expect(reader.counts({ kind: 'logs', bucket: 'demo', text: 'word' }).total).toBe(24_620)

  await forget(Date.now())
  follow()
  expect(parts()).toEqual(both.slice(1))
  expect(read({ text: 'word' }).total).toBe(10)
  expect(read({ appName: 'shop', text: 'first' }).total).toBe(0)
})

it('the text index of a store that forgets does not grow with what has been forgotten', async () => {
  const sizes: number[] = []
  for (let round = 0; round < 6; round++) {
    await store(25_000, `round ${round} of a message with some more words`)
    follow()
    await forget(Date.now())
    follow()
    sizes.push(pagesOf())
  }
  expect(parts().length).toBeLessThanOrEqual(3)
  // Parts with the records of two rounds, and up to a round of forgotten ones.
  expect(Math.max(...sizes)).toBeLessThan(sizes[0]! * 3.5)
})

it('a text index of an earlier version is made again', async () => {
  await store(3, 'first word')
  follow()
  database.exec('DROP TABLE texts.parts; PRAGMA texts.user_version = 1')
  database.exec("INSERT INTO texts.words (rowid, message, labels) VALUES (-1, 'old', 'l1')")
  database.close()
  database = openSqlite(data.file('receiver.sqlite'))
  reader = new RecordReader(database, data.file('texts.sqlite'))
  await store(1, 'another word')
  expect(parts()).toEqual([{ first_id: 1 }])
  expect([read({ text: 'word' }).total, idsOf({ text: 'old' })]).toEqual([4, []])
})

it('the last page of a search that was cut does not count all records before it', async () => {
  await store(1, 'old word')
  await store(45_000, 'some word')
  follow()
  const query = parseQuery('-word', 0)!
  const first = read({ query, patienceMs: 0 })
  expect(first).toMatchObject({ list: [], incomplete: true })
  // Each look at the clock is 30 ms later.
  let nowMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 30))
  onTestFinished(() => void vi.restoreAllMocks())
  expect(read({ query, before: 15_000, patienceMs: 300 })).toEqual({ total: 0, totalIsAtLeast: true, list: [] })
  expect(read({ text: 'old', before: 15_000, patienceMs: 300 })).toMatchObject({ total: 1, totalIsAtLeast: true })
})
