import { dirname } from 'node:path'
import type { Files } from '../runtime/files.js'
import { closeFile, openPlainFile, readPlainFile } from '../runtime/plain-file.js'
import { Acknowledgements, mergedRanges, type Range } from './acknowledgements.js'
import { write } from './append.js'
import { type Found, scanLines } from './line-scanner.js'
import type { LineWriter } from './line-writer.js'
import { syncFolder } from './spool-folder.js'
import { readSpoolLine, type SpoolLine } from './spool-line.js'

/** No file of a spool has more lines: a larger number is damage, and would only cost memory. */
const maxNumber = 1_048_576
/** No file of a spool is longer. */
const maxFileBytes = 67_108_864
const firstCapacity = 64

/** How many lines the disk took, and the error if it did not take all. */
interface Taken {
  readonly lines: number
  readonly error?: unknown
}

/** The lines of a file that another engine has left. */
export interface Recovered {
  /** Whole lines of records that are not settled, in their order. */
  readonly lines: readonly Found<SpoolLine>[]
  /** Places with bytes that are no line. */
  readonly damaged: number
}

/** A file of lines of records, and the acknowledgements beside it. In memory it takes eight bytes per line. */
export class RecordFile {
  readonly path: string
  /** The number of its first record. */
  readonly from: number
  /** Records before this number have their lines here, unless they were gone before. */
  to: number
  /** Bytes of its lines. */
  bytes = 0
  readonly #files: Files
  readonly #acknowledgements: Acknowledgements
  #file: number | undefined
  /** By number, from `from` on: the place of the line. Both are 0 for a record without one. */
  #starts: Uint32Array = new Uint32Array(firstCapacity)
  #ends: Uint32Array = new Uint32Array(firstCapacity)
  #unacknowledged: number[] = []
  #isAllAcknowledged = false

  constructor(path: string, { from, files }: { readonly from: number; readonly files: Files }) {
    this.path = path
    this.from = from
    this.to = from
    this.#files = files
    this.#acknowledgements = new Acknowledgements(path, files)
  }

