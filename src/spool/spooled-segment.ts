import { dirname } from 'node:path'
import { gone, type Segment, type SegmentFile } from '../log/segment.js'
import type { Files } from '../runtime/files.js'
import { copyLine, type LineWriter } from './line-writer.js'
import { RecordFile } from './record-file.js'
import type { SpoolLine } from './spool-line.js'

/** Sequences of a segment are stored above its first one in 32 bits. */
const mostAbove = 2 ** 32 - 1

interface SpooledSegmentPlan {
  readonly segment: Segment
  /** True when a dead engine has left it. */
  readonly adopted: boolean
  readonly files: Files
  /** Called when records are settled. */
  readonly settled: (file: SpooledSegment) => void
  /** Called when no record is left. */
  readonly empty: (file: SpooledSegment) => void
  /** Called with the error of a read. */
  readonly failedToRead: (error: unknown) => void
}

interface CommitPlan {
  readonly lines: LineWriter
  /** Stands between the key of a record and the record, in each line. */
  readonly about: Buffer
  /** Bytes that fit. */
  readonly room: number
  readonly sync: boolean
  /** Path of a new file. Throws what the file system does. */
  readonly path: () => string
}

/**
 * What is on disk of a segment: a file. A file that could not be written gets no more lines: the next ones go to another file, which begins
 * with the first record that the last one lacks. So a segment has several files where the disk failed.
 */
export class SpooledSegment implements SegmentFile {
  readonly segment: Segment
  readonly adopted: boolean
  /** When it got its first and its last line, on the monotonic clock. */
  openedAt = Number.POSITIVE_INFINITY
  lastAt = Number.POSITIVE_INFINITY
  /** Records before this number have been counted as missed by the disk. */
  missed = 0
  readonly #plan: SpooledSegmentPlan
  readonly #parts: RecordFile[] = []
  #takesMore = false

  constructor(plan: SpooledSegmentPlan) {
    this.#plan = plan
    this.segment = plan.segment
    this.adopted = plan.adopted
  }

  /** Bytes of all lines. */
  get bytes(): number {
    return this.#parts.reduce((sum, part) => sum + part.bytes, 0)
  }

  /** Records that are not written. */
  get unwritten(): number {
    return this.segment.count - this.segment.committed
  }

  get isSettled(): boolean {
    return this.segment.tally[gone] === this.segment.count
  }

  isIn(folder: string): boolean {
    return this.#parts.some(({ path }) => dirname(path) === folder)
  }

  /** Write the records that are not written, as far as there is room. Returns the error if the disk did not take all. Never throws. */
  commit({ lines, about, room, sync, path }: CommitPlan): unknown {
    const { segment } = this
    lines.clear()
    let to = segment.committed
    for (; to < segment.count && lines.length <= room; to++) {
      if (segment.states[to] !== gone) lines.add(segment, to, about)
    }
    if (lines.length > room) {
      to = lines.numbers.at(-1)!
      lines.removeLast()
    }
    if (lines.length === 0) {
      segment.log.written(segment, to)
      return undefined
    }
    try {
      const part = this.#takesMore ? this.#parts.at(-1)! : this.#begin(path())
      const taken = part.append(lines, { sync })
      segment.log.written(segment, taken.lines === lines.numbers.length ? to : lines.numbers[taken.lines]!)
      if (taken.error !== undefined) this.#abandon(part)
      return taken.error
    } catch (error) {
      return error
    }
  }

  /** Close the file. Returns the error of the file system, if there is one. Never throws. */
  close(): unknown {
    this.#takesMore = false
    return this.#parts.at(-1)?.close()
  }

  load(indexes: Uint32Array, memory: Buffer, at: number): 'loaded' | 'later' {
    try {
      let end = at
      for (let from = 0, to = 0; from < indexes.length; from = to) {
        to = this.#behindRun(indexes, from)
        end = this.#loadRun(indexes.subarray(from, to), memory, end)
      }
      return 'loaded'
    } catch (error) {
      this.#plan.failedToRead(error)
      return 'later'
    }
  }

