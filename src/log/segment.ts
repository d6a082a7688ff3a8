import type { DropReason } from '../delivery/ledger.js'
import type { Head } from '../delivery/ledger-book.js'
import type { Severity } from '../records/level.js'

/** The states of a record. `waiting`: until its own `notBefore`. Suspects wait, too: each goes out alone. */
export const gone = 0
export const ready = 1
export const inFlight = 2
export const waiting = 3
export type State = 0 | 1 | 2 | 3

/** Largest memory of a segment, but for one with a single record that is larger. */
export const fullBytes = 262_144
/** Most records of a segment that a log opens. */
export const fullRecords = 2048
const firstCapacity = 16
const emptyMemory = Buffer.alloc(0)

/** A record: its segment, and its index in it. */
export interface Ref {
  readonly segment: Segment
  readonly index: number
}

/** How far a record is to blame for its last failure: not at all, or as one of several, or as the only one. */
export const none = 0
export const together = 1
export const alone = 2
/** It failed where others succeeded. */
export const suspect = 3
export type Blame = 0 | 1 | 2 | 3

/** What is known of a record that may be at fault, or has to wait. All times are on the clock. Plain data: the rules are elsewhere. */
export interface Trial extends Ref {
  /** Its place. It changes when its log moves the record to another segment: hold the trial, not a copy of its place. */
  segment: Segment
  index: number
  blame: Blame
  /** It failed alone in an outage before, long before its end. */
  wasAlone: boolean
  /** It is not sent before. */
  notBefore: number
  /** The service asked for a longer wait than is honoured. */
  excessive: boolean
  /** Failures as a suspect, each with another record of its lane delivered since the one before. */
  failures: number
  /** All failures, for the backoff. */
  fails: number
  /** Failures in a row without a success of its lane. */
  vain: number
  failedAt: number
  /** Counts of its lane when it failed last; -1 before that. */
  deliveredBefore: number
  settledBefore: number
  /** Back-pressure made it a suspect. */
  pressed: boolean
  /** As a suspect it was sent, and got no answer the last time. */
  unanswered: boolean
  /** On the clock: when its own next attempt is due; infinity while it waits for none. */
  dueAt: number
}

/** The file behind a segment. Implementations never throw. */
export interface SegmentFile {
  /**
   * Read records that are on disk alone, each with its own key before its body, one behind another to `at`. A line that is damaged leaves
   * a gap of its length, and its record is given up by {@link SegmentLog.lose}. `later`: the disk does not answer now.
   *
   * @param indexes ascending
   */
  load(indexes: Uint32Array, memory: Buffer, at: number): 'loaded' | 'later'
  /** Records that are on disk need not be kept any more. */
  settled(index: number, count: number): void
  /** No record of the segment is left. */
  remove(): void
}

/** What a log asks of a batch. */
export interface BatchSpace {
  readonly length: number
  /** True where bodies of `bytes` bytes may be added, behind `records` others that are about to be added with them. */
  fits(bytes: number, records: number): boolean
  addRun(segment: Segment, from: number, count: number): void
}

/** The log of a segment, as all see it that have a record at hand. `RecordLog` implements it, and says more. */
export interface SegmentLog {
  readonly lane: number
  readonly severity: Severity
  mayTake(ref: Ref): boolean
  takeOne(batch: BatchSpace, ref: Ref): void
  mark(segment: Segment, from: number, count: number, to: State, head?: Head): void
  /** Give records up that are not in flight or that can never be sent, and report the loss. */
  lose(segment: Segment, from: number, count: number, reason: DropReason): void
  /** The records before `to` are on disk now. */
  written(segment: Segment, to: number): void
  /** Nothing more is appended to the segment: its file takes no more. */
  seal(segment: Segment): void
  evict(segment: Segment): number
  forgetFile(segment: Segment, reason: DropReason): void
}

/**
 * Some records of a log, in order of acceptance: bytes, and columns with what is said of them. No record is an object.
 *
 *     on disk alone │ in memory and on disk │ in memory alone
 *                resident               committed           count
 *
 * Positions of bodies count from the beginning of the segment. Positions in `memory` are less by `origin`.
 */
