import { createHash } from 'node:crypto'
import type { Database } from '../dist/storage/sqlite/database.js'
import { log } from './support.js'

/** The tables of version 1, without its number: the first receivers gave none. */
export const firstTables = `
  CREATE TABLE projects (id TEXT PRIMARY KEY, created_at INTEGER NOT NULL) STRICT;
  CREATE TABLE keys (hash TEXT PRIMARY KEY, created_at INTEGER NOT NULL) STRICT;
  CREATE TABLE records (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, bucket TEXT NOT NULL, level TEXT, event_id REAL,
    received_at INTEGER NOT NULL, idempotency_key TEXT, record TEXT NOT NULL
  ) STRICT;
  CREATE INDEX records_by_bucket ON records (kind, bucket, id);
  CREATE UNIQUE INDEX records_by_key ON records (kind, bucket, idempotency_key) WHERE idempotency_key IS NOT NULL;
  CREATE TABLE counts (
    kind TEXT NOT NULL, bucket TEXT NOT NULL, level TEXT NOT NULL, event_id REAL NOT NULL, records INTEGER NOT NULL,
    PRIMARY KEY (kind, bucket, level, event_id)
  ) STRICT, WITHOUT ROWID;
`

/** Makes a store of version 1 with so many logs. */
export function fillFirstStore(
  database: Database,
  { count, messageLength }: { readonly count: number; readonly messageLength: number },
): void {
  database.exec(`${firstTables} PRAGMA user_version = 1; BEGIN`)
  const insert = database.prepare(`INSERT INTO records VALUES (?, 'logs', ?, 'info', NULL, ?, ?, ?)`)
  for (let id = 1; id <= count; id++) {
    const record = { ...log, timeStamp: log.timeStamp + id, message: `${id} `.padEnd(messageLength, 'x') }
    insert.run(id, `demo${id % 2}`, record.timeStamp, `key-${id}-of-a-record`, JSON.stringify(record))
  }
  database.exec('COMMIT')
}

/** The number of records, and a hash of what each version keeps of them. */
export function recordsOf(database: Database): { count: number; hash: string } {
  const page = database.prepare('SELECT id, received_at, record FROM records WHERE id > ? ORDER BY id LIMIT 10000')
  const hash = createHash('sha256')
  let count = 0
  for (let rows = page.all(0); rows.length > 0; rows = page.all((rows.at(-1) as { id: number }).id)) {
    count += rows.length
    hash.update(JSON.stringify(rows))
  }
  return { count, hash: hash.digest('hex') }
}