  settled(index: number, count: number): void {
    for (const part of this.#parts) part.settled(index, count)
    this.#plan.settled(this)
  }

  /** Write which records are settled. Throws what the file system does. */
  acknowledge(): void {
    for (const part of this.#parts) part.acknowledge()
  }

  remove(): void {
    this.#plan.empty(this)
  }

  /** Remove what is on disk. Returns the error of the file system, if there is one. Never throws. */
  removeFiles(): unknown {
    let fault = this.close()
    for (const part of this.#parts) fault = part.remove() ?? fault
    return fault
  }

  /** The path of a file to which another one has added lines since it was read. */
  get grown(): string | undefined {
    return this.adopted ? this.#parts.find((part) => part.hasGrown())?.path : undefined
  }

  /**
   * Read a file that a dead engine has left into the segment, which is empty. Throws what the file system does. Returns how many places are
   * damaged, and the time of the newest record, in milliseconds since 1970; 0 without records.
   *
   * @param plan `belongs`: true for a line that may stand in this file; `above`: all sequences of its records are
   */
  recover(
    path: string,
    { belongs, above }: { readonly belongs: (line: SpoolLine) => boolean; readonly above: number },
  ): { readonly damaged: number; readonly newest: number } {
    const { segment } = this
    const part = new RecordFile(path, { from: 0, files: this.#plan.files })
    this.#parts.push(part)
    const { lines, damaged } = part.recover(belongs)
    let newest = 0
    let sequence = above + 1
    for (const { line } of lines) {
      newest = Math.max(newest, line.time)
      // The time stands in for the sequence, so that the oldest goes first. It must not go back, even if the clock of the machine did.
      sequence = Math.max(sequence, line.time)
      if (segment.count > 0) sequence = Math.min(sequence, segment.base + mostAbove)
      // The records between were settled, or their lines are damaged.
      while (segment.count < line.number) segment.add(0, sequence, 0, gone)
      segment.add(Buffer.byteLength(line.body), sequence, line.idempotencyKey.length)
    }
    return { damaged, newest }
  }

  #begin(path: string): RecordFile {
    const part = new RecordFile(path, { from: this.segment.committed, files: this.#plan.files })
    this.#parts.push(part)
    this.#takesMore = true
    return part
  }

  /** The disk did not take all lines of a file. One without any is removed at once. */
  #abandon(part: RecordFile): void {
    this.close()
    if (part.to === part.from && part.remove() === undefined) this.#parts.pop()
  }

  #partOf(index: number): RecordFile {
    return this.#parts.findLast(({ from }) => from <= index)!
  }

  /** The end of the run from a place on whose records are in the same file: they are read in one go. */
  #behindRun(indexes: Uint32Array, from: number): number {
    const { to } = this.#partOf(indexes[from]!)
    let behind = from + 1
    while (behind < indexes.length && indexes[behind]! < to) behind++
    return behind
  }

  /** Returns the position behind the records. Throws errors of the file system after which the records may be readable later. */
  #loadRun(indexes: Uint32Array, memory: Buffer, at: number): number {
    const { segment } = this
    const part = this.#partOf(indexes[0]!)
    const start = part.startOf(indexes[0]!)
    const bytes = Buffer.allocUnsafe(part.endOf(indexes.at(-1)!) - start)
    const isThere = part.read(start, bytes)
    let end = at
    for (const index of indexes) {
      const line = { bytes, from: part.startOf(index) - start, to: part.endOf(index) - start }
      const isWhole = isThere && copyLine(line, { segment, index, memory, at: end }) !== -1
      if (!isWhole) segment.log.lose(segment, index, 1, 'spool-full')
      end += segment.spanOf(index, 1)
    }
    return end
  }
}
