import { PostgresStorage } from '../storage/postgres/postgres-storage.js'
import { inNewestStore } from '../storage/sqlite/opened-store.js'
import { SqliteRows } from '../storage/sqlite/sqlite-rows.js'
import type { KeyStorage, Storage } from '../storage/storage.js'
import { KeyTable } from '../storage/tables/key-table.js'
import { makeKey, shownKey } from './keys.js'
import type { Scope } from './scopes.js'

/** The command `sluice-receiver keys`. */
export type KeysCommand = {
  readonly data: string
  readonly database?: string | undefined
  readonly json: boolean
} & (
  | { readonly action: 'add'; readonly name: string; readonly scopes: readonly Scope[] }
  | { readonly action: 'list' }
  | { readonly action: 'revoke'; readonly id: string }
)

/** Makes, lists or revokes API keys in a data folder or a database. Returns the text for stdout. */
export function runKeys(command: KeysCommand): Promise<string> {
  const { data, database } = command
  if (database === undefined) return inNewestStore(data, (store) => runOn(new KeyTable(new SqliteRows(store)), command))
  return inDatabase(database, ({ keys }) => runOn(keys, command))
}

/** Works on a database beside the receivers that may run on it. */
async function inDatabase<Result>(url: string, work: (storage: Storage) => Promise<Result>): Promise<Result> {
  const storage = await PostgresStorage.open(url)
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