  /** Add lines to its end; with `sync`, wait for the disk. After an error, no more may be added. Never throws. */
  append(lines: LineWriter, { sync }: { readonly sync: boolean }): Taken {
    try {
      this.#file ??= this.#files.openSync(this.path, 'ax', 0o600)
    } catch (error) {
      return { lines: 0, error }
    }
    const isNew = this.bytes === 0
    const taken = write(this.#file, { bytes: lines.bytes, files: this.#files })
    const whole = taken.error === undefined ? lines.ends.length : lines.ends.filter((end) => end < taken.bytes).length
    for (let line = 0; line < whole; line++) {
      const start = line === 0 ? 0 : lines.ends[line - 1]! + 1
      this.#put(lines.numbers[line]!, this.bytes + start, this.bytes + lines.ends[line]!)
    }
    this.bytes += whole === 0 ? 0 : lines.ends[whole - 1]! + 1
    if (taken.error !== undefined) this.#cut(this.#file)
    try {
      if (sync) this.#sync(this.#file, isNew)
      return { lines: whole, error: taken.error }
    } catch (error) {
      return { lines: whole, error: taken.error ?? error }
    }
  }

  /** Add no more lines. Returns the error of the file system, if there is one. Never throws. */
  close(): unknown {
    const file = this.#file
    this.#file = undefined
    return file === undefined ? undefined : closeFile(file, this.#files)
  }

  startOf(number: number): number {
    return this.#starts[number - this.from]!
  }

  /** Position behind the line, without its line end; 0 for a record that has none. */
  endOf(number: number): number {
    return this.#ends[number - this.from]!
  }

  /**
   * Fill `bytes` from a place of the file on. False when the file is gone, or its name belongs to something else. Bytes beyond its end are
   * zeros. Throws other errors of the file system: the records may be readable later.
   */
  read(start: number, bytes: Buffer): boolean {
    let file: number
    try {
      file = openPlainFile(this.path, { files: this.#files })
    } catch (error) {
      if (goneCodes.has((error as NodeJS.ErrnoException).code)) return false
      throw error
    }
    try {
      let read = 0
      for (let more = -1; more !== 0 && read < bytes.length; read += more) {
        more = this.#files.readSync(file, bytes, read, bytes.length - read, start + read)
      }
      bytes.fill(0, read)
      return true
    } finally {
      closeFile(file, this.#files)
    }
  }

  /** Records are settled. They are acknowledged next. */
  settled(number: number, count: number): void {
    const to = Math.min(number + count, this.to)
    for (let each = Math.max(number, this.from); each < to; each++) this.#unacknowledged.push(each)
  }

  /** Write which records were settled since the last call. Throws what the file system does; the next call then writes them. */
  acknowledge(): void {
    if (this.#unacknowledged.length === 0) return
    this.#acknowledgements.add(this.#unacknowledged)
    this.#unacknowledged = []
  }

  /**
   * Remove the file, then its acknowledgements; again after a failure. A file that cannot be removed stays with all of its records
   * acknowledged, so that none is sent again. Returns the error of the file system, if there is one. Never throws.
   */
  remove(): unknown {
    const fault = this.#faultOfRemoving(this.path)
    if (fault === undefined) return this.#faultOfRemoving(this.#acknowledgements.path)
    try {
      if (!this.#isAllAcknowledged && this.to > this.from) {
        this.#unacknowledged = Array.from({ length: this.to - this.from }, (_, index) => this.from + index)
        this.acknowledge()
        this.#isAllAcknowledged = true
      }
    } catch {
      // The disk takes nothing at all.
    }
    return fault
  }

  /** True when lines were added by another one since it was read. Never throws. */
  hasGrown(): boolean {
    try {
      return (this.#files.lstatSync(this.path, { throwIfNoEntry: false })?.size ?? 0) > this.bytes
    } catch {
      return false
    }
  }

  /**
   * Read a file that another engine has written. Throws what the file system does, also when the path is not that of a regular file.
   *
   * @param belongs true for a line that may stand in this file
   * @param read reads a line; undefined when it is not whole
   */
  recover(belongs: (line: SpoolLine) => boolean, read = readSpoolLine): Recovered {
    // First, because an owner that is not dead after all removes them last.
    const settled = mergedRanges(this.#acknowledgements.read())
    const bytes = readPlainFile(this.path, { maxBytes: maxFileBytes, files: this.#files })
    this.bytes = bytes.length
    const { lines: written, damaged } = scanLines(bytes, (piece) => {
      const line = read(piece)
      return line !== undefined && belongs(line) ? line : undefined
    })
    const lines: Found<SpoolLine>[] = []
    let misplaced = 0
    for (const found of written) {
      const { start, length, line } = found
      // Sluice numbers lines in their order: it did not write a line that breaks the order.
      if (line.number < this.to || line.number >= maxNumber) misplaced++
      else {
        this.#put(line.number, start, start + length)
        if (!isWithin(line.number, settled)) lines.push(found)
      }
    }
    return { lines, damaged: damaged + misplaced }
  }

  #put(number: number, start: number, end: number): void {
    const index = number - this.from
    if (index >= this.#starts.length) {
      const capacity = Math.max(index + 1, 2 * this.#starts.length)
      this.#starts = copied(new Uint32Array(capacity), this.#starts)
      this.#ends = copied(new Uint32Array(capacity), this.#ends)
    }
    this.#starts[index] = start
    this.#ends[index] = end
    this.to = number + 1
  }

  /** Cut off a line of which only a part was written. */
  #cut(file: number): void {
    try {
      this.#files.ftruncateSync(file, this.bytes)
    } catch {
      // Part of a line does no harm: no reader takes it for a line.
    }
  }

  #sync(file: number, isNew: boolean): void {
    this.#files.fdatasyncSync(file)
    // After a power cut a new file must be in its folder.
    if (isNew) syncFolder(dirname(this.path), this.#files)
  }

  #faultOfRemoving(path: string): unknown {
    try {
      this.#files.unlinkSync(path)
      return undefined
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : error
    }
  }
}

function copied(to: Uint32Array, from: Uint32Array): Uint32Array {
  to.set(from)
  return to
}

/** @param ranges ascending ones that do not overlap */
function isWithin(number: number, ranges: readonly Range[]): boolean {
  let [low, high] = [0, ranges.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    const [from, to] = ranges[middle]!
    if (number < from) high = middle
    else if (number > to) low = middle + 1
    else return true
  }
  return false
}

/** Error codes for a file that is gone, or whose name belongs to something else. */
const goneCodes: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'EFTYPE'])
