import { dirname } from 'node:path'
import type { LaneName } from '../delivery/ledger.js'
import type { Storable } from '../delivery/store.js'
import type { Severity } from '../records/level.js'
import type { Clock } from '../runtime/clock.js'
import type { Files } from '../runtime/files.js'
import { closeFile } from '../runtime/plain-file.js'
import { write } from './append.js'
import { Segment } from './segment.js'
import { syncFolder } from './spool-folder.js'
import { lineMiddle, spoolLine } from './spool-line.js'

export interface OpenSegmentsPlan {
  readonly lanes: readonly LaneName[]
  /** A segment with so many bytes gets no more lines. */
  readonly segmentBytes: number
  /** A segment that was opened so long ago gets no more lines, so that a file holds records of about the same age. */
  readonly maxOpenMs: number
  readonly sync: boolean
  readonly clock: Clock
  readonly wallClock: () => number
  readonly files: Files
  /** Path of the next segment. Throws what the file system does. */
  readonly pathFor: (lane: LaneName, severity: Severity) => string
  /** Called with a new segment. */
  readonly opened: (segment: Segment) => void
  /** Called when a segment gets no more lines, with the error of closing its file. */
  readonly sealed: (segment: Segment, fault: unknown) => void
}

/** A segment to which lines are added. */
interface Open {
  readonly segment: Segment
  readonly writer: SegmentWriter
  /** The part that all of its lines share. */
  readonly middle: string
  readonly openedAt: number
  /** Records that are written. */
  committed: number
}

/** The result of writing the gathered lines of a segment. */
export interface Written {
  readonly segment: Segment
  /** Records before this number are on disk. */
  readonly committed: number
  /** Undefined when all records are on disk. */
  readonly error: unknown
}

/** The segments to which lines are added: one for each lane and severity that has any. */
export class OpenSegments {
  readonly #plan: OpenSegmentsPlan
  readonly #open = new Map<string, Open>()
  #pending = 0

  constructor(plan: OpenSegmentsPlan) {
    this.#plan = plan
  }

  /** About how many characters wait to be written. */
  get pending(): number {
    return this.#pending
  }

  /** True when the next record of a lane and severity needs a new segment. */
  isDue(lane: number, severity: Severity): boolean {
    const open = this.#open.get(nameOf({ lane, severity }))
    const { clock, maxOpenMs, segmentBytes } = this.#plan
    return open !== undefined && (open.segment.bytes >= segmentBytes || clock.now() - open.openedAt > maxOpenMs)
  }

  /** Add a record, and return its place. Throws what the file system does. */
  add(lane: number, { body, bytes, severity, idempotencyKey }: Storable): { segment: Segment; number: number } {
    const { segment, writer, middle } = this.#open.get(nameOf({ lane, severity })) ?? this.#begin(lane, severity)
    const time = this.#plan.wallClock()
    const line = spoolLine({ number: segment.length, idempotencyKey, time, body }, { middle })
    const number = segment.add(line.length - body.length + bytes)
    segment.lastAt = this.#plan.clock.now()
    writer.add(line)
    this.#pending += line.length
    return { segment, number }
  }

  /** Write the gathered lines. Returns a result for each segment that had any. */
  commit(): Written[] {
    const written: Written[] = []
    this.#pending = 0
    for (const open of this.#open.values()) {
      if (open.writer.pending === 0) continue
      const { lines, error } = open.writer.commit(this.#plan)
      open.committed += lines
      written.push({ segment: open.segment, committed: open.committed, error })
    }
    return written
  }

  /** Add no more lines to a segment. Lines that wait to be written are lost. */
  seal(segment: Segment): void {
    const open = this.#open.get(nameOf(segment))
    if (open?.segment !== segment) return
    this.#open.delete(nameOf(segment))
    this.#plan.sealed(segment, open.writer.close())
  }

  /** Seal the segment of a lane and severity, or all of them. */
  sealAll(only?: { readonly lane: number; readonly severity: Severity }): void {
    for (const [name, { segment }] of [...this.#open]) {
      if (only === undefined || name === nameOf(only)) this.seal(segment)
    }
  }

  #begin(lane: number, severity: Severity): Open {
    const laneName = this.#plan.lanes[lane]!
    const path = this.#plan.pathFor(laneName, severity)
    const writer = new SegmentWriter(path, this.#plan.files)
    const openedAt = this.#plan.clock.now()
    const segment = new Segment({ path, lane, severity, files: this.#plan.files })
    const open: Open = { segment, writer, middle: lineMiddle({ ...laneName, severity }), openedAt, committed: 0 }
    segment.lastAt = openedAt
    this.#open.set(nameOf(segment), open)
    this.#plan.opened(segment)
    return open
  }
}

function nameOf({ lane, severity }: { readonly lane: number; readonly severity: Severity }): string {
  return `${lane} ${severity}`
}

/** Adds lines to the end of a segment's file: they are gathered, then written in one go. */
export class SegmentWriter {
  readonly #path: string
  readonly #files: Files
  readonly #file: number
  #lines: string[] = []
  #pending = 0
  #written = 0

  /** Throws what the file system does. */
  constructor(path: string, files: Files) {
    this.#path = path
    this.#files = files
    this.#file = files.openSync(path, 'ax', 0o600)
  }

  /** Characters that wait to be written. */
  get pending(): number {
    return this.#pending
  }

  add(line: string): void {
    this.#lines.push(line)
    this.#pending += line.length
  }

  /** Write the gathered lines; with `sync`, wait for the disk. After an error, unwritten lines are lost, and none may be added. */
  commit({ sync }: { sync: boolean }): Commit {
    const lines = this.#lines.length
    if (lines === 0) return { lines }
    const bytes = Buffer.from(`${this.#lines.join('\n')}\n`)
    this.#lines = []
    this.#pending = 0
    const isNew = this.#written === 0
    const taken = write(this.#file, { bytes, files: this.#files })
    const whole = taken.error === undefined ? lines : this.#keepWhole(bytes.subarray(0, taken.bytes))
    if (taken.error === undefined) this.#written += bytes.length
    try {
      if (sync) this.#sync(isNew)
      return { lines: whole, error: taken.error }
    } catch (error) {
      return { lines: whole, error: taken.error ?? error }
    }
  }

  /** Returns the error of the file system, if there is one. Never throws. */
  close(): unknown {
    return closeFile(this.#file, this.#files)
  }

  #sync(isNew: boolean): void {
    this.#files.fdatasyncSync(this.#file)
    // After a power cut a new file must be in its folder.
    if (isNew) syncFolder(dirname(this.#path), this.#files)
  }

  /** Cut off a line of which only a part was written. Returns the number of whole lines. */
  #keepWhole(written: Buffer): number {
    let lines = 0
    let end = 0
    for (let next = written.indexOf(lineFeed); next !== -1; next = written.indexOf(lineFeed, end)) {
      end = next + 1
      lines++
    }
    this.#written += end
    try {
      this.#files.ftruncateSync(this.#file, this.#written)
    } catch {
      // Part of a line does no harm: no reader takes it for a line.
    }
    return lines
  }
}

/** How many lines the disk took, and the error if it did not take all. */
interface Commit {
  readonly lines: number
  readonly error?: unknown
}

const lineFeed = 10
