import { type BackoffBounds, fullJitter } from './backoff.js'
import type { Clock } from './clock.js'
import type { ExchangeResult } from './exchange.js'
import type { Holds } from './holds.js'
import type { Lane } from './lane.js'
import type { LedgerBook } from './ledger-book.js'
import type { Observer } from './observer.js'
import type { Pending } from './record-queue.js'

export interface AftermathPlan {
  readonly book: LedgerBook
  readonly holds: Holds
  readonly clock: Clock
  readonly retry: BackoffBounds
  /** Uniform in [0, 1). */
  readonly random: () => number
  readonly tell: (message: (observer: Observer) => void) => void
  /** A lane may send again. */
  readonly wake: (lane: Lane) => void
}

/** What a batch came to, and what follows from it: for the lane's concurrency, for its hold, and for the records that came back. */
export class Aftermath {
  readonly #plan: AftermathPlan

  constructor(plan: AftermathPlan) {
    this.#plan = plan
  }

  of(lane: Lane, result: ExchangeResult, { probe }: { probe: boolean }): void {
    const { startedAt, successes, firstAnswerMs, betweenAnswersMs, returned } = result
    const limited = lane.ready.length > 0
    const endedAt = this.#plan.clock.now()
    const backPressure = returned.some(({ outcome }) => outcome.type === 'retry' && outcome.backPressure)
    lane.concurrency.add({ startedAt, endedAt, successes, firstAnswerMs, betweenAnswersMs, backPressure, limited })
    if (returned.length > 0) this.#takeBack(lane, result, { probe })
    else this.#recover(lane)
  }

  /** What was not settled goes back: to its own retry when it failed among successes, else to where it was. */
  #takeBack(lane: Lane, { startedAt, successes, returned }: ExchangeResult, { probe }: { probe: boolean }): void {
    const { book, holds, tell } = this.#plan
    const pause = returned.find(({ outcome }) => outcome.type === 'pause')?.outcome
    const held = probe && lane.hold !== undefined
    const alone = pause === undefined && !held && (successes > 0 || lane.lastSuccessAt > startedAt)
    for (const { record, outcome, notBefore } of returned) {
      book.putBack(lane.index, { ambiguous: outcome.type === 'retry' && outcome.exchange === 'ambiguous' })
      book.lastError(lane.index, outcome.reason)
      // What the service announced that it would not process, after it had processed others, may go at once.
      const untouched = successes > 0 && outcome.type === 'retry' && outcome.exchange === 'unsent'
      if (alone && outcome.type === 'retry' && !untouched) this.#delay(lane, record, notBefore)
      else lane.ready.putBack(record)
    }
    if (pause?.type === 'pause') {
      if (holds.pause(lane, pause)) tell((observer) => observer.paused(lane.name, pause))
    } else if (successes > 0) this.#recover(lane)
    else if (!alone) holds.keepOut(lane, returned)
  }

  #recover(lane: Lane): void {
    const { holds, tell, wake } = this.#plan
    const { released, news } = holds.recover(lane)
    for (const each of released) wake(each)
    if (news) tell((observer) => observer.resumed(lane.name))
  }

  #delay(lane: Lane, record: Pending, notBefore: number): void {
    const { clock, retry, random } = this.#plan
    const waitMs = Math.max(notBefore - clock.now(), fullJitter(record.attempts - 1, retry, random))
    lane.delayed.add(record, { waitMs, notBefore })
  }
}
