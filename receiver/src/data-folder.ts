import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Makes the data folder, readable by its owner only, and the folders above it. Throws the errors of the file system. Node's recursive
 * `mkdir` is not used: it loops forever where an existing folder answers ENOENT, as `/proc` does.
 */
export function makeDataFolder(path: string): void {
  const folder = resolve(path)
  if (isFolder(folder)) return
  const above = dirname(folder)
  if (!existsSync(above)) makeDataFolder(above)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another receiver may have made the folder in the meantime.
    if (!isFolder(folder)) throw error
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
