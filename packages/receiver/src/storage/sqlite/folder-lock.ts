import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSqlite } from './database.js'

const busy = 5

/** The data folder belongs to a receiver that runs. */
export class FolderInUseError extends Error {}

/**
 * Takes the data folder for one receiver. The lock is SQLite's own on the empty file `lock.db`: the system releases it with the process, however
 * that ends. `receiver.pid` only tells people who has it.
 *
 * @returns a function that releases the folder
 * @throws {FolderInUseError} if another receiver has it
 */
export function lockFolder(folder: string): () => void {
  const file = join(folder, 'lock.db')
  const pidFile = join(folder, 'receiver.pid')
  const database = openSqlite(file)
  try {
    // Of several that ask at once one gets it. BEGIN EXCLUSIVE can refuse all of them.
    database.exec('PRAGMA busy_timeout = 0; BEGIN IMMEDIATE')
  } catch (error) {
    database.close()
    if ((error as { readonly errcode?: number }).errcode !== busy) throw error
    throw new FolderInUseError(`another receiver${pidIn(pidFile)} uses the data folder ${folder} (it holds ${file})`, {
      cause: error,
    })
  }
  try {
    writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 })
  } catch {
    // The disk is full. The lock holds without it.
  }
  return () => {
    rmSync(pidFile, { force: true })
    database.close()
  }
}

/** True while a receiver has the data folder. */
export function isFolderInUse(folder: string): boolean {
  const file = join(folder, 'lock.db')
  if (!existsSync(file)) return false
  const database = openSqlite(file)
  try {
    database.exec('PRAGMA busy_timeout = 0; BEGIN IMMEDIATE; ROLLBACK')
    return false
  } catch (error) {
    if ((error as { readonly errcode?: number }).errcode !== busy) throw error
    return true
  } finally {
    database.close()
  }
}

function pidIn(file: string): string {
  try {
    const [pid] = /^\d+/.exec(readFileSync(file, 'utf8')) ?? []
    return pid === undefined ? '' : ` (process ${pid})`
  } catch {
    return ''
  }
}
