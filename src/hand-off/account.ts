import {
  type DropReason,
  dropReasons,
  givenUp,
  type LaneName,
  type LaneReport,
  type Ledger,
  sumLedger,
} from '../delivery/ledger.js'
import type { LedgerBook } from '../delivery/ledger-book.js'
import type { Reporter } from '../diagnostics/reporter.js'
import type { RecordKind } from '../records/wire.js'
import type { LostRecords } from './delivery-thread.js'

export interface HandOffAccountPlan {
  readonly lanes: readonly LaneName[]
  /** The ledger of the engine in the worker. */
  readonly book: LedgerBook
  readonly reporter: Reporter
  /** True where the worker writes the records that it takes to a spool. */
  readonly spools: boolean
}

/** The ledger as the application sees it: that of the engine, plus the records that have not reached it. Reports what it drops. */
export class HandOffAccount {
  /** `track` calls with a bad number. */
  invalid = 0
  readonly #plan: HandOffAccountPlan
  readonly #book: LedgerBook
  readonly #logLane: number
  readonly #valueLane: number
  /** By lane: records written into the pipe since the beginning. Records above the engine's `taken` are on their way. */
  readonly #written: number[]
  /** True where records go to an engine in this thread, and not into the pipe. */
  #isDirect = false
  /** By lane: drops of the engine in the worker that have been reported. */
  readonly #told: readonly Map<DropReason, number>[]
  /** By lane: records that no engine has counted. */
  readonly #dropped: readonly Map<DropReason, number>[]

  constructor(plan: HandOffAccountPlan) {
    const { lanes, book } = plan
    this.#plan = plan
    this.#book = book
    this.#logLane = lanes.findIndex(({ kind }) => kind === 'logs')
    this.#valueLane = lanes.findIndex(({ kind }) => kind === 'values')
    this.#written = lanes.map(() => 0)
    this.#told = lanes.map(() => new Map())
    this.#dropped = lanes.map(() => new Map())
  }

  /** The lane of a kind; -1 where the configuration has no bucket for it. */
  laneOf(kind: RecordKind): number {
    return kind === 'logs' ? this.#logLane : this.#valueLane
  }

  /** Records of all lanes that were written into the pipe. */
  get written(): number {
    return this.#written.reduce((sum, count) => sum + count, 0)
  }

  /** Count a record that was written into the pipe. */
  accept(kind: RecordKind): void {
    this.#written[kind === 'logs' ? this.#logLane : this.#valueLane]!++
  }

  /** Report what the engine in the worker has dropped since the last call. What its end drops is reported by its close, or its failure. */
  tellDrops(): void {
    const { lanes, reporter } = this.#plan
    for (const [index, { dropped }] of this.#book.copy().ledger.lanes.entries()) {
      const told = this.#told[index]!
      for (const reason of dropReasons) {
        const count = dropped[reason] - (told.get(reason) ?? 0)
        told.set(reason, dropped[reason])
        if (count > 0 && reason !== 'shutdown' && reason !== 'worker-failed')
          reporter.dropped(lanes[index]!, { reason, count })
      }
    }
  }

  /** Drop a record before it is written into the pipe. No effect for a kind without a bucket. */
  drop(kind: RecordKind, reason: DropReason): void {
    const lane = this.laneOf(kind)
    if (lane !== -1) this.#drop(lane, reason)
  }

  /** Drop the record at which a worker stopped, while none runs. */
  dropUnreadable(kind: RecordKind): void {
    this.#book.move(this.laneOf(kind), 'taken', 'unreadable', 1, 0)
  }

  /** Drop what a failed worker had taken and not settled, except for the records that are on disk. */
  dropWithWorker(): Omit<LostRecords, 'unreadable'> {
    const { lanes, reporter, spools } = this.#plan
    const sum = { lost: 0, spooled: 0 }
    for (const [index, { lost, spooled }] of this.#book.abandon('worker-failed', { spools }).entries()) {
      if (lost > 0) reporter.lostWithWorker(lanes[index]!, lost)
      sum.lost += lost
      sum.spooled += spooled
    }
    return sum
  }

  /** An engine in this thread has accepted all that was written, and accepts all records itself from now on. */
  deliverDirectly(): void {
    this.#isDirect = true
  }

  /** The ledger now. */
  ledger(): Ledger {
    return this.#complete((lane, waiting) => ({
      ...lane,
      accepted: lane.accepted + waiting,
      queued: lane.queued + waiting,
    }))
  }

  /** The ledger after a close: unsettled records count as dropped, or as spooled where the worker has written them to disk. */
  closed(): Ledger {
    const { spools } = this.#plan
    return this.#complete((lane, waiting, onDisk) => {
      const closed = givenUp(lane, { spools, onDisk })
      const dropped = { ...closed.dropped, shutdown: closed.dropped.shutdown + waiting }
      return { ...closed, accepted: closed.accepted + waiting, dropped }
    })
  }

  #drop(lane: number, reason: DropReason): void {
    const dropped = this.#dropped[lane]!
    dropped.set(reason, (dropped.get(reason) ?? 0) + 1)
    this.#plan.reporter.dropped(this.#plan.lanes[lane]!, { reason, count: 1 })
  }

  /** @param count adds the `waiting` records of a lane, which no worker has taken, to the engine's figures */
  #complete(count: (lane: LaneReport, waiting: number, onDisk: number) => LaneReport): Ledger {
    const { ledger, taken, onDisk } = this.#book.copy()
    const lanes = ledger.lanes.map((lane, index) => {
      const waiting = this.#isDirect ? 0 : this.#written[index]! - taken[index]!
      return withDrops(count(lane, waiting, onDisk[index]!), this.#dropped[index]!)
    })
    return sumLedger(lanes, ledger.invalid + this.invalid)
  }
}

function withDrops(lane: LaneReport, drops: ReadonlyMap<DropReason, number>): LaneReport {
  let accepted = lane.accepted
  const dropped = { ...lane.dropped }
  for (const [reason, count] of drops) {
    accepted += count
    dropped[reason] += count
  }
  return { ...lane, accepted, dropped }
}
