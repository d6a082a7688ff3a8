import { linkSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { readPlainFile } from '../../options/plain-file.js'
import { startOfThread } from '../../spool/lock.js'

/** A file that says which process works on another file. One that a dead process has left counts for nothing. */
export class FileLock {
  readonly #path: string

  private constructor(path: string) {
    this.#path = path
  }

  /** The lock, or the number of the process that holds it. */
  static take(path: string): FileLock | number {
    const draft = `${path}.${process.pid}`
    writeFileSync(draft, ownText())
    try {
      for (;;) {
        if (appears(path, draft)) return new FileLock(path)
        const holder = FileLock.holder(path)
        if (holder !== undefined) return holder
        discard(path, `${draft}.dead`)
      }
    } finally {
      remove(draft)
    }
  }

  /** The number of the process that holds it; undefined when nobody does. */
  static holder(path: string): number | undefined {
    const text = read(path)
    if (text === undefined) return undefined
    const [number = '', start = ''] = text.split(' ')
    const holder = Number(number)
    if (!Number.isSafeInteger(holder) || holder <= 0 || holder === process.pid || !lives(holder)) return undefined
    // The number may be another process's by now: in containers they are small, and the same again.
    return start === '' || start === startOfThread(holder, holder) ? holder : undefined
  }

  release(): void {
    if (read(this.#path) === ownText()) remove(this.#path)
  }
}

/** More than a lock says. */
const maxLockBytes = 4096

function ownText(): string {
  return `${process.pid} ${startOfThread(process.pid, process.pid) ?? ''}`
}

/** False when there is one already. With all of its text at once, for who reads half of it takes it for a dead one. */
function appears(path: string, draft: string): boolean {
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return false
    if (!withoutLinks.has(code)) throw error
  }
  try {
    writeFileSync(path, ownText(), { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** What a file system says that knows no links. */
const withoutLinks: ReadonlySet<string | undefined> = new Set(['EPERM', 'ENOTSUP', 'ENOSYS', 'EOPNOTSUPP'])

/** Take a dead process's lock away, and not that of a process which has just done the same. */
function discard(path: string, aside: string): void {
  try {
    renameSync(path, aside)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  if (FileLock.holder(aside) !== undefined) appears(path, aside)
  remove(aside)
}

function lives(holder: number): boolean {
  try {
    process.kill(holder, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function read(path: string): string | undefined {
  try {
    return readPlainFile(path, { maxBytes: maxLockBytes }).toString('utf8')
  } catch {
    return undefined
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // Somebody else has removed it.
  }
}
