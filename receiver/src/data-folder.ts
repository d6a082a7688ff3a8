import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Make the folder of the data, for its owner's eyes only, and those above it. Throws what the file system does. Not by Node's own
 * recursive `mkdir`, which goes round for ever where a folder that is there answers ENOENT, as `/proc` does.
 */
export function makeDataFolder(path: string): void {
  const folder = resolve(path)
  if (isFolder(folder)) return
  const above = dirname(folder)
  if (!existsSync(above)) makeDataFolder(above)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another receiver may have made it meanwhile.
    if (!isFolder(folder)) throw error
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
