import type { DropReason, LaneName } from '../delivery/ledger.js'
import type { LedgerBook } from '../delivery/ledger-book.js'
import type { Reporter } from '../diagnostics/reporter.js'
import type { RecordKind } from '../records/wire.js'
import type { HandOffAccount } from './account.js'
import type { Held } from './delivery-thread.js'

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
  withWorker(book: LedgerBook): Held {
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
