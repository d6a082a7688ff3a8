import { GroupCommit } from './group-commit.js'
import { type Database, openSqlite, type Statement } from './open-sqlite.js'
import type { NewRecord, RecordKind, RecordQuery, Storage, StoredRecord } from './storage.js'

const schemaSql = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA busy_timeout = 5000;
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
`

/** Stands for "no event" in the counts, whose primary key takes no null. No event has this number: it is not a whole one. */
const noEvent = -0.5

/** Everything in one SQLite file: `synchronous=FULL`, and an answer only after the commit. */
export class SqliteStorage implements Storage {
  readonly #database: Database
  readonly #insert: Statement
  readonly #count: Statement
  readonly #project: Statement
  readonly #commits = new GroupCommit<NewRecord>((records) => this.#store(records))

  /** @param path of the file, or `:memory:` */
  constructor(path: string) {
    this.#database = openSqlite(path)
    this.#database.exec(schemaSql)
    this.#insert = this.#database.prepare(
      `INSERT OR IGNORE INTO records (kind, bucket, level, event_id, received_at, idempotency_key, record)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    )
    this.#count = this.#database.prepare(
      `INSERT INTO counts (kind, bucket, level, event_id, records) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET records = records + excluded.records`,
    )
    this.#project = this.#database.prepare('SELECT 1 FROM projects WHERE id = ?')
  }

  append(record: NewRecord): Promise<void> {
    return this.#commits.add(record)
  }

  read({ kind, bucket, limit, level, eventId, before }: RecordQuery): { total: number; list: StoredRecord[] } {
    const filters = ['kind = ?', 'bucket = ?']
    const values: (string | number)[] = [kind, bucket]
    if (level !== undefined) {
      filters.push('level = ?')
      values.push(level)
    }
    if (eventId !== undefined) {
      filters.push('event_id = ?')
      values.push(eventId)
    }
    const counted = this.#database
      .prepare(`SELECT coalesce(sum(records), 0) AS total FROM counts WHERE ${filters.join(' AND ')}`)
      .get(...values) as { total: number }
    if (before !== undefined) {
      filters.push('id < ?')
      values.push(before)
    }
    const rows = this.#database
      .prepare(`SELECT id, received_at, record FROM records WHERE ${filters.join(' AND ')} ORDER BY id DESC LIMIT ?`)
      .all(...values, limit) as { id: number; received_at: number; record: string }[]
    const list = rows.map((row) => ({
      id: row.id,
      receivedAt: new Date(row.received_at).toISOString(),
      ...(JSON.parse(row.record) as object),
    }))
    return { total: counted.total, list }
  }

  hasProject(id: string): boolean {
    return this.#project.get(id) !== undefined
  }

  addProject(id: string): void {
    this.#database.prepare('INSERT OR IGNORE INTO projects (id, created_at) VALUES (?, ?)').run(id, Date.now())
  }

  keyHashes(): string[] {
    return (this.#database.prepare('SELECT hash FROM keys').all() as { hash: string }[]).map(({ hash }) => hash)
  }

  addKey(hash: string): void {
    this.#database.prepare('INSERT INTO keys (hash, created_at) VALUES (?, ?)').run(hash, Date.now())
  }

  async close(): Promise<void> {
    await this.#commits.settled()
    this.#database.close()
  }

  #store(records: readonly NewRecord[]): void {
    const receivedAt = Date.now()
    const counts = new Map<string, { row: [RecordKind, string, string, number]; records: number }>()
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      for (const { kind, bucket, idempotencyKey, record } of records) {
        const { level, eventId } = record
        const { changes } = this.#insert.run(
          kind,
          bucket,
          level ?? null,
          eventId ?? null,
          receivedAt,
          idempotencyKey ?? null,
          JSON.stringify(record),
        )
        if (Number(changes) === 0) continue
        const row: [RecordKind, string, string, number] = [kind, bucket, level ?? '', eventId ?? noEvent]
        const name = JSON.stringify(row)
        const counted = counts.get(name)
        if (counted === undefined) counts.set(name, { row, records: 1 })
        else counted.records++
      }
      for (const { row, records: added } of counts.values()) this.#count.run(...row, added)
      this.#database.exec('COMMIT')
    } catch (error) {
      this.#rollBack()
      throw error
    }
  }

  #rollBack(): void {
    try {
      this.#database.exec('ROLLBACK')
    } catch {
      // SQLite has rolled back by itself, as it does when the disk is full.
    }
  }
}
