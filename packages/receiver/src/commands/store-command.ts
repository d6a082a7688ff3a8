import { PostgresStorage } from '../storage/postgres/postgres-storage.js'
import { inNewestStore } from '../storage/sqlite/opened-store.js'
import { SqliteRows } from '../storage/sqlite/sqlite-rows.js'
import type { Storage } from '../storage/storage.js'
import { KeyTable } from '../storage/tables/key-table.js'
import { ProjectTable } from '../storage/tables/project-table.js'
import { SessionTable } from '../storage/tables/session-table.js'
import type { Place } from './place.js'

/** A command that works on a data folder or a database. */
export interface StoreCommand extends Place {
  readonly json: boolean
}

type Tables = Pick<Storage, 'keys' | 'pageSessions' | 'projects'>

/** Works on the tables of a data folder or a database, beside the receivers that may run on it. */
export async function inTables<Result>(
  { data, database }: StoreCommand,
  work: (tables: Tables) => Promise<Result>,
): Promise<Result> {
  if (database === undefined) {
    return inNewestStore(data, (store) => {
      const rows = new SqliteRows(store)
      return work({
        keys: new KeyTable(rows),
        pageSessions: new SessionTable(rows),
        projects: new ProjectTable(rows),
      })
    })
  }
  const storage = await PostgresStorage.open(database)
  try {
    return await work(storage)
  } finally {
    await storage.close()
  }
}

/** What a list prints: a line of JSON for each item, or a table for a person. */
export function listed<Item>(
  items: readonly Item[],
  { json, head, cells }: { readonly json: boolean; readonly head: readonly string[]; cells(item: Item): string[] },
): string {
  if (json) return items.map((item) => `${JSON.stringify(item)}\n`).join('')
  const table = [head, ...items.map(cells)]
  const widths = head.map((_, column) => Math.max(...table.map((row) => row[column]!.length)))
  const lines = table.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  '))
  return lines.map((line) => `${line.trimEnd()}\n`).join('')
}
