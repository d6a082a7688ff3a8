import type { Backing } from '../log/backing.js'
import type { MemoryBounds } from '../log/memory-bounds.js'
import type { Newcomer } from '../log/record-log.js'
import type { Loop } from '../runtime/loop.js'
import type { Lane } from './lane.js'
import type { DropReason } from './ledger.js'
import type { LedgerBook } from './ledger-book.js'
import type { Observer } from './observer.js'
import type { Acceptable } from './plan.js'

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

  accept(lane: Lane, { body, severity, idempotencyKey = '', origin: from = 'taken' }: Acceptable): void {
    if (this.#isClosed) {
      this.#refuse(lane, from, 'closed')
      return
    }
    const { bounds, backing, changed } = this.#plan
    const bytes = Buffer.byteLength(body)
    const sequence = this.#sequence++
    if (bounds.makeRoom({ severity, bytes: bytes + idempotencyKey.length })) {
      lane.logs.of(severity).append({ body, bytes, key: idempotencyKey }, sequence, from)
      lane.gatheredBytes += bytes
      changed(lane)
    } else this.#drop(lane, from, backing.lossReason)
    if (this.#untold.length > 0) this.tellLosses()
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

  #drop(lane: Lane, from: Newcomer, reason: DropReason): void {
    this.#plan.book.move(lane.index, from, reason, 1, 0)
    this.lost(lane, reason, 1)
  }
}
