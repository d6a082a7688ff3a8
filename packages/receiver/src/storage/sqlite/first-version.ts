import { fitting, type Sized } from '../page-bytes.js'
import type { Database } from './database.js'
import { countRecords } from './record-counts.js'

/** Most records and bytes of records that move in one step: so much more room does a step need, and as much again for its journal. */
const maxMoved = 10_000
const maxMovedBytes = 4_194_304

/**
 * The version of tables whose records are on the move from version 1. It is so high that every earlier program refuses such a store as made by
 * a newer one.
 */
export const halfWay = 1_000_001
/** The version of tables whose records have moved. */
export const movedVersion = 4

export const pageSessions = `
  CREATE TABLE page_sessions (hash TEXT PRIMARY KEY, created_at INTEGER NOT NULL) STRICT;
`

/**
 * SQL from version 1 to half-way. It takes the place of published migrations, which wrote all records again in one transaction with a copy in a
 * temporary table. The result is the same from version 4 on: the same tables and rows. Only the column `unused`, which nothing reads, is 0 as in
 * each later record; it was the number of a series.
 */
export const beginOfMove = `
  CREATE TABLE identity (id TEXT NOT NULL) STRICT;
  INSERT INTO identity VALUES (lower(hex(randomblob(16))));
  ALTER TABLE projects ADD COLUMN allows_content INTEGER NOT NULL DEFAULT 1;
  CREATE TABLE content_types (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL,
    key TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    display_field TEXT NOT NULL,
    schema TEXT NOT NULL,
    schema_version INTEGER NOT NULL,
    is_active INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX content_types_by_key ON content_types (project, key) WHERE is_active = 1;
  CREATE TABLE entries (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    type TEXT NOT NULL,
    schema_version INTEGER NOT NULL,
    state TEXT NOT NULL,
    fields TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    published_at TEXT
  ) STRICT;
  CREATE INDEX entries_by_type ON entries (type);
  CREATE TABLE attempts (
    number INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    result TEXT,
    at INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX attempts_by_key ON attempts (scope, key);
  DROP TABLE counts;
  DROP INDEX records_by_bucket;
  DROP INDEX records_by_key;
  INSERT INTO attempts (scope, key, at)
    SELECT kind || ' ' || bucket, idempotency_key, received_at FROM records WHERE idempotency_key IS NOT NULL
      AND received_at > unixepoch('now', '-1 day') * 1000 ORDER BY id;
  ALTER TABLE records RENAME TO old_records;
  CREATE TABLE lanes (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, bucket TEXT NOT NULL, UNIQUE (kind, bucket)) STRICT;
  CREATE TABLE records (
    id INTEGER PRIMARY KEY,
    lane INTEGER NOT NULL,
    unused INTEGER NOT NULL,
    received_at INTEGER NOT NULL,
    time_ms REAL NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE TABLE spans (
    lane INTEGER NOT NULL,
    first_id INTEGER NOT NULL,
    last_id INTEGER NOT NULL,
    earliest_ms REAL NOT NULL,
    latest_ms REAL NOT NULL,
    PRIMARY KEY (lane, first_id)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO lanes (kind, bucket) SELECT DISTINCT kind, bucket FROM old_records;
`

/** SQL from half-way to the moved version, when no record is left to move. */
export const endOfMove = `
  DROP TABLE old_records;
  INSERT INTO spans SELECT lane, min(id), max(id), min(time_ms), max(time_ms) FROM records GROUP BY lane, id / 10000;
  ${pageSessions}
  ${countRecords('LIMIT -1')}
`

/** Moves the first of the old records; new ones take the room of those that have moved. Returns false when none is left. */
export function moveSome(database: Database): boolean {
  const query = `SELECT id, octet_length(record) AS bytes FROM old_records ORDER BY id LIMIT ${maxMoved}`
  const last = fitting(database.prepare(query).all() as (Sized & { id: number })[], maxMovedBytes).at(-1)
  if (last === undefined) return false
  const move = `INSERT INTO records (id, lane, unused, received_at, time_ms, record)
    SELECT o.id, l.id, 0, o.received_at,
      (o.record ->> '$.timeStamp') * iif(abs(o.record ->> '$.timeStamp') < 1e11, 1000.0, 1.0), o.record
    FROM old_records o CROSS JOIN lanes l ON l.kind = o.kind AND l.bucket = o.bucket WHERE o.id <= ? ORDER BY o.id`
  database.prepare(move).run(last.id)
  database.prepare('DELETE FROM old_records WHERE id <= ?').run(last.id)
  return true
}
