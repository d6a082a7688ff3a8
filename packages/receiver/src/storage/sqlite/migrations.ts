import { maxNames } from '../records/named-fields.js'
import { type Database, inTransaction } from './database.js'
import { beginOfMove, endOfMove, halfWay, movedVersion, moveSome, pageSessions } from './first-version.js'
import { countRecords } from './record-counts.js'

/**
 * SQL from each version of the tables to the next, except that records of version 1 move in steps from half-way to version 4. Version 0 is an
 * empty file, or one that is older than the version number.
 *
 * A *lane* is a bucket and kind. A *span* is a run of records of a lane with the range of their times. *Counts* have the records of a lane by
 * minute, by hour and in all, each by level or event. *Names* are the values of the fields that queries filter by, each as JSON. Filters look
 * records up in the text index. *Series*, one per combination of fields, did that until version 3. A field of a lane has *uncounted names* while
 * records up to that id may have values that found no room in the names. *Errors* count the logs since version 9 by kind of error, application,
 * environment and version; those of the empty kind are all logs. *Steps* of an error have its records by minute, hour and day.
 */
const migrations: readonly string[] = [
  `
  CREATE TABLE IF NOT EXISTS projects (id TEXT PRIMARY KEY, created_at INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS keys (hash TEXT PRIMARY KEY, created_at INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS records (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    bucket TEXT NOT NULL,
    level TEXT,
    event_id REAL,
    received_at INTEGER NOT NULL,
    idempotency_key TEXT,
    record TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS records_by_bucket ON records (kind, bucket, id);
  CREATE UNIQUE INDEX IF NOT EXISTS records_by_key ON records (kind, bucket, idempotency_key) WHERE idempotency_key IS NOT NULL;
  CREATE TABLE IF NOT EXISTS counts (
    kind TEXT NOT NULL,
    bucket TEXT NOT NULL,
    level TEXT NOT NULL,
    event_id REAL NOT NULL,
    records INTEGER NOT NULL,
    PRIMARY KEY (kind, bucket, level, event_id)
  ) STRICT, WITHOUT ROWID;
  `,
  beginOfMove,
  pageSessions,
  // The column of the series stays, unused: dropping it would write every record again.
  `
  DROP INDEX records_by_series;
  DROP INDEX records_by_lane;
  DROP TABLE series;
  ALTER TABLE records RENAME COLUMN series TO unused;
  ${countRecords('')}
  `,
  // A key of an earlier version could do everything.
  `
  ALTER TABLE keys ADD COLUMN id TEXT NOT NULL DEFAULT '';
  ALTER TABLE keys ADD COLUMN name TEXT NOT NULL DEFAULT '';
  ALTER TABLE keys ADD COLUMN scopes TEXT NOT NULL DEFAULT 'ingest,content,read,admin';
  ALTER TABLE keys ADD COLUMN last_used TEXT;
  UPDATE keys SET id = substr(hash, 1, 12);
  CREATE UNIQUE INDEX keys_by_id ON keys (id);
  `,
  // A table that has as many names as it may have can lack some.
  `
  ALTER TABLE identity ADD COLUMN last_forgotten_id INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX records_by_receipt ON records (received_at);
  CREATE TABLE uncounted_names (lane INTEGER NOT NULL, field TEXT NOT NULL, last_id INTEGER NOT NULL, PRIMARY KEY (lane, field)) STRICT, WITHOUT ROWID;
  INSERT INTO uncounted_names SELECT lane, field, (SELECT coalesce(max(id), 0) FROM records) FROM names
    GROUP BY lane, field HAVING count(*) >= ${maxNames};
  `,
  `
  ALTER TABLE page_sessions ADD COLUMN key_id TEXT;
  ALTER TABLE identity ADD COLUMN page TEXT;
  CREATE TABLE page_tokens (hash TEXT PRIMARY KEY, created_at INTEGER NOT NULL) STRICT;
  CREATE TABLE saved_views (name TEXT PRIMARY KEY, hash TEXT NOT NULL) STRICT;
  `,
  'ALTER TABLE keys ADD COLUMN projects TEXT;',
  `
  CREATE TABLE errors (
    lane INTEGER NOT NULL,
    kind TEXT NOT NULL,
    app TEXT NOT NULL,
    env TEXT NOT NULL,
    version TEXT NOT NULL,
    number INTEGER NOT NULL UNIQUE,
    records INTEGER NOT NULL,
    first_id INTEGER NOT NULL,
    last_id INTEGER NOT NULL,
    first_ms REAL NOT NULL,
    last_ms REAL NOT NULL,
    PRIMARY KEY (lane, kind, app, env, version)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE error_steps (
    error INTEGER NOT NULL,
    step_ms INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    records INTEGER NOT NULL,
    PRIMARY KEY (error, step_ms, at_ms)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE error_kinds (
    lane INTEGER NOT NULL,
    id TEXT NOT NULL,
    type TEXT,
    message TEXT NOT NULL,
    frame TEXT,
    PRIMARY KEY (lane, id)
  ) STRICT, WITHOUT ROWID;
  `,
]

/** An upgrade that writes every record again needs less room: a write-ahead log would have each of them once more. */
function leaveWal(database: Database): void {
  try {
    database.exec('PRAGMA journal_mode = DELETE')
  } catch {
    // Another process has the database open. The upgrade does without.
  }
}

/** The version of the tables that this program makes. */
export const newestVersion = migrations.length

export function versionOf(database: Database): number {
  return (database.prepare('PRAGMA user_version').get() as { user_version: number }).user_version
}

/** Tables of an earlier version, or half-way to a later one. */
export function isOld(version: number): boolean {
  return version < newestVersion || version === halfWay
}

/**
 * Brings the tables to the version of this program. Each step is its own transaction, and reads in it the version that it starts from: another
 * process may do the same at the same time, and the next start goes on after a kill.
 *
 * @throws if a newer program has made the tables
 */
export function migrate(database: Database): void {
  if (isOld(versionOf(database))) leaveWal(database)
  while (isOld(versionOf(database))) inTransaction(database, () => goOn(database))
  if (versionOf(database) > newestVersion) throw new Error('a newer version of sluice-receiver has made this database')
}

function goOn(database: Database): void {
  const version = versionOf(database)
  if (version === halfWay) {
    if (!moveSome(database)) database.exec(`${endOfMove}; PRAGMA user_version = ${movedVersion}`)
    return
  }
  const sql = migrations[version]
  if (sql !== undefined) database.exec(`${sql}; PRAGMA user_version = ${version === 1 ? halfWay : version + 1}`)
}
