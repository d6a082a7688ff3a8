import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs'

/** The end of a segment's file at which lines are added: gathered, then written in one go. */
export class SegmentWriter {
  readonly #file: number
  #lines: string[] = []
  #pending = 0
  #written = 0

  /** Throws what the file system does. */
  constructor(path: string) {
    this.#file = openSync(path, 'ax', 0o600)
  }

  /** Characters that are gathered and not written. */
  get pending(): number {
    return this.#pending
  }

  /** Whether somebody has removed the file. */
  get removed(): boolean {
    return fstatSync(this.#file).nlink === 0
  }

  add(line: string): void {
    this.#lines.push(line)
    this.#pending += line.length
  }

  /**
   * Write what was gathered; with `sync` wait until the disk has it. Throws what the file system does: then none of it counts, and
   * nothing more may be added.
   */
  commit({ sync }: { sync: boolean }): void {
    if (this.#lines.length === 0) return
    const bytes = Buffer.from(`${this.#lines.join('\n')}\n`)
    this.#lines = []
    this.#pending = 0
    let written = 0
    try {
      while (written < bytes.length) written += writeSync(this.#file, bytes, written)
      if (sync) fdatasyncSync(this.#file)
      this.#written += bytes.length
    } catch (error) {
      this.#takeBack()
      throw error
    }
  }

  close(): void {
    closeSync(this.#file)
  }

  #takeBack(): void {
    try {
      ftruncateSync(this.#file, this.#written)
    } catch {
      // What stands there beyond may go out twice, with the same idempotency key.
    }
  }
}
