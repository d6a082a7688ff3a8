import { ControlBlock, controlBytes, word } from '../control/control-block.js'
import {
  type DropReason,
  fateOf,
  givenUp,
  type LaneCondition,
  type LaneName,
  type LaneReport,
  type Ledger,
  type SuppressReason,
  sumLedger,
  unsettled,
} from './ledger.js'
import { column, reportOf, rowLength, states } from './ledger-row.js'
import { senderNames } from './sender.js'

/** One of the counts that the equation adds up. Each record is under exactly one. */
export type Head = 'queued' | 'inFlight' | 'spooled' | 'delivered' | 'rejected' | DropReason | SuppressReason

/**
 * Where an accepted record comes from. `none`: Sluice has written it itself. `taken`: a logger or `track`. `adopted`: the disk, where an engine
 * that is gone has left it. As many as the last writer of this ledger has left are counted as spooled already. `gathered`: a line that was counted as
 * queued when it came, and is read now.
 */
export type Origin = 'none' | 'taken' | 'adopted' | 'gathered'

/**
 * The ledger at one moment. By lane: `taken` records that have come from loggers and `track`, and `onDisk` records in memory that are on disk, too.
 */
interface LedgerCopy {
  readonly ledger: Ledger
  readonly taken: readonly number[]
  readonly onDisk: readonly number[]
}

/** The shared memory has a control block, then for each lane its numbers and the text of its last error. */
const errorBytes = 512
const rowBytes = rowLength * 8
const laneBytes = rowBytes + errorBytes

/**
 * The ledger of one engine, in memory that other threads can read at any time.
 *
 * A sequence number is incremented before and after each change, so that it is odd during a change (a seqlock; see H.-J. Boehm, "Can
 * Seqlocks Get Along With Programming Language Memory Models?", MSPC 2012). One thread writes, any number of threads read. A reader takes
 * a copy, and takes another one when the number was odd or has changed. The equation holds in every copy.
 */
export class LedgerBook {
  readonly memory: SharedArrayBuffer
  readonly #lanes: readonly LaneName[]
  readonly #sequence: Int32Array
  readonly #header: Float64Array
  readonly #rows: readonly Float64Array[]
  readonly #errors: readonly Uint8Array[]

  /** Memory for a ledger of these lanes, behind a control block. */
  static memory(lanes: readonly LaneName[]): SharedArrayBuffer {
    return ControlBlock.memory(lanes.length * laneBytes)
  }

  constructor(lanes: readonly LaneName[], memory = LedgerBook.memory(lanes)) {
    this.memory = memory
    this.#lanes = lanes
    this.#sequence = new Int32Array(memory, 4 * word.sequence, 1)
    this.#header = new Float64Array(memory, 4 * word.invalid, 1)
    const offset = (lane: number) => controlBytes + lane * laneBytes
    this.#rows = lanes.map((_, lane) => new Float64Array(memory, offset(lane), rowLength))
    this.#errors = lanes.map((_, lane) => new Uint8Array(memory, offset(lane) + rowBytes, errorBytes))
  }

  /** True for the first caller in the process: it shows the last ledger, and no other thread does. */
  showsLast(): boolean {
    return Atomics.exchange(new Int32Array(this.memory, 4 * word.shown, 1), 0, 1) === 0
  }

  invalid(): void {
    this.#header[0]!++
  }

  /**
   * Records go from one head to another. No other change touches the equation, so that it always holds.
   *
   * @param bytes the bytes that enter or leave memory, which has the records that are queued or in flight
   * @param onDisk records among these that are on disk, too: they outlive the writer's thread
   */
  move(lane: number, from: Head | Origin, to: Head, count: number, bytes: number, onDisk = 0): void {
    const row = this.#open(lane)
    const known = from === 'adopted' ? Math.min(count, row[column.orphaned]!) : 0
    const moved = count - known
    if (known > 0) row[column.orphaned]! -= known
    if (from === 'none' || from === 'taken' || from === 'adopted') {
      row[column.accepted]! += moved
      if (from !== 'none') row[column[from]]! += moved
    } else row[columnOf(from)]! -= moved
    row[columnOf(to)]! += moved
    if (to === 'inFlight') row[column.requests]! += moved
    if (to === 'delivered') row[column.deliveredBytes]! += bytes
    // A suppressed record comes back while it is kept in case an error comes.
    if (from === 'unneeded') row[column.keptForError]! -= moved
    const entered = Number(isInMemory(to)) - Number(isInMemory(from))
    row[column.heldBytes]! += entered * bytes
    row[column.onDisk]! += entered * onDisk
    this.#done()
  }

  /** Count what is said of records beside the equation. `onDisk`: records in memory that are on disk, too. */
  count(
    lane: number,
    name: 'retries' | 'ambiguousRetries' | 'redacted' | 'keptForError' | 'onDisk',
    change: number,
  ): void {
    const row = this.#open(lane)
    row[column[name]]! += change
    this.#done()
  }

