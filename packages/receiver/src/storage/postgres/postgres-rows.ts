import type pg from 'pg'
import { raw, type Sql, sql } from '../sql.js'
import type { Dialect, Rows, Work } from '../tables/rows.js'
import type { Database } from './database.js'

/** The rows of a database of PostgreSQL. */
export class PostgresRows implements Rows {
  readonly dialect: Dialect
  readonly #database: Database

  constructor(database: Database) {
    const { slot } = database
    this.#database = database
    this.dialect = {
      table: (name) => raw(`sluice_${name}`),
      newRow: () => ({ number: slot.takeId() }),
      number: raw('number'),
      madeMs: 'created_ms',
      isActive: raw('is_active'),
      forShare: raw('FOR SHARE'),
      entriesOf: (type) => ({ project: type.projectId, type: type.id }),
      isAnyOf: (column, values) => sql`${raw(column)} = ANY(${values})`,
      nowMs: () => slot.nowMs(),
    }
  }

  all<Row>(statement: Sql): Promise<Row[]> {
    const { text, values } = numbered(statement)
    return this.#database.servers.read<Row & object>(text, values)
  }

  run<Row>(statement: Sql): Promise<Row[]> {
    return this.#database.transactions.run((client) => rowsOf<Row>(client, statement))
  }

  transaction<Result>(work: () => Work<Result>): Promise<Result> {
    return this.#database.transactions.run(async (client) => {
      const steps = work()
      let step = steps.next()
      while (step.done !== true) step = steps.next(await rowsOf(client, step.value))
      return step.value
    })
  }
}

export async function rowsOf<Row>(client: pg.ClientBase, statement: Sql): Promise<Row[]> {
  return (await client.query<Row & object>(numbered(statement))).rows
}

/** The statement as pg takes it: with numbers in place of the question marks. @param first number of the first value */
export function numbered({ sql, values }: Sql, first = 1): { readonly text: string; readonly values: unknown[] } {
  let number = first
  return { text: sql.replaceAll('?', () => `$${number++}`), values: [...values] }
}
