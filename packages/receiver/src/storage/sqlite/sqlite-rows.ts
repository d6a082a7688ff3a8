import { raw, type Sql, sql, type Value } from '../sql.js'
import type { Dialect, Rows, Work } from '../tables/rows.js'
import { type Database, inTransaction } from './database.js'

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

  constructor(database: Database) {
    this.#database = database
  }

  async all<Row>(statement: Sql): Promise<Row[]> {
    return rowsOf(this.#database, statement) as Row[]
  }

  async run<Row>(statement: Sql): Promise<Row[]> {
    return rowsOf(this.#database, statement) as Row[]
  }

  async transaction<Result>(work: () => Work<Result>): Promise<Result> {
    return inTransaction(this.#database, () => {
      const steps = work()
      let step = steps.next()
      while (step.done !== true) step = steps.next(rowsOf(this.#database, step.value))
      return step.value
    })
  }
}

/** Runs a statement. Lists are JSON there. */
export function rowsOf(database: Database, { sql, values }: Sql): unknown[] {
  return database.prepare(sql).all(...values.map(stored))
}

function stored(value: Value): string | number | null {
  if (typeof value === 'boolean') return value ? 1 : 0
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
}
