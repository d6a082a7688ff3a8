import { type DropReason, givenUp, type LaneName, type LaneReport, type Ledger, sumLedger } from '../delivery/ledger.js'
import type { LedgerBook } from '../delivery/ledger-book.js'
import type { Reporter } from '../diagnostics/reporter.js'
import type { RecordKind } from '../records/wire.js'
import type { LostRecords } from './delivery-thread.js'

/** The application's side of a hand-off knows this and the ledger of its engine does not: records on the way, and given up on the way. */
export class HandOffAccount {
  /** `track` calls with a bad number. */
  invalid = 0
  readonly #book: LedgerBook
  readonly #spools: boolean
  readonly #logLane: number
  readonly #valueLane: number
  /** By lane: records taken in and not handed over yet, and all that were handed over to a worker. */
  readonly #pending: number[]
  readonly #handed: number[]
  readonly #dropped: readonly Map<DropReason, number>[]

  /** @param spools what a worker has taken is on disk, too */
  constructor(lanes: readonly LaneName[], { book, spools }: { book: LedgerBook; spools: boolean }) {
    this.#book = book
    this.#spools = spools
    this.#logLane = lanes.findIndex(({ kind }) => kind === 'logs')
    this.#valueLane = lanes.findIndex(({ kind }) => kind === 'values')
    this.#pending = lanes.map(() => 0)
    this.#handed = lanes.map(() => 0)
    this.#dropped = lanes.map(() => new Map())
  }

  /** The lane of a kind; -1 where the configuration has no bucket for it. */
  laneOf(kind: RecordKind): number {
    return kind === 'logs' ? this.#logLane : this.#valueLane
  }

  took(lane: number): void {
    this.#pending[lane]!++
  }

  /** All that was taken in is handed over now; the answer is its number. */
  handOver(): number {
    let records = 0
    for (let lane = 0; lane < this.#pending.length; lane++) {
      records += this.#pending[lane]!
      this.#handed[lane]! += this.#pending[lane]!
      this.#pending[lane] = 0
    }
    return records
  }

  drop(lane: number, reason: DropReason): void {
    const dropped = this.#dropped[lane]!
    dropped.set(reason, (dropped.get(reason) ?? 0) + 1)
  }

  /** A record that was handed over is given up: no worker will take it. */
  giveUp(lane: number, reason: DropReason): void {
    this.#handed[lane]!--
    this.drop(lane, reason)
  }

  /** From here on the engine is given its records directly: nothing is on the way any more. */
  directly(): void {
    const { taken } = this.#book.copy()
    for (const [lane, count] of taken.entries()) this.#handed[lane] = count
    this.#pending.fill(0)
  }

  /** The ledger now. @param inRing values that are in no text yet */
  ledger(inRing: number): Ledger {
    return this.#complete((lane, waiting) => {
      const onTheWay = waiting + (lane.kind === 'values' ? inRing : 0)
      return { ...lane, accepted: lane.accepted + onTheWay, queued: lane.queued + onTheWay }
    })
  }

  /** The ledger after a close: nothing more will come of what is unsettled, but for what a worker has taken, if that is on disk. */
  closed(): Ledger {
    return this.#complete((lane, waiting, kept) => {
      const over = givenUp(lane, { spools: this.#spools, kept })
      const dropped = { ...over.dropped, shutdown: over.dropped.shutdown + waiting }
      return { ...over, accepted: over.accepted + waiting, dropped }
    })
  }

  /** @param count puts the records of a lane that no worker has taken where they belong */
  #complete(count: (lane: LaneReport, waiting: number, kept: number) => LaneReport): Ledger {
    const { ledger, taken, kept } = this.#book.copy()
    const lanes = ledger.lanes.map((lane, index) => {
      const waiting = this.#handed[index]! - taken[index]! + this.#pending[index]!
      return withDrops(count(lane, waiting, kept[index]!), this.#dropped[index]!)
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

export interface GivenUpPlan {
  readonly lanes: readonly LaneName[]
  readonly account: HandOffAccount
  readonly reporter: Reporter
  /** A worker puts on disk what it takes. */
  readonly spools: boolean
}

/** Counts and reports the records that a hand-off gives up: before a worker had them, or together with one. */
export class GivenUp {
  readonly #plan: GivenUpPlan

  constructor(plan: GivenUpPlan) {
    this.#plan = plan
  }

  /** There was no room, or nothing is taken any more. Without effect for a kind that has no bucket. */
  drop(kind: RecordKind, reason: DropReason): void {
    const { lanes, account, reporter } = this.#plan
    const index = account.laneOf(kind)
    const lane = lanes[index]
    if (lane === undefined) return
    account.drop(index, reason)
    reporter.dropped(lane, { reason, count: 1 })
  }

  /** A worker died of the record's line. */
  unreadable(kind: RecordKind): void {
    const { lanes, account, reporter } = this.#plan
    const index = account.laneOf(kind)
    account.giveUp(index, 'unreadable')
    reporter.dropped(lanes[index]!, { reason: 'unreadable', count: 1 })
  }

  /** All that a worker held when it ended: lost, or on disk. */
  withWorker(book: LedgerBook): LostRecords {
    const { lanes, reporter, spools } = this.#plan
    const held = { lost: 0, spooled: 0 }
    for (const [index, { lost, spooled }] of book.abandon('worker-failed', { spools }).entries()) {
      if (lost > 0) reporter.lostWithWorker(lanes[index]!, lost)
      held.lost += lost
      held.spooled += spooled
    }
    return held
  }
}
