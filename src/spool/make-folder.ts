import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Make a folder for its owner's eyes only, and those above it. Throws what the file system does.
 *
 * Node's own recursive `mkdir` goes round for ever where a folder that is there answers ENOENT, as `/proc` does: a wrong
 * `SLUICE_SPOOL_DIR` would hold the thread without end.
 */
export function makeFolder(path: string): void {
  const folder = resolve(path)
  if (isFolder(folder)) return
  const above = dirname(folder)
  if (!existsSync(above)) makeFolder(above)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isFolder(folder)) throw error
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
