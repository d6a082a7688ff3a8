import type { Backing } from '../log/backing.js'
import type { MemoryBounds } from '../log/memory-bounds.js'
import type { Newcomer, RecordLog } from '../log/record-log.js'
import { type Severity, valueSeverity } from '../records/level.js'
import type { Loop } from '../runtime/loop.js'
import type { Lane } from './lane.js'
import type { DropReason } from './ledger.js'
import type { LedgerBook } from './ledger-book.js'
import type { Observer } from './observer.js'
import type { Acceptable } from './plan.js'

/** Room for a body, which is written at `at`. */
export interface BodyRoom {
  readonly memory: Buffer
  readonly at: number
}

/** Most log records are of this severity: their bodies are written where they stay. */
const usualSeverity: Severity = 2

interface IntakePlan {
  readonly lanes: readonly Lane[]
  readonly book: LedgerBook
  readonly bounds: MemoryBounds
  readonly backing: Backing
  readonly observer: Observer
  readonly loop: Loop
  /** A lane has got a record, or has lost one for which a drain may have waited. */
  readonly changed: (lane: Lane) => void
}

/** Puts new records into the logs of their lanes, while memory has room for them, and tells of all that are given up. */
export class Intake {
  readonly #plan: IntakePlan
  readonly #untold: { readonly lane: Lane; readonly reason: DropReason; readonly count: number }[] = []
  #sequence = 0
  #isClosed = false

  constructor(plan: IntakePlan) {
    this.#plan = plan
  }

  /** The sequence of the record that is accepted next. */
  get sequence(): number {
    return this.#sequence
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  accept(lane: Lane, record: Acceptable): void {
    const { body, severity, idempotencyKey = '', isOwn = false, kept = false } = record
    const bytes = Buffer.byteLength(body)
    const keyLength = idempotencyKey.length
    const log = lane.logs.of(severity)
    const { memory, at } = log.room(keyLength + bytes)
    if (keyLength > 0) memory.write(idempotencyKey, at, 'latin1')
    // The characters are ASCII where there are as many as bytes.
    if (bytes === body.length) memory.write(body, at + keyLength, 'latin1')
    else memory.write(body, at + keyLength)
    this.#take(lane, log, { bytes, keyLength, from: kept ? 'unneeded' : isOwn ? 'none' : 'taken' })
  }

  room(lane: Lane, bytes: number): BodyRoom {
    return usualLog(lane).room(bytes)
  }

  append(lane: Lane, bytes: number, severity: Severity): void {
    const log = lane.logs.of(severity)
    const written = usualLog(lane)
    if (log !== written) log.stageFrom(written, bytes)
    this.#take(lane, log, { bytes, keyLength: 0, from: 'taken' })
  }

  /** Drop a record that nobody can deliver, and report it at once. */
  refuse(lane: Lane, reason: DropReason): void {
    this.#refuse(lane, 'taken', reason)
  }

  #refuse(lane: Lane, from: Newcomer, reason: DropReason): void {
    this.#drop(lane, from, reason)
    this.tellLosses()
  }

  /** Records were given up. Listeners hear of it when the logs are whole again: they may log. */
  lost(lane: Lane, reason: DropReason, count: number): void {
    const { loop, changed } = this.#plan
    lane.losses.add({ reason, count }, loop.now())
    changed(lane)
    if (this.#untold.push({ lane, reason, count }) === 1) loop.soon(this.tellLosses)
  }

  readonly tellLosses = (): void => {
    for (let loss = this.#untold.shift(); loss !== undefined; loss = this.#untold.shift()) {
      this.#plan.observer.dropped(loss.lane.name, { reason: loss.reason, count: loss.count })
    }
  }

  /** Take no more. */
  close(): void {
    this.#isClosed = true
  }

  /** Take the record that was written into the room of its log. */
  #take(
    lane: Lane,
    log: RecordLog,
    { bytes, keyLength, from }: { readonly bytes: number; readonly keyLength: number; readonly from: Newcomer },
  ): void {
    if (this.#isClosed) {
      this.#refuse(lane, from, 'closed')
      return
    }
    const { bounds, backing, changed } = this.#plan
    const sequence = this.#sequence++
    if (bounds.makeRoom({ severity: log.severity, bytes: bytes + keyLength })) {
      log.append(bytes, sequence, keyLength, from)
      changed(lane)
    } else this.#drop(lane, from, backing.lossReason)
    if (this.#untold.length > 0) this.tellLosses()
  }

  #drop(lane: Lane, from: Newcomer, reason: DropReason): void {
    this.#plan.book.move(lane.index, from, reason, 1, 0)
    this.lost(lane, reason, 1)
  }
}

/** The log of most records: their bodies are written where they stay. */
function usualLog(lane: Lane): RecordLog {
  return lane.logs.of(lane.name.kind === 'values' ? valueSeverity : usualSeverity)
}
