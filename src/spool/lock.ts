import { join } from 'node:path'
import { nodeFiles } from '../runtime/files.js'
import { LockFiles, type LockFilesPlan } from './lock-files.js'
import { isCurrent, machineOwners, type Owner, type OwnerState, type Owners } from './owner.js'

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

/** A holder gives a sign of life this often, for processes that cannot see it. */
export const signIntervalMs = 10_000

/** The name of a lock file in a folder, and of the draft of one. */
export const lockFile = /^lock-\d{1,15}(?:\.[0-9a-f]{8})?$/

/** The name of the lock of a folder. */
export function lockOf(folder: string): string {
  return join(folder, 'lock')
}

function pathOf(name: string, number: number): string {
  return `${name}-${number}`
}

/**
 * A lock is a series of files: `NAME-1`, `NAME-2` and so on. The file with the highest number names the holder. A process takes the lock
 * from a dead holder when it is the first to create the file with the next number. So one of several succeeds, however slow each is.
 */
export class Locks {
  readonly #files: LockFiles
  readonly #owners: Owners

  constructor(plan: LockFilesPlan) {
    this.#files = new LockFiles(plan)
    this.#owners = plan.owners
  }

  /** Undefined when the lock is free. Throws when the folder cannot be read. */
  holderOf(name: string): Holder | undefined {
    const number = Math.max(0, ...this.#files.numbersOf(name))
    if (number === 0) return undefined
    const path = pathOf(name, number)
    try {
      const sign = this.#files.signOf(path)
      const owner = this.#files.ownerIn(path)
      return { path, number, owner, sign, state: owner === undefined ? 'unknown' : this.#owners.stateOf(owner) }
    } catch {
      // The lock has just been released.
      return undefined
    }
  }

  /** True when the calling thread is the holder; false where threads cannot be told apart. */
  isOwn({ owner }: Holder): boolean {
    return owner?.thread !== undefined && isCurrent(owner, this.#owners)
  }

  /**
   * Take a lock that was found free, or held by a dead holder. Undefined when another thread was quicker, or the holder has given a sign of
   * life. Throws what the file system does.
   */
  claim(name: string, found: Holder | undefined): Lock | undefined {
    const number = (found?.number ?? 0) + 1
    const path = pathOf(name, number)
    if (!this.#files.create(path)) return undefined
    // Numbers are used again after a release: another holder may have come and gone since.
    if (found === undefined || this.#isUnchanged(found)) return new Lock(this.#files, { name, number })
    this.#files.remove(path)
    return undefined
  }

  /** Take the lock at once, or name the process that holds it. Throws what the file system does. */
  take(name: string): Lock | LockingProcess {
    for (;;) {
      const found = this.holderOf(name)
      const running = this.#runningProcess(found)
      if (running !== undefined) return running
      const lock = this.claim(name, found)
      if (lock !== undefined) return lock
    }
  }

  /** The running process that holds the lock; undefined when there is none. */
  processOf(name: string): LockingProcess | undefined {
    return this.#runningProcess(this.holderOf(name))
  }

  #isUnchanged({ path, sign }: Holder): boolean {
    try {
      return this.#files.signOf(path) === sign
    } catch {
      return false
    }
  }

  /** An owner that cannot be seen counts as running only where there are no starts to compare, and its process number is in use. */
  #runningProcess(holder: Holder | undefined): LockingProcess | undefined {
    if (holder?.owner === undefined) return undefined
    const { path, state, owner } = holder
    const { pid, started } = owner
    const runs =
      state === 'alive' || (state === 'unknown' && started === undefined && this.#owners.isInUse(pid) !== false)
    return runs ? { pid, path } : undefined
  }
}

/** The locks of this machine. */
export const machineLocks = new Locks({ files: nodeFiles, owners: machineOwners, wallClock: Date.now })

/** A lock that this thread has taken. */
export class Lock {
  readonly #files: LockFiles
  readonly #name: string
  readonly #number: number

  constructor(files: LockFiles, { name, number }: { readonly name: string; readonly number: number }) {
    this.#files = files
    this.#name = name
    this.#number = number
  }

  /** The same lock under the name that it has now. */
  renamed(name: string): Lock {
    return new Lock(this.#files, { name, number: this.#number })
  }

  /** Give a sign of life. False when the lock file is gone. Throws any other error of the file system. */
  touch(): boolean {
    try {
      this.#files.touch(pathOf(this.#name, this.#number))
      return true
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT' || code === 'ENOTDIR') return false
      throw error
    }
  }

  /** False when another thread has taken it since, because this one seemed dead. Throws when the folder cannot be read. */
  isHighest(): boolean {
    return this.#files.numbersOf(this.#name).every((number) => number <= this.#number)
  }

  /** Remove the lock file, and before it those of earlier holders. Never throws. */
  clear(): void {
    try {
      for (const number of this.#files.numbersOf(this.#name)) {
        if (number < this.#number) this.#files.remove(pathOf(this.#name, number))
      }
    } catch {
      // The folder is gone or cannot be read.
    }
    this.release()
  }

  /**
   * Remove the lock file. An earlier holder that only seemed dead, because it was frozen, has the lock again. False when the disk fails, so
   * that this thread may still hold the lock. Never throws.
   */
  release(): boolean {
    // A person may have removed the file, and another process may have taken the lock.
    return this.#files.removeOwn(pathOf(this.#name, this.#number))
  }
}
