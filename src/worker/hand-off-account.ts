import { type DropReason, givenUp, type LaneName, type LaneReport, type Ledger, sumLedger } from '../delivery/ledger.js'
import type { LedgerBook } from '../delivery/ledger-book.js'
import type { RecordKind } from '../records/wire.js'

/** What the application's side of a hand-off knows and the worker's ledger does not: records on the way, given up, or lost with it. */
export class HandOffAccount {
  /** `track` calls with a bad number. */
  invalid = 0
  readonly #spools: boolean
  readonly #logLane: number
  readonly #valueLane: number
  /** By lane: records taken in and not handed over yet, and records handed to the present worker. */
  readonly #pending: number[]
  readonly #handed: number[]
  readonly #dropped: readonly Map<DropReason, number>[]
  /** Lanes of workers that have died, with what died with them counted as dropped. */
  readonly #past: LaneReport[] = []

  /** @param spools what a worker has taken is on disk, too */
  constructor(lanes: readonly LaneName[], { spools }: { spools: boolean }) {
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

  /** The worker is gone, with what it had taken and not delivered. What it had not taken will be taken in again. */
  workerDied(book: LedgerBook): void {
    this.#past.push(...book.read().lanes.map((lane) => givenUp(lane, { spools: this.#spools })))
    this.#handed.fill(0)
  }

  /** The worker's ledger, with what is on the way to it. */
  withOnTheWay(book: LedgerBook, inRing: number): Ledger {
    const { ledger, taken } = book.copy()
    const lanes = ledger.lanes.map((lane, index) => {
      const waiting =
        this.#handed[index]! - taken[index]! + this.#pending[index]! + (lane.kind === 'values' ? inRing : 0)
      return { ...lane, accepted: lane.accepted + waiting, queued: lane.queued + waiting }
    })
    return sumLedger(lanes, ledger.invalid)
  }

  /** The worker's ledger when its thread has ended: nothing more will come of what it held. */
  final(book: LedgerBook): Ledger {
    const { lanes, invalid } = this.withOnTheWay(book, 0)
    return sumLedger(
      lanes.map((lane) => givenUp(lane, { spools: this.#spools })),
      invalid,
    )
  }

  /** An engine's ledger with what was given up on this side, and what died with earlier workers. */
  complete(ledger: Ledger): Ledger {
    const lanes = ledger.lanes.map((lane, index) => withDrops(lane, this.#dropped[index]!))
    return sumLedger([...this.#past, ...lanes], ledger.invalid + this.invalid)
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
