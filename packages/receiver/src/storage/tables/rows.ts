import type { ContentType } from '../../schemas/content-types.js'
import { allOf, joined, raw, type Sql, sql, type Value } from '../sql.js'

/** Cells of a row by the names of their columns. */
export type Cells = Readonly<Record<string, Value>>

/**
 * What a transaction does: it yields its statements one after the other, and gets the rows of each. As it never waits for anything else, SQLite runs
 * it in one go: no other statement of the same connection gets in between.
 */
export type Work<Result> = Generator<Sql, Result, unknown[]>

/** The rows of a database's tables. */
export interface Rows {
  readonly dialect: Dialect
  all<Row>(statement: Sql): Promise<Row[]>
  /** Changes rows. Returns those that the statement returns, when the change is on disk. */
  run<Row>(statement: Sql): Promise<Row[]>
  /** Does the work in one transaction, several times if need be. Rolls back if it throws. */
  transaction<Result>(work: () => Work<Result>): Promise<Result>
}

export type TableName =
  | 'content_types'
  | 'entries'
  | 'identity'
  | 'keys'
  | 'page_sessions'
  | 'page_tokens'
  | 'projects'
  | 'saved_views'

/** What differs between the databases in statements on these tables. */
export interface Dialect {
  table(name: TableName): Sql
  /** Cells of a new row by which the rows of the table are ordered. */
  newRow(table: TableName): Cells
  /** A later row has a larger number. */
  readonly number: Sql
  /** Column of keys and sessions: when they were made, in ms since 1970. */
  readonly madeMs: 'created_at' | 'created_ms'
  /** The type has not been archived. */
  readonly isActive: Sql
  /** Makes others wait who would change the selected rows before this transaction ends. */
  readonly forShare: Sql
  /** The cells by which the entries of a type are found. */
  entriesOf(type: ContentType): Cells
  isAnyOf(column: string, values: readonly (string | number)[]): Sql
  /** Time since 1970, in ms. */
  nowMs(): number
}

/** Inserts a row. */
export function insertion(table: Sql, cells: Cells): Sql {
  const names = raw(Object.keys(cells).join(', '))
  const values = Object.values(cells).map((value) => sql`${value}`)
  return sql`INSERT INTO ${table} (${names}) VALUES (${joined(values, ', ')})`
}

/** True for the rows that have these cells. */
export function hasCells(cells: Cells): Sql {
  return allOf(Object.entries(cells).map(([name, value]) => sql`${raw(name)} = ${value}`))
}
