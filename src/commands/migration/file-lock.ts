import { readFileSync, unlinkSync, writeFileSync } from 'node:fs'

/** A file that says which process works on another file. One that a dead process has left counts for nothing. */
export class FileLock {
  readonly #path: string

  private constructor(path: string) {
    this.#path = path
  }

  /** The lock, or the number of the process that holds it. */
  static take(path: string): FileLock | number {
    for (;;) {
      try {
        writeFileSync(path, String(process.pid), { flag: 'wx' })
        return new FileLock(path)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      }
      const holder = holderOf(path)
      if (holder !== undefined) return holder
      remove(path)
    }
  }

  release(): void {
    remove(this.#path)
  }
}

function holderOf(path: string): number | undefined {
  try {
    const holder = Number(readFileSync(path, 'utf8'))
    // In a container every first process has the same number.
    if (!Number.isSafeInteger(holder) || holder <= 0 || holder === process.pid) return undefined
    process.kill(holder, 0)
    return holder
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'EPERM' ? Number(readFileSync(path, 'utf8')) : undefined
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // Somebody else has removed it.
  }
}
