import { raw, type Sql, sql, type Value } from '../sql.js'
import type { Dialect, Rows, Work } from '../tables/rows.js'
import { type Database, inTransaction, type Statement } from './database.js'

const dialect: Dialect = {
  table: raw,
  newRow: (table) => (table === 'projects' ? { created_at: Date.now() } : {}),
  number: raw('rowid'),
  madeMs: 'created_at',
  // The index of types has this very condition.
  isActive: raw('is_active = 1'),
  forShare: raw(''),
  entriesOf: (type) => ({ type: type.id }),
  isAnyOf: (column, values) => sql`${raw(column)} IN (SELECT value FROM json_each(${values}))`,
  nowMs: () => Date.now(),
}

/** The rows of a database on one connection. Every statement runs at once, in this thread. */
export class SqliteRows implements Rows {
  readonly dialect = dialect
  readonly #database: Database
  /** By their SQL, of which there is little: to prepare one takes longer than to run it. */
  readonly #statements = new Map<string, Statement>()

  constructor(database: Database) {
    this.#database = database
  }

  async all<Row>(statement: Sql): Promise<Row[]> {
    return this.#rowsOf(statement) as Row[]
  }

  async run<Row>(statement: Sql): Promise<Row[]> {
    return this.#rowsOf(statement) as Row[]
  }

  async transaction<Result>(work: () => Work<Result>): Promise<Result> {
    return inTransaction(this.#database, () => {
      const steps = work()
      let step = steps.next()
      while (step.done !== true) step = steps.next(this.#rowsOf(step.value))
      return step.value
    })
  }

  #rowsOf({ sql, values }: Sql): unknown[] {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql)
    this.#statements.set(sql, statement)
    return statement.all(...values.map(stored))
  }
}

/** Runs a statement once. Lists are JSON there. */
export function rowsOf(database: Database, { sql, values }: Sql): unknown[] {
  return database.prepare(sql).all(...values.map(stored))
}

function stored(value: Value): string | number | null {
  if (typeof value === 'boolean') return value ? 1 : 0
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
}
