import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Days } from '../dist/storage/postgres/days.js'
import { PostgresStorage } from '../dist/storage/postgres/postgres-storage.js'
import { RecordIds } from '../dist/storage/postgres/record-ids.js'
import { RecordWriter as PostgresWriter } from '../dist/storage/postgres/record-writer.js'
import { Transactions } from '../dist/storage/postgres/transactions.js'
import { writtenRecord } from '../dist/storage/records/written-records.js'
import { openSqlite } from '../dist/storage/sqlite/database.js'
import { RecordWriter } from '../dist/storage/sqlite/record-writer.js'
import { SqliteStorage } from '../dist/storage/sqlite/sqlite-storage.js'

/** Time stamp of the first record, and the time from each to the next, in ms. */
export const firstTime = Date.parse('2024-01-01T00:00:00Z')
export const msPerRecord = 250

/** @param {number} number */
export function record(number) {
  const scattered = (number * 2_654_435_761) % 4_294_967_296
  const level = number % 999_983 === 7 ? 'fatal' : number % 50 === 7 ? 'error' : number % 3 === 0 ? 'debug' : 'info'
  return {
    timeStamp: firstTime + number * msPerRecord,
    level,
    message: `GET /orders/${scattered % 99_991} answered ${level === 'error' ? 503 : 200} after ${scattered % 300} ms for customer c${scattered % 100_003}`,
    appName: ['shop', 'jobs', 'mail', 'search', 'admin'][number % 5] ?? '',
    machineName: `m${number % 16}`,
    env: number % 7 === 0 ? 'staging' : 'production',
    eventId: scattered % 200_000,
  }
}

/** A record whose message has a context. @param {number} number */
export function recordWithContext(number) {
  const scattered = (number * 2_654_435_761) % 4_294_967_296
  const plain = record(number)
  const context = {
    reqId: `req-${scattered.toString(36)}`,
    req: { method: number % 5 === 0 ? 'POST' : 'GET', url: `/orders/${scattered % 99_991}` },
    res: { statusCode: plain.level === 'error' ? 503 : number % 40 === 9 ? 404 : 200 },
    responseTime: scattered % 300,
    user: number % 3 === 0 ? undefined : { id: `c${scattered % 100_003}` },
    batch: number % 1000 === 5 ? scattered : undefined,
  }
  return { ...plain, message: `request completed ${JSON.stringify(context)}` }
}

/**
 * Write logs into a store of the receiver, until it has so many.
 *
 * @param {string} data folder of the store
 * @param {number} records
 * @param {(number: number) => import('../dist/storage/record-storage.js').RecordFields} [recordOf]
 */
export async function storeRecords(data, records, recordOf = record) {
  mkdirSync(data, { recursive: true })
  await new SqliteStorage(join(data, 'receiver.sqlite')).close()
  const database = openSqlite(join(data, 'receiver.sqlite'))
  database.exec('PRAGMA synchronous = OFF')
  const { stored } = /** @type {{ stored: number }} */ (
    database.prepare('SELECT count(*) AS stored FROM records').get()
  )
  const unnamed = { addAll: () => new Set(), forget: () => {} }
  const writer = new RecordWriter(database, /** @type {any} */ (unnamed))
  for (let number = stored; number < records; ) {
    const group = []
    for (; group.length < 5000 && number < records; number++) {
      group.push(writtenRecord({ kind: 'logs', bucket: 'demo', idempotencyKey: undefined, record: recordOf(number) }))
    }
    database.exec('BEGIN')
    writer.write(group)
    database.exec('COMMIT')
  }
  database.close()
}

const dayMs = 86_400_000

/**
 * Write logs into a database, until it has so many, as if they had been received over ten days until now.
 *
 * @param {string} url
 * @param {number} records
 * @param {(number: number) => import('../dist/storage/record-storage.js').RecordFields} [recordOf]
 */
export async function storeRecordsInDatabase(url, records, recordOf = record) {
  const storage = await PostgresStorage.open(url)
  await storage.projects.add('demo')
  const transactions = new Transactions(storage.servers, { deadlineMs: 600_000 })
  const { total: stored } = await storage.records.read({ kind: 'logs', bucket: 'demo', limit: 1 })
  const begin = Math.floor(storage.nowMs() / dayMs) * dayMs - 9 * dayMs
  for (let day = 0; day < 10; day++) await new Days(storage.servers, transactions).prepare(begin + day * dayMs)
  let number = stored
  const nowMs = () => begin + Math.floor((number / records) * 9 * dayMs)
  const ids = new RecordIds({ slot: 63, nowMs })
  const writer = new PostgresWriter({ nowMs, takeId: () => ids.take() })
  // Two at once: one makes the next group while the database stores another.
  await Promise.all(
    [0, 1].map(async (index) => {
      while (number < records) {
        /** @type {import('../dist/storage/record-storage.js').NewRecord[]} */
        const group = []
        for (const end = Math.min(number + 2000, records); number < end; number++) {
          group.push({
            kind: /** @type {const} */ ('logs'),
            bucket: 'demo',
            idempotencyKey: undefined,
            record: recordOf(number),
          })
        }
        await transactions.run((client) => writer.write(client, { records: group, writer: 9_000 + index }))
      }
    }),
  )
  await transactions.run((client) => client.query('ANALYZE sluice_records'))
  await storage.close()
}
