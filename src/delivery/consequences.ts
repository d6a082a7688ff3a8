import type { AttemptResult, Returned, Way } from './attempt.js'
import { fullJitter } from './backoff.js'
import type { Breakers } from './breakers.js'
import type { Lane } from './lane.js'
import type { DeliveryPlan } from './plan.js'
import type { RecordBuffer } from './record-buffer.js'
import { asksForLess, blamedOf, isDenial, longestWait, mayBeItsOwn, noWait, type Refusal, reasonOf } from './rules.js'

interface ConsequencesPlan extends Pick<DeliveryPlan, 'clock' | 'random' | 'retry'> {
  readonly buffer: RecordBuffer
  readonly breakers: Breakers
}

/** How records went out, and whether others succeeded meanwhile. */
interface Beside {
  readonly way: Way
  readonly others: boolean
}

/** Applies the result of an attempt to the concurrency of its lane, to its breaker and to the records that came back. */
export class Consequences {
  readonly #plan: ConsequencesPlan

  constructor(plan: ConsequencesPlan) {
    this.#plan = plan
  }

  apply(lane: Lane, result: AttemptResult, way: Way): void {
    const others = lane.settled > result.settledBefore
    if (way !== 'alone') this.#adapt(lane, result, { others })
    const [first] = result.returned
    if (first === undefined) this.#plan.breakers.recover(lane)
    else if (first.record.suspicion === undefined) this.#takeBack(lane, result, { way, others })
    else this.#suspectFailed(lane, first, { way, others })
  }

  #adapt(lane: Lane, result: AttemptResult, { others }: { readonly others: boolean }): void {
    const { startedAt, successes, firstAnswerMs, betweenAnswersMs, returned } = result
    const endedAt = this.#plan.clock.now()
    const limited = lane.ready.length > 0
    const own = lane.suspects.pressureIsTheirOwn
    const backPressure = returned.some(({ outcome }) => asksForLess(outcome, { others, own }))
    lane.concurrency.add({ startedAt, endedAt, successes, firstAnswerMs, betweenAnswersMs, backPressure, limited })
  }

  /** Records come back. Those that failed among successes are suspects. When nothing succeeded the breaker opens. */
  #takeBack(lane: Lane, { successes, returned }: AttemptResult, { way, others }: Beside): void {
    const { breakers } = this.#plan
    const denial = returned.map(({ outcome }) => outcome).find(isDenial)
    const asked = way === 'probe' && lane.breaker !== undefined
    const alone = denial === undefined && !asked && others
    const blamed = blamedOf(returned)
    for (const { outcome } of returned) lane.cameBack(outcome)
    for (const each of returned) {
      const { record, outcome, wait } = each
      if (blamed.includes(each)) {
        if (alone) lane.suspects.add(record, { wait, askedForLess: outcome.type === 'retry' && outcome.backPressure })
      } else if (alone && successes === 0 && outcome.type === 'retry' && outcome.exchange === 'unsent') {
        const { retry, random } = this.#plan
        lane.delayed.add(record, { ...noWait, waitMs: fullJitter(record.attempts - 1, retry, random) })
      } else if (!asked) lane.ready.putBack(record)
    }
    const confirmed = alone ? undefined : this.#question(lane, returned, { asked, blamed })
    if (denial !== undefined) {
      lane.probes.denied()
      breakers.pause(lane, denial)
    } else if (successes > 0) breakers.recover(lane)
    else if (confirmed !== undefined) breakers.pause(lane, confirmed)
    else if (!alone) this.#openBreaker(lane, returned)
  }

  /** Nothing succeeded beside these records: one of them is at fault, or the service is. Returns the refusal that this confirms. */
  #question(
    lane: Lane,
    returned: readonly Returned[],
    { asked, blamed }: { readonly asked: boolean; readonly blamed: readonly Returned[] },
  ): Refusal | undefined {
    const { breaker, probes } = lane
    probes.failedAlone(returned[0]!, {
      blamed,
      asked,
      open: breaker !== undefined,
      paused: breaker?.cause === 'paused',
      now: this.#plan.clock.now(),
    })
    // Of a batch one record counts: records that stood together confirm nothing of each other.
    const [first] = asked || breaker === undefined ? blamed : []
    if (first?.outcome.type !== 'pause') return undefined
    return this.#plan.breakers.confirmed(lane, first.record, first.outcome)
  }

  /** The failure of a suspect says nothing about the lane, unless the service is out of reach or the key is wrong. */
  #suspectFailed(lane: Lane, failed: Returned, { way, others }: Beside): void {
    const { record, outcome, wait } = failed
    const { suspects, probes } = lane
    const own = mayBeItsOwn(outcome)
    const rejection = own ? suspects.failed(record, outcome) : undefined
    if (rejection === undefined) {
      lane.cameBack(outcome)
      suspects.wait(record, wait)
    } else this.#plan.buffer.giveUp(lane, record, rejection)
    if (way === 'probe') probes.suspectFailed({ own })
    if (isDenial(outcome)) this.#plan.breakers.pause(lane, outcome)
    else if (way === 'probe' || (!own && !others)) this.#openBreaker(lane, [failed])
  }

  #openBreaker(lane: Lane, returned: readonly Returned[]): void {
    const wait = longestWait(returned.map((each) => each.wait))
    this.#plan.breakers.open(lane, { wait, reason: reasonOf(returned[0]!.outcome) })
  }
}
