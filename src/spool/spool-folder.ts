import { dirname, resolve } from 'node:path'
import type { FileFacts, Files } from '../runtime/files.js'
import { closeFile } from '../runtime/plain-file.js'

/** The user and the groups of a process. */
interface User {
  readonly id: number
  readonly groups: ReadonlySet<number>
}

type Facts = Pick<FileFacts, 'uid' | 'gid' | 'mode' | 'isDirectory' | 'isSymbolicLink'>

const root = 0
const sticky = 0o1000
const elsewhere = 'or change SLUICE_SPOOL_DIR (spoolDir)'

/** The user of this process; undefined on Windows, and where Deno may not read it. */
export function currentUser(): User | undefined {
  try {
    const id = process.geteuid?.()
    if (id === undefined) return undefined
    const own = process.getegid?.()
    return { id, groups: new Set([...(process.getgroups?.() ?? []), ...(own === undefined ? [] : [own])]) }
  } catch {
    return undefined
  }
}

/**
 * Make the folder of a spool if it does not exist, and check that no other user can replace it or a folder in it. Throws what the file
 * system does, and an error that says what is wrong and what to do.
 */
export function makeSpoolFolder(path: string, files: Files): void {
  // For a link that leads nowhere `mkdir` would throw a misleading error.
  const before = files.lstatSync(path, { throwIfNoEntry: false })
  if (before?.isSymbolicLink() !== true) makeFolder(path, files)
  checkSpoolFolder(path, files)
}

/** Check the folder of a spool that exists. Throws as {@link makeSpoolFolder} does. */
export function checkSpoolFolder(path: string, files: Files): void {
  const fault = spoolFolderFault(files.lstatSync(path), currentUser())
  if (fault !== undefined) throw new Error(`it ${fault}`)
}

/**
 * Why a folder cannot be that of a spool, and what to do; undefined when it can. Everybody may write to a folder of root: containers get
 * volumes like that.
 */
export function spoolFolderFault(facts: Facts, user: User | undefined): string | undefined {
  if (facts.isSymbolicLink()) return 'is a symbolic link: name the folder itself in SLUICE_SPOOL_DIR (spoolDir)'
  if (!facts.isDirectory()) return `is not a folder: remove it ${elsewhere}`
  if (user === undefined || facts.uid === root) return undefined
  if (facts.uid !== user.id) {
    return `belongs to user ${facts.uid}, and this process runs as ${user.id}: chown it ${elsewhere}`
  }
  if (!mayOthersWrite(facts, user) || (facts.mode & sticky) !== 0) return undefined
  return `can be written by other users: chmod go-w it ${elsewhere}`
}

/**
 * True for a folder that this user has made and no other user can write: only Sluice has written the files in it.
 *
 * @param plan `home` returns a folder that this process has made in the same place: some file systems give all folders one owner and mode
 */
export function isOurFolder(
  path: string,
  { home, files }: { readonly home: () => string; readonly files: Files },
): boolean {
  const facts = files.lstatSync(path)
  if (!facts.isDirectory()) return false
  const user = currentUser()
  if (user === undefined || (facts.uid === user.id && !mayOthersWrite(facts, user))) return true
  const own = files.lstatSync(home())
  return facts.uid === own.uid && facts.gid === own.gid && (facts.mode & ~own.mode & 0o022) === 0
}

/** Groups of this process are trusted: Kubernetes gives volumes to one (`fsGroup`), and many users have a private one. */
function mayOthersWrite({ mode, gid }: Pick<Facts, 'mode' | 'gid'>, { groups }: User): boolean {
  return (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && !groups.has(gid))
}

/**
 * Make a folder that only its owner can read, and the folders above it. Throws what the file system does.
 *
 * The recursive `mkdir` of Node.js never returns where an existing folder answers ENOENT, as `/proc` does: a wrong `SLUICE_SPOOL_DIR` would
 * block the thread for ever.
 */
export function makeFolder(path: string, files: Files): void {
  const folder = resolve(path)
  if (isFolder(folder, files)) return
  const above = dirname(folder)
  // A drive of Windows that is not there has nothing above it.
  if (above !== folder && !files.existsSync(above)) makeFolder(above, files)
  try {
    files.mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process may have made the folder meanwhile.
    if (!isFolder(folder, files)) throw error
  }
}

/** Codes of a file system that cannot sync folders: Windows, and some network file systems. */
const unsyncable: ReadonlySet<string | undefined> = new Set(['EPERM', 'EINVAL', 'EISDIR'])

/**
 * Wait until the entries of a folder are on disk, where the file system can sync folders. Throws other errors of the file system.
 */
export function syncFolder(path: string, files: Files): void {
  let folder: number | undefined
  try {
    folder = files.openSync(path, 'r')
    files.fsyncSync(folder)
  } catch (error) {
    if (!unsyncable.has(codeOf(error))) throw error
  } finally {
    if (folder !== undefined) closeFile(folder, files)
  }
}

/**
 * Wait until the entries of a folder and of all folders above it are on disk, as far as that is possible: after a power cut each must be in
 * the one above it. A folder that this user may not read is not one that this user has made. Throws other errors of the file system.
 */
export function syncPath(path: string, files: Files): void {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    try {
      syncFolder(folder, files)
    } catch (error) {
      if (codeOf(error) !== 'EACCES') throw error
    }
    if (folder === dirname(folder)) return
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}

function isFolder(path: string, files: Files): boolean {
  return files.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
