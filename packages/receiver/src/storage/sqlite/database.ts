import { createRequire } from 'node:module'

type Value = string | number | bigint | null

/** The part of the `node:sqlite` API that the receiver uses. */
export interface Statement {
  run(...values: Value[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint }
  get(...values: Value[]): unknown
  all(...values: Value[]): unknown[]
  /** Reads row by row. Other statements may run meanwhile. */
  iterate(...values: Value[]): Iterable<unknown>
}

export interface Database {
  exec(sql: string): void
  /** The same SQL gives the same statement: most of a short question would be the time to prepare it. */
  prepare(sql: string): Statement
  /** Makes a function of SQL. Texts that it gets are cut at NUL. */
  function<Given extends Value, Result extends Value>(
    name: string,
    options: { readonly deterministic: boolean },
    run: (value: Given) => Result,
  ): void
  close(): void
}

/** Statements that a connection keeps. SQL has few forms, but filters may be combined in many ways. */
const maxStatements = 200

/** Opens a database with Node's own SQLite, or, where this Node has none, with the package that has the same API. */
export function openSqlite(path: string): Database {
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(path)
  const statements = new Map<string, Statement>()
  return {
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      const statement = statements.get(sql) ?? database.prepare(sql)
      if (statements.size === maxStatements) statements.clear()
      statements.set(sql, statement)
      return statement
    },
    function: (name, options, run) => database.function(name, options, run),
    close: () => database.close(),
  }
}

/** Opens a database that another connection writes. */
export function openToRead(path: string): Database {
  const database = openSqlite(path)
  database.exec('PRAGMA busy_timeout = 5000; PRAGMA cache_size = -65536')
  return database
}

interface Sqlite {
  readonly DatabaseSync: new (path: string) => Database
}

function loadSqlite(): Sqlite {
  const require = createRequire(import.meta.url)
  if (hasBuiltIn()) return quietly(() => require('node:sqlite') as Sqlite)
  try {
    return require(substitute) as Sqlite
  } catch (cause) {
    // It is optional: it may have been left out, or cannot be loaded on this machine.
    const reason = (cause as Error).message.split('\n')[0]
    const remedy = `use Node.js 22.13 or newer, or npm install ${substitute}`
    throw new Error(`Node.js ${process.versions.node} has no SQLite of its own; ${remedy} (${reason})`, { cause })
  }
}

/** Node 22 warns at the first load that its SQLite is experimental. The receiver is tested with it, and its user can do nothing about it. */
function quietly<Result>(work: () => Result): Result {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return work()
  } finally {
    process.emitWarning = emitWarning
  }
}

const substitute = '@photostructure/sqlite'

function hasBuiltIn(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  return major > 22 || (major === 22 && minor >= 13)
}

/** Runs the work in one transaction, which is on disk when this returns. Rolls back if the work throws. */
export function inTransaction<Result>(database: Database, work: () => Result): Result {
  database.exec('BEGIN IMMEDIATE')
  return committed(database, work)
}

/** Like `inTransaction`, but locks nothing before the work reads or writes it. */
export function inLateTransaction<Result>(database: Database, work: () => Result): Result {
  database.exec('BEGIN')
  return committed(database, work)
}

function committed<Result>(database: Database, work: () => Result): Result {
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
