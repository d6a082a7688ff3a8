import type { Room } from '../delivery/store.js'
import type { Severity } from '../records/level.js'
import { type Files, nodeFiles } from '../runtime/files.js'
import { closeFile, openPlainFile } from '../runtime/plain-file.js'
import { Acknowledgements, mergedRanges } from './acknowledgements.js'
import { type Found, LineScanner } from './line-scanner.js'
import { readSpoolLine, type SpoolLine } from './spool-line.js'

/** Where a record of a segment is: in memory as well, only on disk, only on disk since before this engine (`left`), or settled. */
export const places = { memory: 0, disk: 1, left: 2, settled: 3 } as const
export type PlaceState = (typeof places)[keyof typeof places]

/** A record that was read back from the file. */
export interface Reread {
  readonly number: number
  /** Undefined when the file no longer has the record. */
  readonly line: SpoolLine | undefined
}

/** Most bytes that are read in one go. */
const maxReadBytes = 524_288
const pieceBytes = 262_144
const manyRecords: Room = { records: 1000, bytes: maxReadBytes }
/** Most records that one line acknowledges. */
const maxAcknowledged = 1024
/** No file of a spool has so many lines: a larger number would only cost memory. */
const maxNumber = 1_048_576
/** Offsets take four bytes. */
const maxOffset = 2 ** 32 - 1

/** A file of records, all of one lane and severity. In memory it takes nine bytes per record. */
export class Segment {
  readonly path: string
  readonly lane: number
  readonly severity: Severity
  /** The time of its last record, on the monotonic clock. */
  lastAt = 0
  /** Bytes of its file. */
  bytes = 0
  /** True when the file was removed or given up. */
  gone = false
  readonly #counts: [number, number, number, number] = [0, 0, 0, 0]
  #starts = new Uint32Array(64)
  #lengths = new Uint32Array(64)
  #states = new Uint8Array(64)
  #length = 0
  /** By place: no record with a lower number is there. */
  readonly #first: [number, number, number, number] = [0, 0, 0, 0]
  #unacknowledged: number[] = []
  /** The file could not be removed, and all of its records are acknowledged. */
  #isAllAcknowledged = false
  readonly #belongs: (line: SpoolLine) => boolean
  readonly #read: (bytes: Buffer) => SpoolLine | undefined
  readonly #files: Files
  readonly #acknowledgements: Acknowledgements

  /** @param plan `belongs` returns true for a line that may stand in this file; by default, every line may. `read` reads a line */
  constructor(plan: {
    readonly path: string
    readonly lane: number
    readonly severity: Severity
    readonly belongs?: (line: SpoolLine) => boolean
    readonly read?: (bytes: Buffer) => SpoolLine | undefined
    readonly files?: Files
  }) {
    this.path = plan.path
    this.#files = plan.files ?? nodeFiles
    this.#acknowledgements = new Acknowledgements(plan.path, this.#files)
    this.#belongs = plan.belongs ?? (() => true)
    this.#read = plan.read ?? readSpoolLine
    this.lane = plan.lane
    this.severity = plan.severity
  }

  /** All records that were ever in it. */
  get length(): number {
    return this.#length
  }

  count(place: PlaceState): number {
    return this.#counts[place]
  }

  get settled(): boolean {
    return this.#counts[places.settled] === this.#length
  }

  /** Add a record to the end of the file, which is in memory as well. Returns its number. */
  add(length: number): number {
    const number = this.#length
    this.#put(number, { start: this.bytes, length, place: places.memory })
    this.bytes += length + 1
    return number
  }

  /** Bytes of a record in the file, line end included. */
  bytesOf(number: number): number {
    return this.#lengths[number]! + 1
  }

  placeOf(number: number): PlaceState {
    return this.#states[number] as PlaceState
  }

  move(number: number, place: PlaceState): void {
    this.#counts[this.#states[number] as PlaceState]--
    this.#counts[place]++
    this.#states[number] = place
    this.#first[place] = Math.min(this.#first[place], number)
  }

  /** Mark a record as settled, to be acknowledged next. */
  settle(number: number): void {
    this.move(number, places.settled)
    this.#unacknowledged.push(number)
  }

  /** The records from this number on are not on disk. Returns how many of them were not in memory either. */
  lose(from: number): number {
    let lost = 0
    for (let number = from; number < this.#length; number++) {
      if (this.placeOf(number) === places.disk) lost++
      this.move(number, places.settled)
    }
    return lost
  }

