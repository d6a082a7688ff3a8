import { randomBytes } from 'node:crypto'
import { basename, dirname } from 'node:path'
import type { Files } from '../runtime/files.js'
import { closeFile, readPlainFile } from '../runtime/plain-file.js'
import { write } from './append.js'
import { isCurrent, type Owner, type Owners, ownerOf } from './owner.js'

export interface LockFilesPlan {
  readonly files: Files
  readonly owners: Owners
  /** Milliseconds since 1970. */
  readonly wallClock: () => number
}

/** A lock file has fewer bytes. */
const maxLockBytes = 4096

/** The files of locks: `NAME-1`, `NAME-2` and so on, each with the name of an owner in it. */
export class LockFiles {
  readonly #files: Files
  readonly #owners: Owners
  readonly #wallClock: () => number

  constructor({ files, owners, wallClock }: LockFilesPlan) {
    this.#files = files
    this.#owners = owners
    this.#wallClock = wallClock
  }

  /** The numbers of the files of a lock. Throws when the folder cannot be read. */
  numbersOf(name: string): number[] {
    const prefix = `${basename(name)}-`
    return this.#files
      .readdirSync(dirname(name))
      .flatMap((each) =>
        each.startsWith(prefix) && /^\d{1,15}$/.test(each.slice(prefix.length))
          ? Number(each.slice(prefix.length))
          : [],
      )
  }

  /** Changes with every sign of life of the owner. Throws what the file system does. */
  signOf(path: string): string {
    return `${basename(path)} ${this.#files.lstatSync(path).mtimeMs}`
  }

  /** Throws what the file system does. */
  touch(path: string): void {
    const now = new Date(this.#wallClock())
    this.#files.utimesSync(path, now, now)
  }

  /** False when there is such a file. It appears with all of its text, so that no thread reads half of it. */
  create(path: string): boolean {
    const draft = `${path}.${randomBytes(4).toString('hex')}`
    if (!this.#writeNew(draft)) return false
    try {
      this.#files.linkSync(draft, path)
      return true
    } catch (error) {
      // Some file systems have no links.
      return (error as NodeJS.ErrnoException).code === 'EEXIST' ? false : this.#writeNew(path)
    } finally {
      this.remove(draft)
    }
  }

  /** False when the file may still be there. Never throws. */
  remove(path: string): boolean {
    try {
      this.#files.unlinkSync(path)
      return true
    } catch (error) {
      // A file that stays names a holder that dies with this process.
      return isGone(error)
    }
  }

  /** Remove a file if it names the calling thread. False when it may still be there. Never throws. */
  removeOwn(path: string): boolean {
    try {
      return !isCurrent(ownerFrom(this.#read(path)), this.#owners) || this.remove(path)
    } catch (error) {
      return isGone(error)
    }
  }

  /** Undefined when the file cannot be read, or names no owner. */
  ownerIn(path: string): Owner | undefined {
    try {
      return ownerFrom(this.#read(path))
    } catch {
      return undefined
    }
  }

  #read(path: string): string {
    return readPlainFile(path, { maxBytes: maxLockBytes, files: this.#files }).toString('utf8')
  }

  #writeNew(path: string): boolean {
    const files = this.#files
    let file: number
    try {
      file = files.openSync(path, 'wx', 0o600)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
      throw error
    }
    try {
      const { error } = write(file, { bytes: Buffer.from(`${JSON.stringify(this.#owners.current())}\n`), files })
      if (error === undefined) return true
      // A full disk takes the name of a file and not its text.
      this.remove(path)
      throw error
    } finally {
      closeFile(file, files)
    }
  }
}

function ownerFrom(text: string): Owner | undefined {
  try {
    return ownerOf(JSON.parse(text))
  } catch {
    return undefined
  }
}

function isGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'ENOTDIR'
}