export class Segment {
  readonly log: SegmentLog
  /** Bodies from `resident` on, one behind another; each behind its own key, if it has one. Behind them is room. */
  memory: Buffer = emptyMemory
  /** Position of the beginning of `memory`. */
  origin = 0
  /** Sequence of the first record. The others are stored above it. Infinity without one. */
  base = Number.POSITIVE_INFINITY
  /** By index: position of the end of the body. */
  ends!: Uint32Array
  sequences!: Uint32Array
  states!: Uint8Array
  /** 255 means many. */
  attempts!: Uint8Array
  /** Undefined while no record has a key of its own. */
  keyLengths: Uint8Array | undefined
  count = 0
  /** All before it are gone. */
  head = 0
  /** None before it is ready. */
  cursor = 0
  /** None before it is a suspect that waits. */
  suspectCursor = 0
  /** Records before this index that are not gone are on disk alone. */
  resident = 0
  /** Records before this index that are not gone are on disk. 0 without a file. */
  committed = 0
  /** Records by state. */
  readonly tally: [number, number, number, number] = [0, 0, 0, 0]
  /** Bytes of the records in `memory` that are not gone, with their keys. */
  held = 0
  trials: Map<number, Trial> | undefined
  file: SegmentFile | undefined
  /** The file takes no more than the records before `committed`. */
  isFileFull = false
  /** Why its file is gone. Records that are in flight then, and were on disk alone, are lost when they come back. */
  lostBy: DropReason | undefined
  /** Its neighbours in the log. */
  previous: Segment | undefined
  next: Segment | undefined

  /** @param capacity the number of records that it has room for at first; it grows */
  constructor(log: SegmentLog, capacity = firstCapacity) {
    this.log = log
    this.#allocate(Math.max(capacity, firstCapacity))
  }

  /** Position behind the last body. */
  get end(): number {
    return this.count === 0 ? 0 : this.ends[this.count - 1]!
  }

  /** Where the next body is written in `memory`. */
  get at(): number {
    return this.end - this.origin
  }

  sequenceOf(index: number): number {
    return this.base + this.sequences[index]!
  }

  /** Where the body stands in `memory`. */
  startOf(index: number): number {
    return this.#begin(index) + this.keyLengthOf(index) - this.origin
  }

  /** Length of the body, without its key. */
  bytesOf(index: number): number {
    return this.ends[index]! - this.#begin(index) - this.keyLengthOf(index)
  }

  keyLengthOf(index: number): number {
    return this.keyLengths === undefined ? 0 : this.keyLengths[index]!
  }

  /** Bytes of `count` bodies with their keys. */
  spanOf(from: number, count: number): number {
    return this.ends[from + count - 1]! - this.#begin(from)
  }

  /** Bytes of the own keys of `count` records. */
  keyBytesOf(from: number, count: number): number {
    if (this.keyLengths === undefined) return 0
    let bytes = 0
    for (let index = from; index < from + count; index++) bytes += this.keyLengths[index]!
    return bytes
  }

  isResident(index: number): boolean {
    return index >= this.resident
  }

  /** Copies `count` bodies without keys, one behind another. All are in memory. Returns the position behind them. */
  copyRun(from: number, count: number, to: Buffer, at: number): number {
    if (this.keyLengths === undefined) {
      const start = this.startOf(from)
      return at + this.memory.copy(to, at, start, start + this.spanOf(from, count))
    }
    let behind = at
    for (let index = from; index < from + count; index++) {
      behind += this.memory.copy(to, behind, this.startOf(index), this.ends[index]! - this.origin)
    }
    return behind
  }

  /** Adds a record whose body is at its place in memory or on disk. */
  add(bytes: number, sequence: number, keyLength: number, state: State = ready): void {
    const index = this.count
    if (index === this.states.length) this.#allocate(2 * index)
    if (index === 0) this.base = sequence
    this.ends[index] = this.end + keyLength + bytes
    this.sequences[index] = sequence - this.base
    this.states[index] = state
    if (keyLength > 0) {
      this.keyLengths ??= new Uint8Array(this.states.length)
      this.keyLengths[index] = keyLength
    }
    this.tally[state]++
    this.count++
  }

  /** Move the head behind records that are gone. */
  advanceHead(): void {
    while (this.head < this.count && this.states[this.head] === gone) this.head++
  }

  /** Position of the record: of its own key, or of its body where it has none. */
  #begin(index: number): number {
    return index === 0 ? 0 : this.ends[index - 1]!
  }

  #allocate(capacity: number): void {
    const columns = new ArrayBuffer(10 * capacity)
    const before = this.count > 0 ? this : undefined
    this.ends = grown(new Uint32Array(columns, 0, capacity), before?.ends)
    this.sequences = grown(new Uint32Array(columns, 4 * capacity, capacity), before?.sequences)
    this.states = grown(new Uint8Array(columns, 8 * capacity, capacity), before?.states)
    this.attempts = grown(new Uint8Array(columns, 9 * capacity, capacity), before?.attempts)
    if (this.keyLengths !== undefined) this.keyLengths = grown(new Uint8Array(capacity), this.keyLengths)
  }
}

function grown<Column extends Uint8Array | Uint32Array>(to: Column, from: Column | undefined): Column {
  if (from !== undefined) to.set(from)
  return to
}
