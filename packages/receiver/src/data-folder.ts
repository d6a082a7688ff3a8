import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/**
 * Makes the data folder, readable by its owner only and left out by git, and the folders above it. A folder that exists is left as it is.
 * Throws the errors of the file system.
 */
export function makeDataFolder(path: string): void {
  const folder = resolve(path)
  if (!makeFolder(folder)) return
  try {
    writeFileSync(join(folder, '.gitignore'), '*\n')
  } catch {
    // The disk is full, and the store will say so.
  }
}

/**
 * True when the folder was missing. Node's recursive `mkdir` is not used: it loops forever where an existing folder answers ENOENT, as
 * `/proc` does.
 */
function makeFolder(folder: string): boolean {
  if (isFolder(folder)) return false
  const above = dirname(folder)
  if (!existsSync(above)) makeFolder(above)
  try {
    mkdirSync(folder, { mode: 0o700 })
    return true
  } catch (error) {
    // Another receiver may have made the folder in the meantime.
    if (!isFolder(folder)) throw error
    return false
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