  /** The numbers of the oldest records in a place, as many as there is room for, near enough to each other to be read in one go. */
  oldest(place: PlaceState, { records: most, bytes }: Room = manyRecords): number[] {
    const maxBytes = Math.min(bytes, maxReadBytes)
    const numbers: number[] = []
    let number = this.#first[place]
    for (; number < this.#length && numbers.length < most && numbers.length < this.#counts[place]; number++) {
      if (this.#states[number] !== place) continue
      const first = numbers[0] ?? number
      if (numbers.length > 0 && this.#starts[number]! + this.#lengths[number]! - this.#starts[first]! > maxBytes) break
      numbers.push(number)
    }
    // All records before these are in other places.
    this.#first[place] = numbers[0] ?? number
    return numbers
  }

  /**
   * Read records back, given by ascending numbers. A file that is gone or replaced gives none. Throws other errors of the file system: the
   * records may be readable later.
   */
  read(numbers: readonly number[]): Reread[] {
    const [first, last] = [numbers[0], numbers.at(-1)]
    if (first === undefined || last === undefined) return []
    const start = this.#starts[first]!
    const bytes = Buffer.allocUnsafe(this.#starts[last]! + this.#lengths[last]! - start)
    if (!this.#readFrom(start, bytes)) return numbers.map((number) => ({ number, line: undefined }))
    return numbers.map((number) => {
      const at = this.#starts[number]! - start
      const line = this.#readLine(bytes.subarray(at, at + this.#lengths[number]!))
      return { number, line: line?.number === number ? line : undefined }
    })
  }

  /** False when there is no such file. Bytes beyond its end are zeros. */
  #readFrom(start: number, bytes: Buffer): boolean {
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

  #readLine(bytes: Buffer): SpoolLine | undefined {
    const line = this.#read(bytes)
    return line !== undefined && this.#belongs(line) ? line : undefined
  }

  /** Write which records were settled since the last call. Throws what the file system does; the next call then writes them. */
  acknowledge(): void {
    while (this.#unacknowledged.length > 0) {
      const batch = this.#unacknowledged.slice(0, maxAcknowledged)
      this.#acknowledgements.add(batch)
      this.#unacknowledged = this.#unacknowledged.slice(batch.length)
    }
  }

  /**
   * Remove the file, then its acknowledgements; again after a failure. A file that cannot be removed stays with all of its records acknowledged, so that none is
   * sent again. Returns the error of the file system, if there is one. Never throws.
   */
  remove(): unknown {
    this.gone = true
    const fault = this.#faultOfRemoving(this.path)
    if (fault === undefined) return this.#faultOfRemoving(this.#acknowledgements.path)
    try {
      if (!this.#isAllAcknowledged) {
        this.#unacknowledged = Array.from({ length: this.#length }, (_, number) => number)
        this.acknowledge()
        this.#isAllAcknowledged = true
      }
    } catch {
      // The disk takes nothing at all.
    }
    return fault
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

  /**
   * Read a segment that another engine has written. Every whole line that is not acknowledged is `left`. Rejects with an error of the file
   * system, and when the path is not a regular file.
   */
  async recover(): Promise<Recovery> {
    const scanner = new LineScanner((bytes) => this.#readLine(bytes))
    let newest = 0
    let misplaced = 0
    const take = (found: readonly Found<SpoolLine>[]) => {
      for (const { start, length, line } of found) {
        // Sluice numbers lines in their order: it did not write a line that breaks the order.
        if (line.number < this.#length || line.number >= maxNumber || start + length > maxOffset) misplaced++
        else {
          this.#put(line.number, { start, length, place: places.left })
          newest = Math.max(newest, line.time)
        }
      }
    }
    const settled = mergedRanges(this.#acknowledgements.read())
    const fd = openPlainFile(this.path, { files: this.#files })
    for await (const piece of this.#files.createReadStream(this.path, { fd, highWaterMark: pieceBytes })) {
      this.bytes += piece.length
      take(scanner.push(piece))
    }
    take(scanner.end())
    for (const [from, to] of settled) {
      for (let number = from; number <= to && number < this.#length; number++) this.move(number, places.settled)
    }
    return { damaged: scanner.damaged + misplaced, newest }
  }

  #put(number: number, { start, length, place }: { start: number; length: number; place: PlaceState }): void {
    this.#grow(number + 1)
    // Missing numbers are those of damaged lines.
    for (; this.#length <= number; this.#length++) {
      this.#states[this.#length] = places.settled
      this.#counts[places.settled]++
    }
    this.#starts[number] = start
    this.#lengths[number] = length
    this.move(number, place)
  }

  #grow(length: number): void {
    if (length <= this.#states.length) return
    const size = Math.max(length, 2 * this.#states.length)
    const [starts, lengths, states] = [this.#starts, this.#lengths, this.#states]
    this.#starts = new Uint32Array(size)
    this.#lengths = new Uint32Array(size)
    this.#states = new Uint8Array(size)
    this.#starts.set(starts)
    this.#lengths.set(lengths)
    this.#states.set(states)
  }
}

/** Facts about a segment that was read. */
export interface Recovery {
  /** Places with bytes that are no line. */
  readonly damaged: number
  /** The time at which its newest record was accepted, in milliseconds since 1970; 0 without records. */
  readonly newest: number
}

/** Error codes for a file that is gone, or whose name belongs to something else. */
const goneCodes: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'EFTYPE'])
