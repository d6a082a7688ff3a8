import type { Clock } from '../runtime/clock.js'
import { type BackoffBounds, fullJitter } from './backoff.js'
import type { ExchangeResult, Returned, Settled, Way } from './exchange.js'
import { asksForLess, blamedOf, isDenial, mayBeItsOwn, type Refusal } from './failure.js'
import type { Holds } from './holds.js'
import type { Lane } from './lane.js'
import type { LedgerBook } from './ledger-book.js'
import type { Observer } from './observer.js'
import type { Pending } from './record-queue.js'
import { noWait, reasonOf } from './retry-after.js'

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
  /** The record is in flight, and is given up. */
  readonly reject: (lane: Lane, record: Pending, rejection: Settled & { type: 'rejected' }) => void
}

interface Question {
  /** The lane was held, and this was its probe. */
  readonly asked: boolean
  readonly blamed: readonly Returned[]
}

/** The consequences of a batch: for the lane's concurrency, for its hold, and for the records that came back. */
export class Aftermath {
  readonly #plan: AftermathPlan

  constructor(plan: AftermathPlan) {
    this.#plan = plan
  }

  of(lane: Lane, result: ExchangeResult, way: Way): void {
    const { startedAt, settledBefore, successes, firstAnswerMs, betweenAnswersMs, returned } = result
    const others = lane.settled > settledBefore
    if (way !== 'alone') {
      const limited = lane.ready.length > 0
      const endedAt = this.#plan.clock.now()
      const backPressure = returned.some(({ outcome }) =>
        asksForLess(outcome, { others, own: lane.suspects.pressureIsTheirOwn }),
      )
      lane.concurrency.add({ startedAt, endedAt, successes, firstAnswerMs, betweenAnswersMs, backPressure, limited })
    }
    if (returned.length === 0) this.#recover(lane)
    else if (returned[0]!.record.suspicion === undefined) this.#takeBack(lane, result, { way, others })
    else this.#suspectFailed(lane, returned[0]!, { way, others })
  }

  /** Records that were not settled go back: as suspects when they failed among successes. Else the lane is held. */
  #takeBack(lane: Lane, { successes, returned }: ExchangeResult, { way, others }: { way: Way; others: boolean }): void {
    const denial = returned.map(({ outcome }) => outcome).find(isDenial)
    const asked = way === 'probe' && lane.hold !== undefined
    const alone = denial === undefined && !asked && others
    const blamed = blamedOf(returned)
    for (const each of returned) this.#putBack(lane, each)
    for (const each of returned) {
      const { record, outcome, wait } = each
      if (blamed.includes(each)) {
        if (alone) lane.suspects.add(record, { wait, askedForLess: outcome.type === 'retry' && outcome.backPressure })
      } else if (alone && successes === 0 && outcome.type === 'retry' && outcome.exchange === 'unsent') {
        lane.delayed.add(record, { ...noWait, waitMs: this.#jitter(record.attempts - 1) })
      } else if (!asked) lane.ready.putBack(record)
    }
    const cause = alone ? undefined : this.#question(lane, returned, { asked, blamed })
    if (denial !== undefined) {
      lane.probes.confirming = false
      this.#pause(lane, denial)
    } else if (successes > 0) this.#recover(lane)
    else if (cause !== undefined) this.#pause(lane, cause)
    else if (!alone) this.#plan.holds.keepOut(lane, returned)
  }

  /** Nothing succeeded beside these records: one of them is at fault, or the service is. Returns the refusal that this confirms. */
  #question(lane: Lane, returned: readonly Returned[], { asked, blamed }: Question): Refusal | undefined {
    const { hold, probes } = lane
    const now = this.#plan.clock.now()
    const [first] = asked || hold === undefined ? blamed : []
    const records = blamed.map(({ record }) => record)
    if (asked)
      probes.failed(returned[0]!.record, {
        own: first !== undefined,
        again: hold?.kind === 'paused',
        now,
      })
    else if (hold === undefined) probes.open(records, now)
    else for (const record of records) probes.join(record)
    // Of a batch one counts: records that stood together confirm nothing of each other.
    const refusal = first?.outcome.type === 'pause' ? first.outcome : undefined
    return refusal && this.#plan.holds.refused(lane, first!.record, refusal)
  }

  /** A suspect's failure says nothing about the lane, unless the service is out of reach or the key wrong. */
  #suspectFailed(lane: Lane, each: Returned, { way, others }: { way: Way; others: boolean }): void {
    const { record, outcome, wait } = each
    const { suspects, probes } = lane
    const own = mayBeItsOwn(outcome)
    const rejection = own ? suspects.failed(record, outcome) : undefined
    if (rejection === undefined) {
      this.#putBack(lane, each)
      suspects.wait(record, wait)
    } else this.#plan.reject(lane, record, rejection)
    if (way === 'probe') probes.confirming = own
    if (isDenial(outcome)) this.#pause(lane, outcome)
    else if (way === 'probe' || (!own && !others)) this.#plan.holds.keepOut(lane, [each])
  }

  #putBack(lane: Lane, { outcome }: Returned): void {
    const { book } = this.#plan
    book.putBack(lane.index, { ambiguous: outcome.type === 'retry' && outcome.exchange === 'ambiguous' })
    book.lastError(lane.index, reasonOf(outcome))
  }

  #pause(lane: Lane, cause: Refusal): void {
    const { holds, tell } = this.#plan
    if (holds.pause(lane, cause)) tell((observer) => observer.paused(lane.name, cause))
  }

  #recover(lane: Lane): void {
    const { holds, tell, wake } = this.#plan
    const { released, news } = holds.recover(lane)
    for (const each of released) wake(each)
    if (news) tell((observer) => observer.resumed(lane.name))
  }

  #jitter(attempt: number): number {
    return fullJitter(attempt, this.#plan.retry, this.#plan.random)
  }
}
