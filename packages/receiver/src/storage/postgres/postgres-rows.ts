import type pg from 'pg'
import { raw, type Sql, sql } from '../sql.js'
import type { Dialect, Rows, Work } from '../tables/rows.js'
import type { Ask, Servers } from './servers.js'
import type { Transactions } from './transactions.js'
import type { WriterSlot } from './writer-slot.js'

/** An open database. */
export interface Database {
  readonly servers: Servers
  readonly transactions: Transactions
  readonly slot: WriterSlot
}

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
    return asking((text, values) => this.#database.servers.read(text, values))<Row & object>(statement)
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

async function rowsOf<Row>(client: pg.ClientBase, statement: Sql): Promise<Row[]> {
  return (await client.query<Row & object>(numbered(statement))).rows
}

/** Asks the database. */
export type Question = <Row extends object>(statement: Sql) => Promise<Row[]>

export function asking(ask: Ask): Question {
  return (statement) => {
    const { text, values } = numbered(statement)
    return ask(text, values)
  }
}

/** The statement as pg takes it: with numbers in place of the question marks. */
export function numbered({ sql, values }: Sql): { readonly text: string; readonly values: unknown[] } {
  let number = 1
  return { text: sql.replaceAll('?', () => `$${number++}`), values: [...values] }
}
