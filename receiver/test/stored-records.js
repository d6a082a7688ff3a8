import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { writtenRecord } from '../dist/storage/records/written-records.js'
import { openSqlite } from '../dist/storage/sqlite/database.js'
import { RecordWriter } from '../dist/storage/sqlite/record-writer.js'
import { SqliteStorage } from '../dist/storage/sqlite/sqlite-storage.js'

/** Time stamp of the first record, and the time from each to the next, in ms. */
export const firstTime = Date.parse('2024-01-01T00:00:00Z')
export const msPerRecord = 250

/** @param {number} number */
function record(number) {
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

/**
 * Write logs into a store of the receiver, until it has so many.
 *
 * @param {string} data folder of the store
 * @param {number} records
 */
export async function storeRecords(data, records) {
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
      group.push(writtenRecord({ kind: 'logs', bucket: 'demo', idempotencyKey: undefined, record: record(number) }))
    }
    database.exec('BEGIN')
    writer.write(group)
    database.exec('COMMIT')
  }
  database.close()
}
