import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { inStore } from '../storage/sqlite/opened-store.js'
import type { StoreCommand } from './store-command.js'

/**
 * Copies the store of a data folder into a new file, as it is at one moment, while a receiver may write. The file appears when it is whole and on
 * disk, readable by its owner only: it has the records, and the hashes of the keys. Returns the text for stdout.
 *
 * @throws if the file exists or cannot be written, or if there is no store
 */
export function makeBackup({ data, json }: StoreCommand, file: string): Promise<string> {
  return inStore(data, (database) => {
    const path = resolve(file)
    if (existsSync(path)) throw new Error(`${file} exists: a backup makes a new file`)
    const part = `${path}.${process.pid}.part`
    try {
      // SQLite would make it readable by others, but takes an empty one.
      closeSync(openSync(part, 'wx', 0o600))
      database.prepare('VACUUM INTO ?').run(part)
      sync(part)
      renameSync(part, path)
      sync(dirname(path))
    } catch (cause) {
      rmSync(part, { force: true })
      const isGone = (cause as NodeJS.ErrnoException).code === 'ENOENT'
      const words = isGone ? `there is no such folder: ${dirname(file)}` : (cause as Error).message
      throw new Error(`cannot back up into ${file}: ${words}`, { cause })
    }
    const bytes = statSync(path).size
    return json ? `${JSON.stringify({ file, bytes })}\n` : `${file} has ${bytes} bytes.\n`
  })
}

function sync(path: string): void {
  // Windows opens no folder, and syncs no file that is open for reading only.
  if (process.platform === 'win32') return
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
