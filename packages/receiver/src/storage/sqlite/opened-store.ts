import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, openSqlite } from './database.js'
import { FolderInUseError, lockFolder } from './folder-lock.js'
import { migrate, newestVersion, versionOf } from './migrations.js'

/** Name of the database in a data folder. */
export const storeFile = 'receiver.sqlite'

/** Works on the store of a data folder, whatever its version, beside the receiver that may run on it. @throws if there is no store */
export async function inStore<Result>(
  folder: string,
  work: (database: Database) => Result | Promise<Result>,
): Promise<Result> {
  if (folder === ':memory:') throw new Error('a store in memory can be reached through its receiver only')
  const path = join(folder, storeFile)
  if (!existsSync(path)) {
    const words = existsSync(folder) ? 'no receiver has run there' : `there is no such folder: ${folder}`
    const toDo = 'start a receiver with npx sluice-receiver, or name its folder with --data'
    throw new Error(`there is no store in ${folder}: ${words}; ${toDo}`)
  }
  const database = openSqlite(path)
  try {
    database.exec('PRAGMA busy_timeout = 5000; PRAGMA synchronous = FULL')
    return await work(database)
  } finally {
    database.close()
  }
}

/**
 * Works on the store of a data folder. Tables of an earlier version are upgraded first, if no receiver runs.
 *
 * @throws if there is no store, or if its tables have another version and a receiver runs
 */
export function inNewestStore<Result>(
  folder: string,
  work: (database: Database) => Result | Promise<Result>,
): Promise<Result> {
  return inStore(folder, (database) => {
    if (versionOf(database) !== newestVersion) upgrade(database, folder)
    return work(database)
  })
}

function upgrade(database: Database, folder: string): void {
  let release: () => void
  try {
    release = lockFolder(folder)
  } catch (error) {
    if (!(error instanceof FolderInUseError)) throw error
    throw new Error(`${error.message}, and its tables have another version than this program`, { cause: error })
  }
  try {
    migrate(database)
  } finally {
    release()
  }
}
