import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rowsOf } from '../../../../test/support/full.js'
import { PostgresStorage } from '../../dist/storage/postgres/postgres-storage.js'
import { openSqlite } from '../../dist/storage/sqlite/database.js'
import { SqliteStorage } from '../../dist/storage/sqlite/sqlite-storage.js'
import { ThreadedSqliteStorage } from '../../dist/storage/sqlite/threaded-sqlite-storage.js'
import type { Storage } from '../../dist/storage/storage.js'
import { Cluster } from '../postgres/cluster.js'
import { postgresInstalled, withPostgres } from '../postgres/installation.js'
import { queryOf, stopServers } from '../postgres/server.js'

/** A store that is open in one or more instances. */
export interface OpenStore {
  readonly instances: readonly Storage[]
  /** Makes the database refuse each record that has the word, until the returned function is called. */
  readonly refuse?: (word: string) => Promise<() => Promise<unknown>>
  close(): Promise<void>
}

export interface StoreKind {
  readonly name: string
  readonly isInstalled: boolean
  open(): Promise<OpenStore>
}

const all: readonly StoreKind[] = [
  { name: 'SQLite in memory', isInstalled: true, open: openInMemory },
  { name: 'SQLite in threads of its own', isInstalled: true, open: openInThreads },
  { name: withPostgres('PostgreSQL'), isInstalled: postgresInstalled, open: () => openInPostgres(1) },
  { name: withPostgres('two instances on PostgreSQL'), isInstalled: postgresInstalled, open: () => openInPostgres(2) },
]

/** In `npm test`, the store of a receiver on disk. With FULL the others, too. */
export const storeKinds = rowsOf(all, ({ name }) => name === 'SQLite in threads of its own')

async function openInMemory(): Promise<OpenStore> {
  const storage = new SqliteStorage(':memory:')
  return { instances: [storage], close: () => storage.close() }
}

async function openInThreads(): Promise<OpenStore> {
  const folder = mkdtempSync(join(tmpdir(), 'receiver-contract-'))
  const file = join(folder, 'receiver.sqlite')
  const storage = await ThreadedSqliteStorage.open(file)
  const change = async (sql: string) => {
    const database = openSqlite(file)
    database.exec(sql)
    database.close()
  }
  return {
    instances: [storage],
    async refuse(word) {
      await change(`CREATE TRIGGER refuse BEFORE INSERT ON records WHEN instr(new.record, '${word}') > 0
        BEGIN SELECT raise(ABORT, 'refused'); END`)
      return () => change('DROP TRIGGER refuse')
    },
    async close() {
      await storage.close()
      rmSync(folder, { recursive: true })
    },
  }
}

/** One server for the stores of a test file. */
let cluster: Promise<Cluster> | undefined

export async function closeStores(): Promise<void> {
  cluster = undefined
  await stopServers()
}

async function openInPostgres(instances: number): Promise<OpenStore> {
  cluster ??= Cluster.start()
  const url = await (await cluster).createDatabase()
  const open: Storage[] = []
  while (open.length < instances) open.push(await PostgresStorage.open(url))
  return {
    instances: open,
    async refuse(word) {
      await queryOf(
        url,
        `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
         CREATE TRIGGER refuse BEFORE INSERT ON sluice_records FOR EACH ROW
           WHEN (strpos(new.record, '${word}') > 0) EXECUTE FUNCTION refuse()`,
      )
      return () => queryOf(url, 'DROP FUNCTION refuse CASCADE')
    },
    async close() {
      await Promise.all(open.map((storage) => storage.close()))
    },
  }
}
