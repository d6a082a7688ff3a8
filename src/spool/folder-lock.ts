import { lstatSync, readdirSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readPlainFile } from '../options/plain-file.js'
import { currentOwner, type Owner, type OwnerState, ownerOf, stateOf } from './owner.js'

/** Who holds a folder. */
export interface Holder {
  /** Of the lock. */
  readonly number: number
  readonly owner: Owner | undefined
  readonly state: OwnerState
  /** Changes with every sign of life that the holder gives. */
  readonly sign: string
}

/** How often a holder gives a sign of life, for those who cannot see it. */
export const signIntervalMs = 10_000

export const lockFile = /^lock-(\d{1,15})$/
/** More than a lock says. */
const maxLockBytes = 4096

/**
 * Says which engine a folder belongs to. Locks are numbered, and the highest number counts: to take a folder over from a dead holder means
 * to be the first to create the next one, so that of several who try one succeeds, however long each of them has hesitated.
 */
export class FolderLock {
  readonly #path: string

  private constructor(path: string) {
    this.#path = path
  }

  /** Who holds the folder; undefined when nobody does. Throws when the folder cannot be read. */
  static holderOf(folder: string): Holder | undefined {
    const number = highestLock(folder)
    if (number === 0) return undefined
    const path = join(folder, `lock-${number}`)
    try {
      const sign = `${number} ${lstatSync(path).mtimeMs}`
      const owner = readOwner(path)
      return { number, owner, sign, state: owner === undefined ? 'unknown' : stateOf(owner) }
    } catch {
      // It has just been released.
      return undefined
    }
  }

  /**
   * Take a folder over from a holder that was found dead, or from nobody: undefined when somebody else was quicker. Throws what the file
   * system does.
   */
  static claim(folder: string, found: Holder | undefined): FolderLock | undefined {
    // The one after that which was looked at: whoever looked at the same one wants this very number.
    const path = join(folder, `lock-${(found?.number ?? 0) + 1}`)
    try {
      writeFileSync(path, `${JSON.stringify(currentOwner())}\n`, { flag: 'wx', mode: 0o600 })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined
      // A full disk takes the file, but not what it says: nobody could tell whose it is.
      new FolderLock(path).release()
      throw error
    }
    return new FolderLock(path)
  }

  /** The lock that counts in a folder that this thread holds already. */
  static at(folder: string): FolderLock {
    return new FolderLock(join(folder, `lock-${highestLock(folder)}`))
  }

  /** Give a sign of life; false when the lock is no longer there. Throws what else the file system says. */
  touch(): boolean {
    try {
      const now = new Date()
      utimesSync(this.#path, now, now)
      return true
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT' || code === 'ENOTDIR') return false
      throw error
    }
  }

  release(): void {
    try {
      unlinkSync(this.#path)
    } catch {
      // The folder is gone, or cannot be written: whoever comes sees that its holder is dead.
    }
  }
}

function highestLock(folder: string): number {
  return readdirSync(folder).reduce((most, name) => Math.max(most, Number(lockFile.exec(name)?.[1] ?? 0)), 0)
}

function readOwner(path: string): Owner | undefined {
  try {
    return ownerOf(JSON.parse(readPlainFile(path, { maxBytes: maxLockBytes }).toString('utf8')))
  } catch {
    return undefined
  }
}
