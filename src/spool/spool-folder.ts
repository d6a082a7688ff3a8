import { existsSync, lstatSync, mkdirSync, type Stats, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** The user and the groups of a process. */
export interface User {
  readonly id: number
  readonly groups: ReadonlySet<number>
}

type Facts = Pick<Stats, 'uid' | 'gid' | 'mode' | 'isDirectory' | 'isSymbolicLink'>

const root = 0
const sticky = 0o1000
const elsewhere = 'or name another folder in SLUICE_SPOOL_DIR (option spoolDir)'

/** The user that this thread acts as; undefined, too, where Deno may not say it. */
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
 * Make the folder of a spool where there is none, and see that nobody else can put another one in its place or in that of a folder in
 * it. Throws what the file system does, and an error that says what is wrong and what to do.
 */
export function makeSpoolFolder(path: string): void {
  // A link that leads nowhere would be an odd error of `mkdir`.
  const before = lstatSync(path, { throwIfNoEntry: false })
  if (before?.isSymbolicLink() !== true) makeFolder(path)
  checkSpoolFolder(path)
}

/** The same for a folder that is there. */
export function checkSpoolFolder(path: string): void {
  const fault = spoolFolderFault(lstatSync(path), currentUser())
  if (fault !== undefined) throw new Error(`it ${fault}`)
}

/**
 * Why a folder cannot be that of a spool, with what to do. One of root's may be written by everybody: that is how volumes are given to
 * containers.
 */
export function spoolFolderFault(facts: Facts, user: User | undefined): string | undefined {
  if (facts.isSymbolicLink()) return 'is a symbolic link: name the folder itself in SLUICE_SPOOL_DIR (option spoolDir)'
  if (!facts.isDirectory()) return `is no folder: remove it, ${elsewhere}`
  if (user === undefined || facts.uid === root) return undefined
  if (facts.uid !== user.id) {
    return `belongs to user ${facts.uid}, and this process runs as ${user.id}: chown it, ${elsewhere}`
  }
  if (!mayOthersWrite(facts, user) || (facts.mode & sticky) !== 0) return undefined
  return `can be written by other users: chmod go-w it, ${elsewhere}`
}

/**
 * True for a folder that this user has made and nobody else can write: only Sluice has written what lies in it.
 *
 * @param made a folder that this process has just made there: some file systems give every folder one owner and mode of their own
 */
export function isOurFolder(path: string, made: () => string): boolean {
  const facts = lstatSync(path)
  if (!facts.isDirectory()) return false
  const user = currentUser()
  if (user === undefined || (facts.uid === user.id && !mayOthersWrite(facts, user))) return true
  const own = lstatSync(made())
  return facts.uid === own.uid && facts.gid === own.gid && (facts.mode & ~own.mode & 0o022) === 0
}

/** A group of this process is trusted: Kubernetes gives volumes to one (`fsGroup`), and many users have one of their own. */
function mayOthersWrite({ mode, gid }: Pick<Facts, 'mode' | 'gid'>, { groups }: User): boolean {
  return (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && !groups.has(gid))
}

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

/** The folder from the root on: it stays where it is when the application goes to another one, and is the same in every thread. */
export function placedFolder(folder: string): string {
  try {
    return resolve(folder)
  } catch {
    // The working directory is gone: whoever opens the folder will find that.
    return folder
  }
}
