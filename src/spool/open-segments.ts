import { fdatasyncSync, fsyncSync, ftruncateSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import type { LaneName } from '../delivery/ledger.js'
import type { Storable } from '../delivery/store.js'
import { closeFile } from '../options/plain-file.js'
import type { Severity } from '../records/level.js'
import type { Clock } from '../runtime/clock.js'
import { write } from './append.js'
import { Segment } from './segment.js'
import { lineMiddle, spoolLine } from './spool-line.js'

export interface OpenSegmentsPlan {
  readonly lanes: readonly LaneName[]
  /** A segment that has so many bytes gets no more. */
  readonly segmentBytes: number
  /** Nor does one that was opened so long ago: a file holds records of about the same age. */
  readonly maxOpenMs: number
  readonly sync: boolean
  readonly clock: Clock
  readonly wallClock: () => number
  /** Path of the next segment. Throws what the file system does. */
  readonly pathFor: (lane: LaneName, severity: Severity) => string
  /** A segment was begun. */
  readonly opened: (segment: Segment) => void
  /** Nothing more is added to a segment, and what the file system said when it was closed. */
  readonly sealed: (segment: Segment, fault: unknown) => void
}

/** A segment to which lines are added. */
interface Open {
  readonly segment: Segment
  readonly writer: SegmentWriter
  /** What the lines of it have in common. */
  readonly middle: string
  readonly openedAt: number
  /** Records of it that are written. */
  committed: number
}

/** What became of the lines of one segment. */
export interface Written {
  readonly segment: Segment
  /** From this number on they did not come to the disk. */
  readonly committed: number
  /** Why not; undefined when all of them did. */
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

  /** Characters that wait to be written, about. */
  get pending(): number {
    return this.#pending
  }

  has(segment: Segment): boolean {
    return this.#open.get(nameOf(segment))?.segment === segment
  }

  /** Whether the next record of a lane and severity needs another segment than the last one. */
  isDue(lane: number, severity: Severity): boolean {
    const open = this.#open.get(nameOf({ lane, severity }))
    const { clock, maxOpenMs, segmentBytes } = this.#plan
    return open !== undefined && (open.segment.bytes >= segmentBytes || clock.now() - open.openedAt > maxOpenMs)
  }

  /** Add a record. Throws what the file system does. */
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

  /** Write what was gathered; one answer for each segment that had any of it. */
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

  /** Add no more to a segment; what waits to be written is gone. */
  seal(segment: Segment): void {
    const open = this.#open.get(nameOf(segment))
    if (open?.segment !== segment) return
    this.#open.delete(nameOf(segment))
    this.#plan.sealed(segment, open.writer.close())
  }

  /** Add no more to the segment of a lane and severity, or to any. */
  sealAll(only?: { readonly lane: number; readonly severity: Severity }): void {
    for (const [name, { segment }] of [...this.#open]) {
      if (only === undefined || name === nameOf(only)) this.seal(segment)
    }
  }

  #begin(lane: number, severity: Severity): Open {
    const laneName = this.#plan.lanes[lane]!
    const path = this.#plan.pathFor(laneName, severity)
    const writer = new SegmentWriter(path)
    const openedAt = this.#plan.clock.now()
    const segment = new Segment({ path, lane, severity })
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
