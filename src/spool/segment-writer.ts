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

  /** Write what was gathered; with `sync` wait until the disk has it. What the disk did not take is gone, and nothing more may be added. */
  commit({ sync }: { sync: boolean }): Commit {
    const lines = this.#lines.length
    if (lines === 0) return { lines }
    const bytes = Buffer.from(`${this.#lines.join('\n')}\n`)
    this.#lines = []
    this.#pending = 0
    let written = 0
    try {
      while (written < bytes.length) written += writeSync(this.#file, bytes, written)
      if (sync) fdatasyncSync(this.#file)
      this.#written += bytes.length
      return { lines }
    } catch (error) {
      return { lines: this.#keepWhole(bytes.subarray(0, written)), error }
    }
  }

  close(): void {
    closeSync(this.#file)
  }

  /** Cut off the line of which only a part was written; the answer is how many whole ones were. */
  #keepWhole(written: Buffer): number {
    let lines = 0
    let end = 0
    for (let next = written.indexOf(lineFeed); next !== -1; next = written.indexOf(lineFeed, end)) {
      end = next + 1
      lines++
    }
    this.#written += end
    try {
      ftruncateSync(this.#file, this.#written)
    } catch {
      // Part of a line does no harm.
    }
    return lines
  }
}

/** How many lines the disk has, and what kept it from taking all. */
export interface Commit {
  readonly lines: number
  readonly error?: unknown
}

const lineFeed = 10
