import { lstatSync, readdirSync, readFileSync, readlinkSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { readPlainFile } from '../options/plain-file.js'

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

/** The thread that an engine runs in, so that nobody takes another one for it. */
export interface Owner {
  readonly host: string
  readonly pid: number
  /** Linux: this run of the machine, the namespace in which the numbers count, the thread, and when it was started, in its ticks. */
  readonly boot?: string
  readonly namespace?: string
  readonly thread?: number
  readonly started?: string
}

/** `unknown`: from here it cannot be seen, as in another container, on another machine, or elsewhere than on Linux. */
export type OwnerState = 'alive' | 'dead' | 'unknown'

/** The thread that calls. */
export function currentOwner(): Owner {
  const self = { host: hostname(), pid: process.pid }
  try {
    // Of the form 7/task/9; not that of the process itself, for a worker may end before its process.
    const thread = Number(readlinkSync('/proc/thread-self').split('/')[2])
    return { ...self, ...surroundings(), thread, started: startOfThread(process.pid, thread)! }
  } catch {
    return self
  }
}

/** The owner that a lock names; undefined for anything that no thread has written of itself. */
export function ownerOf(value: unknown): Owner | undefined {
  const { host, pid, thread, started } = (value ?? {}) as Partial<Record<keyof Owner, unknown>>
  if (typeof host !== 'string' || /\p{Cc}/u.test(host) || !isNumberOfProcess(pid)) return undefined
  if (thread !== undefined && !isNumberOfProcess(thread)) return undefined
  return started === undefined || typeof started === 'string' ? (value as Owner) : undefined
}

/** A number below 1 would mean a group of processes, or all of them. */
function isNumberOfProcess(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0
}

/** Whether a thread still runs. Numbers are used again, in other containers at the same time: what decides is when it was started. */
export function stateOf(owner: Owner): OwnerState {
  const { pid, thread, started } = owner
  if (thread === undefined || started === undefined) {
    return owner.host === hostname() && runs(pid) === false ? 'dead' : 'unknown'
  }
  try {
    const { boot, namespace } = surroundings()
    if (owner.boot !== boot || owner.namespace !== namespace) return 'unknown'
  } catch {
    return 'unknown'
  }
  const found = startOfThread(pid, thread)
  if (found !== undefined) return found === started ? 'alive' : 'dead'
  // Processes of others may be hidden.
  return runs(pid) === 'hidden' ? 'unknown' : 'dead'
}

function surroundings(): { readonly boot: string; readonly namespace: string } {
  return { boot: bootId(), namespace: readlinkSync('/proc/self/ns/pid') }
}

/** Names this run of the machine. Throws elsewhere than on Linux. */
export function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
}

/**
 * When a thread was started, in ticks since the start of the machine: with its number it names a thread for good. The first thread of a
 * process has the number of the process. Undefined where there is none, and elsewhere than on Linux.
 */
export function startOfThread(pid: number, thread: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')
    // The name of the program stands in brackets and may contain anything; after it the state, and the start as the 20th word.
    const words = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return /^[ZX]$/.test(words[0] ?? '') ? undefined : words[19]
  } catch {
    return undefined
  }
}

function runs(pid: number): boolean | 'hidden' {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? 'hidden' : false
  }
}
