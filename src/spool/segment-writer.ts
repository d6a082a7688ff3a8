import { fdatasyncSync, fsyncSync, ftruncateSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { closeFile } from '../options/plain-file.js'
import { write } from './append.js'

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
    const taken = write(this.#file, bytes)
    if (taken.error !== undefined) {
      return { lines: this.#keepWhole(bytes.subarray(0, taken.bytes)), error: taken.error }
    }
    const isNew = this.#written === 0
    this.#written += bytes.length
    try {
      if (sync) this.#sync(isNew)
      return { lines }
    } catch (error) {
      return { lines, error }
    }
  }

  /** Answers with the error of the file system, if there is one. Never throws. */
  close(): unknown {
    return closeFile(this.#file)
  }

  #sync(isNew: boolean): void {
    fdatasyncSync(this.#file)
    if (!isNew) return
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
    closeFile(folder)
  }
}
