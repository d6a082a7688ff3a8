/** SQLite's results for a write that finds no room: SQLITE_FULL, and SQLITE_IOERR_SHMSIZE, where the file that its connections share cannot grow. */
const outOfSpace: ReadonlySet<number | undefined> = new Set([13, 4874])

/** A write without room for its like is tried again after this time, in s. */
export const roomAwaitedS = 10

/** PostgreSQL's code for a write that finds no room. */
const diskFull = '53100'

/** True for the error of a write that found the disk full. It has changed nothing. */
export function isOutOfSpace(error: unknown): boolean {
  const { errcode, code, message } = (error ?? {}) as { errcode?: number; code?: unknown; message?: unknown }
  // `all` of @photostructure/sqlite gives no number.
  return outOfSpace.has(errcode) || code === diskFull || message === 'database or disk is full'
}

/** Remembers that the disk was full: a small write may find room where the next record finds none. */
export class Room {
  readonly #monotonicMs: () => number
  #refused: { readonly error: unknown; readonly atMs: number } | undefined

  constructor(monotonicMs: () => number = () => performance.now()) {
    this.#monotonicMs = monotonicMs
  }

  /** Returns what the write resolves or rejects with, and takes note of it. */
  async of<Result>(write: Promise<Result>): Promise<Result> {
    try {
      const result = await write
      this.#refused = undefined
      return result
    } catch (error) {
      if (isOutOfSpace(error)) this.#refused = { error, atMs: this.#monotonicMs() }
      throw error
    }
  }

  /** Throws the error of the last write if it found the disk full less than `roomAwaitedS` ago. */
  check(): void {
    if (this.#refused === undefined) return
    if (this.#monotonicMs() - this.#refused.atMs < roomAwaitedS * 1000) throw this.#refused.error
  }
}
