import { statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathFault, reasonOf } from '../../../src/errors/text-of.js'
import { nodeFiles } from '../../../src/runtime/files.js'
import { makeFolder } from '../../../src/spool/spool-folder.js'
import { ReceiverError } from './receiver-error.js'
import { PostgresStorage } from './storage/postgres/postgres-storage.js'
import { FolderInUseError } from './storage/sqlite/folder-lock.js'
import { storeFile } from './storage/sqlite/opened-store.js'
import { SqliteStorage } from './storage/sqlite/sqlite-storage.js'
import { ThreadedSqliteStorage } from './storage/sqlite/threaded-sqlite-storage.js'
import type { Storage } from './storage/storage.js'

/** Opens the database of this URL. @throws {ReceiverError} if it cannot be used */
export async function openDatabase(database: string): Promise<Storage> {
  try {
    return await PostgresStorage.open(database)
  } catch (cause) {
    throw new ReceiverError('DATABASE_UNUSABLE', `cannot use the database: ${reasonOf(cause)}`, { cause })
  }
}

/** Opens the store of a data folder, or one in memory. @throws {ReceiverError} if the folder cannot be used */
export async function openFolder(data: string): Promise<Storage> {
  try {
    if (data === ':memory:') return new SqliteStorage(data)
    makeDataFolder(data)
    return await ThreadedSqliteStorage.open(resolve(data, storeFile))
  } catch (cause) {
    if (cause instanceof FolderInUseError) {
      const message = `${reasonOf(cause)}; stop it, or choose another folder with --data`
      throw new ReceiverError('DATA_IN_USE', message, { cause })
    }
    throw new ReceiverError('DATA_UNUSABLE', `cannot use the data folder ${data}: ${wordsOf(cause)}`, { cause })
  }
}

function wordsOf(cause: unknown): string {
  const { path } = cause as NodeJS.ErrnoException
  return path === undefined ? reasonOf(cause) : pathFault(cause, { path, kind: 'folder' })
}

/**
 * Makes the data folder, readable by its owner only and left out by git, and the folders above it. A folder that exists is left as it is.
 * Throws the errors of the file system.
 */
function makeDataFolder(path: string): void {
  const folder = resolve(path)
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return
  makeFolder(folder, nodeFiles)
  try {
    writeFileSync(join(folder, '.gitignore'), '*\n')
  } catch {
    // The disk is full, and the store will say so.
  }
}
