import { PostgresStorage } from '../storage/postgres/postgres-storage.js'
import { inNewestStore } from '../storage/sqlite/opened-store.js'
import { SqliteRows } from '../storage/sqlite/sqlite-rows.js'
import type { KeyStorage, Storage } from '../storage/storage.js'
import { KeyTable } from '../storage/tables/key-table.js'
import { SessionTable } from '../storage/tables/session-table.js'
import { makeKey, shownKey } from './keys.js'
import { newPageAddress } from './page-sessions.js'
import type { Scope } from './scopes.js'

/** A data folder; with `database`, that in its place. */
export interface StorePlace {
  readonly data: string
  readonly database?: string | undefined
}

/** The command `sluice-receiver keys`. */
export type KeysCommand = StorePlace & { readonly json: boolean } & (
    | { readonly action: 'add'; readonly name: string; readonly scopes: readonly Scope[] }
    | { readonly action: 'list' }
    | { readonly action: 'revoke'; readonly id: string }
  )

/** Makes, lists or revokes API keys in a data folder or a database. Returns the text for stdout. */
export function runKeys(command: KeysCommand): Promise<string> {
  return inPlace(command, ({ keys }) => runOn(keys, command))
}

/** Makes an address of the page that opens one browser. Returns the text for stdout. */
export async function runPage(place: StorePlace, { json }: { readonly json: boolean }): Promise<string> {
  const page = await inPlace(place, ({ pageSessions }) => newPageAddress(pageSessions))
  return json ? `${JSON.stringify({ page })}\n` : `${page}\n`
}

/** Works on a store beside the receivers that may run on it. */
async function inPlace<Result>(
  { data, database }: StorePlace,
  work: (tables: Pick<Storage, 'keys' | 'pageSessions'>) => Promise<Result>,
): Promise<Result> {
  if (database === undefined) {
    return inNewestStore(data, (store) => {
      const rows = new SqliteRows(store)
      return work({ keys: new KeyTable(rows), pageSessions: new SessionTable(rows) })
    })
  }
  const storage = await PostgresStorage.open(database)
  try {
    return await work(storage)
  } finally {
    await storage.close()
  }
}

async function runOn(keys: KeyStorage, command: KeysCommand): Promise<string> {
  switch (command.action) {
    case 'add': {
      const { key, stored } = await makeKey(keys, command)
      if (command.json) return `${JSON.stringify({ ...shownKey(stored), key })}\n`
      return `Key ${stored.id} with ${stored.scopes.join(', ')}. It is shown only now:\n\n  ${key}\n\n`
    }
    case 'list': {
      const shown = (await keys.list()).map(shownKey)
      if (command.json) return shown.map((key) => `${JSON.stringify(key)}\n`).join('')
      return linesOf(shown)
    }
    case 'revoke':
      if (!(await keys.revoke(command.id))) throw new Error(`there is no key ${command.id} in ${placeOf(command)}`)
      return command.json ? `${JSON.stringify({ id: command.id })}\n` : `Key ${command.id} is revoked.\n`
  }
}

function placeOf({ data, database }: KeysCommand): string {
  return database === undefined ? data : 'the database'
}

function linesOf(keys: readonly ReturnType<typeof shownKey>[]): string {
  const rows = keys.map(({ id, createdAt, lastUsed, scopes, name }) => [
    id,
    createdAt.slice(0, 10),
    lastUsed ?? 'never',
    scopes.join(','),
    name,
  ])
  const table = [['id', 'made', 'last used', 'scopes', 'name'], ...rows]
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)))
  return table
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column]!))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}
