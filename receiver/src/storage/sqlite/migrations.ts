import { maxNameLength, maxNames, namedFields } from '../records/named-fields.js'
import { earliestMs } from '../records/record-times.js'
import { type Database, inTransaction } from './database.js'
import { countedMs, countedValueOf, minuteOf } from './record-values.js'

/**
 * SQL from each version of the tables to the next. Version 0 is an empty file, or one that is older than the version number.
 *
 * A *lane* is a bucket and kind. A *span* is a run of records of a lane with the range of their times. *Counts* have the records of a lane by
 * minute, by hour and in all, each by level or event. *Names* are the values of the fields that queries filter by, each as JSON. Filters look
 * records up in the text index. *Series*, one per combination of fields, did that until version 3. A field of a lane has *uncounted names* while
 * records up to that id may have values that found no room in the names.
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
  `
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
  INSERT INTO attempts (scope, key, at)
    SELECT kind || ' ' || bucket, idempotency_key, received_at FROM records WHERE idempotency_key IS NOT NULL
      AND received_at > unixepoch('now', '-1 day') * 1000 ORDER BY id;

  DROP TABLE counts;
  DROP INDEX records_by_bucket;
  DROP INDEX records_by_key;
  ALTER TABLE records RENAME TO old_records;
  CREATE TABLE lanes (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, bucket TEXT NOT NULL, UNIQUE (kind, bucket)) STRICT;
  CREATE TABLE series (
    id INTEGER PRIMARY KEY,
    lane INTEGER NOT NULL,
    name TEXT NOT NULL,
    level TEXT,
    event_id REAL,
    app_name TEXT NOT NULL,
    env TEXT,
    records INTEGER NOT NULL DEFAULT 0,
    UNIQUE (lane, name)
  ) STRICT;
  CREATE TABLE records (
    id INTEGER PRIMARY KEY,
    lane INTEGER NOT NULL,
    series INTEGER NOT NULL,
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
  CREATE TEMP TABLE moving AS SELECT o.id, l.id AS lane, o.level, o.event_id, o.received_at, o.record,
      json_array(o.level, iif(o.event_id = CAST(o.event_id AS INTEGER), CAST(o.event_id AS INTEGER), o.event_id),
        o.record ->> '$.appName', o.record ->> '$.env') AS name,
      (o.record ->> '$.timeStamp') * iif(abs(o.record ->> '$.timeStamp') < 1e11, 1000.0, 1.0) AS time_ms
    FROM old_records o JOIN lanes l ON l.kind = o.kind AND l.bucket = o.bucket;
  INSERT INTO series (lane, name, level, event_id, app_name, env, records)
    SELECT lane, name, level, event_id, record ->> '$.appName', record ->> '$.env', count(*) FROM moving GROUP BY lane, name;
  INSERT INTO records (id, lane, series, received_at, time_ms, record)
    SELECT m.id, m.lane, s.id, m.received_at, m.time_ms, m.record FROM moving m JOIN series s ON s.lane = m.lane AND s.name = m.name
      ORDER BY m.id;
  INSERT INTO spans SELECT lane, min(id), max(id), min(time_ms), max(time_ms) FROM records GROUP BY lane, id / 10000;
  DROP TABLE moving;
  DROP TABLE old_records;
  CREATE INDEX records_by_lane ON records (lane);
  CREATE INDEX records_by_series ON records (series);
  `,
  `CREATE TABLE page_sessions (hash TEXT PRIMARY KEY, created_at INTEGER NOT NULL) STRICT`,
  // The column of the series stays, unused: dropping it would write every record again.
  `
  DROP INDEX records_by_series;
  DROP INDEX records_by_lane;
  DROP TABLE series;
  ALTER TABLE records RENAME COLUMN series TO unused;
  CREATE INDEX records_by_lane ON records (lane, id, time_ms, ${countedValueOf('records').replaceAll('records.', '')});
  ALTER TABLE lanes ADD COLUMN records INTEGER NOT NULL DEFAULT 0;
  UPDATE lanes SET records = (SELECT count(*) FROM records WHERE lane = lanes.id);
  CREATE TABLE counts (
    lane INTEGER NOT NULL,
    step_ms INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    value TEXT NOT NULL,
    records INTEGER NOT NULL,
    last_ms REAL NOT NULL,
    PRIMARY KEY (lane, step_ms, at_ms, value)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE names (
    lane INTEGER NOT NULL,
    field TEXT NOT NULL,
    name TEXT NOT NULL,
    records INTEGER NOT NULL,
    PRIMARY KEY (lane, field, name)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO counts SELECT lane, 60000, ${minuteOf('ms')}, value, count(*), max(ms)
    FROM (SELECT lane, ${countedMs('time_ms')} AS ms, ${countedValueOf('records')} AS value FROM records) GROUP BY 1, 3, 4;
  INSERT INTO counts SELECT lane, 3600000, (at_ms - ${earliestMs}) / 3600000 * 3600000 + ${earliestMs}, value, sum(records), max(last_ms)
    FROM counts WHERE step_ms = 60000 GROUP BY 1, 3, 4;
  INSERT INTO counts SELECT lane, 0, 0, value, sum(records), max(last_ms) FROM counts WHERE step_ms = 3600000 GROUP BY 1, 4;
  CREATE TEMP TABLE named AS SELECT lane, ${namedFields.map((field) => `record -> '$.${field}' AS ${field}`).join(', ')}, count(*) AS records
    FROM records GROUP BY ${[1, ...namedFields.map((_, index) => index + 2)].join(', ')};
  UPDATE named SET eventId = NULL WHERE lane IN (SELECT id FROM lanes WHERE kind = 'values');
  INSERT INTO names SELECT lane, field, name, records FROM (
    SELECT *, row_number() OVER (PARTITION BY lane, field ORDER BY records DESC) AS place FROM (
      ${namedFields.map((field) => `SELECT lane, '${field}' AS field, ${field} AS name, sum(records) AS records FROM named GROUP BY 1, 3`).join('\n      UNION ALL ')}
    ) WHERE name IS NOT NULL AND length(name) <= ${maxNameLength}
  ) WHERE place <= ${maxNames};
  DROP TABLE named;
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

/**
 * Brings the tables to the version of this program. Each step is its own transaction, and reads in it the version that it starts from: another
 * process may do the same at the same time.
 *
 * @throws if a newer program has made the tables
 */
export function migrate(database: Database): void {
  if (versionOf(database) < newestVersion) leaveWal(database)
  while (versionOf(database) < newestVersion) {
    inTransaction(database, () => {
      const version = versionOf(database)
      const sql = migrations[version]
      if (sql !== undefined) database.exec(`${sql}; PRAGMA user_version = ${version + 1}`)
    })
  }
  if (versionOf(database) > newestVersion) throw new Error('a newer version of sluice-receiver has made this database')
}
