import { randomBytes } from 'node:crypto'
import { linkSync, lstatSync, openSync, readdirSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { closeFile, readPlainFile } from '../options/plain-file.js'
import { currentOwner, isCurrent, isInUse, type Owner, type OwnerState, ownerOf, stateOf } from './owner.js'

export interface Holder {
  /** The lock file. */
  readonly path: string
  readonly number: number
  /** Undefined when the file does not name an owner. */
  readonly owner: Owner | undefined
  readonly state: OwnerState
  /** Changes with every sign of life of the holder. */
  readonly sign: string
}

/** A process that holds a lock, and the lock file. */
export interface LockingProcess {
  readonly pid: number
  readonly path: string
}

/** A holder gives a sign of life this often, for those who cannot see it. */
export const signIntervalMs = 10_000

/** The name of a lock file in a folder, and of the draft of one. */
export const lockFile = /^lock-\d{1,15}(?:\.[0-9a-f]{8})?$/

/** The name of the lock of a folder. */
export function lockOf(folder: string): string {
  return join(folder, 'lock')
}

/**
 * A lock is a series of files: `NAME-1`, `NAME-2` and so on. The file with the highest number names the holder. A process takes the lock
 * from a dead holder when it is the first to create the file with the next number. So one of several succeeds, however slow each is.
 */
export class Lock {
  readonly #name: string
  readonly #number: number

  private constructor(name: string, number: number) {
    this.#name = name
    this.#number = number
  }

  /** Undefined when the lock is free. Throws when the folder cannot be read. */
  static holderOf(name: string): Holder | undefined {
    const number = Math.max(0, ...numbersOf(name))
    if (number === 0) return undefined
    const path = pathOf(name, number)
    try {
      const sign = signOf(path)
      const owner = readOwner(path)
      return { path, number, owner, sign, state: owner === undefined ? 'unknown' : stateOf(owner) }
    } catch {
      // The lock has just been released.
      return undefined
    }
  }

  /**
   * Take a lock that was found free, or held by a dead holder. Undefined when another thread was quicker, or the holder has given a sign of
   * life. Throws what the file system does.
   */
  static claim(name: string, found: Holder | undefined): Lock | undefined {
    const number = (found?.number ?? 0) + 1
    const path = pathOf(name, number)
    if (!create(path)) return undefined
    // Numbers are used again after a release: another holder may have come and gone since.
    if (found === undefined || isUnchanged(found)) return new Lock(name, number)
    remove(path)
    return undefined
  }

  /** Take the lock at once, or name the process that holds it. Throws what the file system does. */
  static take(name: string): Lock | LockingProcess {
    for (;;) {
      const found = Lock.holderOf(name)
      const running = runningProcess(found)
      if (running !== undefined) return running
      const lock = Lock.claim(name, found)
      if (lock !== undefined) return lock
    }
  }

  /** The running process that holds the lock; undefined when there is none. */
  static processOf(name: string): LockingProcess | undefined {
    return runningProcess(Lock.holderOf(name))
  }

  /** The same lock under the name that it has now. */
  renamed(name: string): Lock {
    return new Lock(name, this.#number)
  }

  /** Give a sign of life. False when the lock file is gone. Throws any other error of the file system. */
  touch(): boolean {
    try {
      const now = new Date()
      utimesSync(pathOf(this.#name, this.#number), now, now)
      return true
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT' || code === 'ENOTDIR') return false
      throw error
    }
  }

  /** Remove the lock file, and before it those of earlier holders. Never throws. */
  clear(): void {
    try {
      for (const number of numbersOf(this.#name)) if (number < this.#number) remove(pathOf(this.#name, number))
    } catch {
      // The folder is gone or cannot be read.
    }
    this.release()
  }

  /** Remove the lock file. An earlier holder that only seemed dead, because it was frozen, has the lock again. Never throws. */
  release(): void {
    const path = pathOf(this.#name, this.#number)
    // A person may have removed the file, and another process may have taken the lock.
    if (isCurrent(readOwner(path))) remove(path)
  }
}

/** A lock file has fewer bytes. */
const maxLockBytes = 4096

function pathOf(name: string, number: number): string {
  return `${name}-${number}`
}

function numbersOf(name: string): number[] {
  const prefix = `${basename(name)}-`
  return readdirSync(dirname(name)).flatMap((each) =>
    each.startsWith(prefix) && /^\d{1,15}$/.test(each.slice(prefix.length)) ? Number(each.slice(prefix.length)) : [],
  )
}

function signOf(path: string): string {
  return `${basename(path)} ${lstatSync(path).mtimeMs}`
}

function isUnchanged({ path, sign }: Holder): boolean {
  try {
    return signOf(path) === sign
  } catch {
    return false
  }
}

/** False when there is such a file. It appears with all of its text, so that no thread reads half of it. */
function create(path: string): boolean {
  const draft = `${path}.${randomBytes(4).toString('hex')}`
  if (!writeNew(draft)) return false
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    // Some file systems have no links.
    return (error as NodeJS.ErrnoException).code === 'EEXIST' ? false : writeNew(path)
  } finally {
    remove(draft)
  }
}

function writeNew(path: string): boolean {
  let file: number
  try {
    file = openSync(path, 'wx', 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
  try {
    writeFileSync(file, `${JSON.stringify(currentOwner())}\n`)
    return true
  } catch (error) {
    // A full disk takes the name of a file and not its text.
    remove(path)
    throw error
  } finally {
    closeFile(file)
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // The file is gone, or it stays and names a holder that dies with this process.
  }
}

function readOwner(path: string): Owner | undefined {
  try {
    return ownerOf(JSON.parse(readPlainFile(path, { maxBytes: maxLockBytes }).toString('utf8')))
  } catch {
    return undefined
  }
}

/** An owner that cannot be seen counts as running only where there are no starts to compare, and its process number is in use. */
function runningProcess(holder: Holder | undefined): LockingProcess | undefined {
  if (holder?.owner === undefined) return undefined
  const { path, state, owner } = holder
  const { pid, started } = owner
  const runs = state === 'alive' || (state === 'unknown' && started === undefined && isInUse(pid) !== false)
  return runs ? { pid, path } : undefined
}
