import { createRequire } from 'node:module'

type Value = string | number | bigint | null

/** The part of the `node:sqlite` API that the receiver uses. */
export interface Statement {
  run(...values: Value[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint }
  get(...values: Value[]): unknown
  all(...values: Value[]): unknown[]
}

export interface Database {
  exec(sql: string): void
  prepare(sql: string): Statement
  /** Makes a function of SQL. Texts that it gets are cut at NUL. */
  function(name: string, options: { readonly deterministic: true }, run: (value: string | null) => string | null): void
  close(): void
}

/** Opens a database with Node's own SQLite, or, where this Node has none, with the package that has the same API. */
export function openSqlite(path: string): Database {
  const require = createRequire(import.meta.url)
  const { DatabaseSync } = require(hasBuiltIn() ? 'node:sqlite' : '@photostructure/sqlite') as {
    DatabaseSync: new (path: string) => Database
  }
  return new DatabaseSync(path)
}

function hasBuiltIn(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  return major > 22 || (major === 22 && minor >= 13)
}

/** Runs the work in one transaction, which is on disk when this returns. Rolls back if the work throws. */
export function inTransaction<Result>(database: Database, work: () => Result): Result {
  return transact({ database, begin: 'BEGIN IMMEDIATE', work })
}

/** Like `inTransaction`, but locks nothing before the work reads or writes it. */
export function inLateTransaction<Result>(database: Database, work: () => Result): Result {
  return transact({ database, begin: 'BEGIN', work })
}

function transact<Result>({
  database,
  begin,
  work,
}: {
  readonly database: Database
  readonly begin: string
  readonly work: () => Result
}): Result {
  database.exec(begin)
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    try {
      database.exec('ROLLBACK')
    } catch {
      // SQLite has already rolled back, as it does when the disk is full.
    }
    throw error
  }
}