  describe(lane: number, now: LaneCondition): void {
    const row = this.#open(lane)
    row[column.state] = states.indexOf(now.state)
    row[column.connections] = now.connections
    row[column.depth] = now.depth
    row[column.sender] = senderNames.indexOf(now.sender)
    this.#done()
  }

  lastError(lane: number, text: string): void {
    const row = this.#open(lane)
    row[column.errorLength] = new TextEncoder().encodeInto(text, this.#errors[lane]!).written
    this.#done()
  }

  /**
   * The thread that wrote here is gone, with its memory: count its records as spooled where they are on disk, else as dropped by
   * `reason`. The next writer goes on from these counts.
   *
   * @returns by lane, the number of records that are lost and of those that are on disk
   */
  abandon(reason: DropReason, { spools }: { spools: boolean }): { readonly lost: number; readonly spooled: number }[] {
    // A thread that ends in the middle of a change leaves the number odd.
    if (Atomics.load(this.#sequence, 0) % 2 !== 0) this.#done()
    const { ledger, onDisk } = this.copy()
    return ledger.lanes.map((lane, index) => {
      const fate = fateOf(lane, { spools, onDisk: onDisk[index]! })
      const row = this.#open(index)
      row[column.queued] = 0
      row[column.inFlight] = 0
      row[column.heldBytes] = 0
      row[column.keptForError] = 0
      row[column.onDisk] = 0
      row[column.spooled]! += fate.spooled
      row[column.orphaned] = row[column.spooled]!
      row[column[reason]]! += fate.lost
      this.#done()
      return fate
    })
  }

  /** The ledger of an engine whose thread is gone: its records are lost, except those on disk. */
  ended({ spools }: { spools: boolean }): Ledger {
    const { ledger, onDisk } = this.copy()
    const lanes = ledger.lanes.map((lane, index) => givenUp(lane, { spools, onDisk: onDisk[index]! }))
    return sumLedger(lanes, ledger.invalid)
  }

  /** Records of all lanes that are queued, in flight or on disk. Cheaper than a copy, and less exact. */
  get remaining(): number {
    return this.#sum((row) => row[column.queued]! + row[column.inFlight]! + row[column.spooled]!)
  }

  /** Read the ledger, from any thread. */
  read(): Ledger {
    return this.copy().ledger
  }

  /** Records of all lanes that have come from loggers and `track`: cheap, for it is read at each of them, and less exact than a copy. */
  get taken(): number {
    let sum = 0
    for (const row of this.#rows) sum += row[column.taken]!
    return sum
  }

  /** Make a consistent copy, from any thread. */
  copy(): LedgerCopy {
    for (let attempt = 0; attempt < maxReadAttempts; attempt++) {
      const before = Atomics.load(this.#sequence, 0)
      if (before % 2 !== 0) {
        // On a busy machine the writer may have lost its processor in the middle of a change: this thread lends it its own.
        if (attempt >= maxReadAttempts - maxWaits) Atomics.wait(this.#sequence, 0, before, 1)
        continue
      }
      const copy = this.#copy()
      if (Atomics.load(this.#sequence, 0) === before) return copy
    }
    // The writer died or was interrupted in the middle of a change. The record that it was about to count is taken for queued.
    return this.#copy({ torn: true })
  }

  #copy({ torn = false } = {}): LedgerCopy {
    const lanes = this.#lanes.map(({ kind, bucket }, index): LaneReport => {
      const report = reportOf({ kind, bucket }, this.#rows[index]!.slice(), this.#errors[index]!)
      return torn ? { ...report, queued: Math.max(0, unsettled(report) - report.inFlight) } : report
    })
    return {
      ledger: sumLedger(lanes, this.#header[0]!),
      taken: this.#rows.map((row) => row[column.taken]!),
      onDisk: this.#rows.map((row) => row[column.onDisk]!),
    }
  }

  #sum(count: (row: Float64Array) => number): number {
    return this.#rows.reduce((sum, row) => sum + count(row), 0)
  }

  #open(lane: number): Float64Array {
    Atomics.add(this.#sequence, 0, 1)
    return this.#rows[lane]!
  }

  #done(): void {
    Atomics.add(this.#sequence, 0, 1)
  }
}

const maxReadAttempts = 10_000
/** Waits of a millisecond, before a reader takes the writer for dead. */
const maxWaits = 20

function isInMemory(head: Head | Origin): boolean {
  return head === 'queued' || head === 'inFlight'
}

/** V8 finds a property whose name varies ten times as slowly as one whose name stands here. Every record is under these three. */
function columnOf(head: Head | 'gathered'): number {
  if (head === 'queued' || head === 'gathered') return column.queued
  if (head === 'inFlight') return column.inFlight
  return head === 'delivered' ? column.delivered : column[head]
}
