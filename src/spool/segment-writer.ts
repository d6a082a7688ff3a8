import { closeSync, fdatasyncSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/** The end of a segment's file at which lines are added: gathered, then written in one go. */
export class SegmentWriter {
  readonly #path: string
  readonly #file: number
  #lines: string[] = []
  #pending = 0
  #written = 0

  /** Throws what the file system does. */
  constructor(path: string) {
    this.#path = path
    this.#file = openSync(path, 'ax', 0o600)
  }

  /** Characters that are gathered and not written. */
  get pending(): number {
    return this.#pending
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
      if (sync) this.#sync()
      this.#written += bytes.length
      return { lines }
    } catch (error) {
      return { lines: this.#keepWhole(bytes.subarray(0, written)), error }
    }
  }

  close(): void {
    closeSync(this.#file)
  }

  #sync(): void {
    fdatasyncSync(this.#file)
    if (this.#written > 0) return
    // A file that is new has to be in its folder, and that in its own, after a power cut.
    const folder = dirname(this.#path)
    for (const path of [folder, dirname(folder)]) syncFolder(path)
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

function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
