import type { Backing } from '../log/backing.js'
import { inFlight, suspect, waiting } from '../log/segment.js'
import type { Batch } from './batch.js'
import { Drains } from './drains.js'
import type { Command, Event, Report } from './events.js'
import { Gates } from './gates.js'
import { Judge } from './judge.js'
import type { Flight, Lane } from './lane.js'
import type { LedgerBook } from './ledger-book.js'
import { NextBatch } from './next-batch.js'
import type { DeliveryPlan } from './plan.js'
import type { Reach } from './reach.js'
import { diskPatienceMs, type Failure, isAmbiguous, isFailure, noAnswer } from './rules.js'
import type { Outcome, Sender } from './sender.js'
import { Suspects } from './suspects.js'
import { Turn } from './turn.js'

interface MachinePlan
  extends Pick<
    DeliveryPlan,
    'random' | 'retry' | 'probe' | 'maxConnections' | 'requestTimeoutMs' | 'lingerMs' | 'maxBatch'
  > {
  readonly sender: Pick<Sender, 'carriage'>
  readonly lanes: readonly Lane[]
  readonly book: LedgerBook
  readonly backing: Backing
  readonly reach: Reach
  readonly makeBatch: (lane: Lane) => Batch
  /** The sequence of the record that is accepted next. */
  readonly nextSequence: () => number
  /** True while at least half of the room in memory is free. */
  readonly isRoomy: () => boolean
  /** True while a lane that delivers again may tell what it has lost. */
  readonly mayTellLosses: () => boolean
}

/**
 * All rules of delivery: which record goes out when, and what an outcome means. It is told what has happened, and answers with what is to be
 * done. It knows no clock, no timer, no socket, no file and no promise.
 *
 *     came ─ NextBatch ─ send … settled, done ─ Judge ─ Gates, Suspects, back to the lane ─ NextBatch
 */
export class Machine {
  readonly #plan: MachinePlan
  readonly #turn: Turn
  readonly #drains: Drains
  readonly #suspects: Suspects
  readonly #gates: Gates
  readonly #nextBatch: NextBatch
  readonly #judge: Judge
  /** On the clock: what was due then is done. */
  #tickedAt = Number.NEGATIVE_INFINITY
  #isStopped = false

  constructor(plan: MachinePlan) {
    const { lanes, reach } = plan
    this.#plan = plan
    this.#turn = new Turn(plan)
    const turn = this.#turn
    this.#drains = new Drains({ turn, reach })
    this.#suspects = new Suspects({ ...plan, turn })
    const suspects = this.#suspects
    this.#nextBatch = new NextBatch({ ...plan, turn, suspects })
    const sendProbe = (lane: Lane) => this.#nextBatch.probe(lane)
    this.#gates = new Gates({ ...plan, turn, lanes, suspects, sendProbe, drains: this.#drains })
    this.#judge = new Judge({ ...plan, turn, suspects, gates: this.#gates })
  }

  /** What the event means now, on the clock. The commands are to be carried out in their order. */
  step(event: Event, now: number): readonly Command[] {
    this.#turn.now = now
    switch (event.type) {
      case 'came':
        this.#turn.toFill.add(event.lane)
        break
      case 'gather':
        for (const lane of this.#plan.lanes) {
          lane.gatherUntil(now + event.ms)
          this.#turn.toFill.add(lane)
        }
        break
      case 'settled':
        this.#settled(event.flight, event)
        break
      case 'done':
        this.#sendEnded(event.flight)
        break
      case 'later':
        this.#later(event.flight)
        break
      case 'tick':
        this.#tick()
        break
      case 'drain':
        this.#drain(event)
        break
      case 'drainOver':
        this.#drains.end(event.id)
        break
      case 'abandon':
        for (const lane of this.#plan.lanes) this.#abandon(lane)
        break
      case 'stop':
        this.#stop()
        break
    }
    for (const lane of this.#turn.toFill) {
      if (!this.#isStopped) {
        this.#nextBatch.fill(lane)
        this.#gates.look(lane)
      }
      this.#drains.check(lane)
    }
    this.#turn.toFill.clear()
    return this.#turn.end()
  }

  /** True where records that have come to the lane change nothing before the end of its gathering. */
  isGathering(lane: Lane, now: number): boolean {
    return lane.maySend && this.#nextBatch.gathering.waits(lane, now)
  }

  /** In the step under way: have this told at its end. */
  tell(report: Report): void {
    this.#turn.tell(report)
  }

  /** On the clock: when a `tick` is due, if nothing else happens. Before now where something fell due after the last one. */
  get nextTick(): number {
    if (this.#isStopped) return Number.POSITIVE_INFINITY
    // All that follows asks what is due after that moment.
    this.#turn.now = this.#tickedAt
    let next = Math.min(this.#gates.next, this.#drains.next)
    for (const lane of this.#plan.lanes) next = Math.min(next, this.#nextBatch.nextAt(lane))
    return next
  }

  #tick(): void {
    const turn = this.#turn
    this.#tickedAt = turn.now
    this.#drains.tick()
    this.#gates.tick()
    for (const lane of this.#plan.lanes) turn.toFill.add(lane)
  }

  #settled(flight: Flight, { index, count, outcome }: { index: number; count: number; outcome: Outcome }): void {
    if (flight.over) return
    const broke = outcome.type === 'retry' && outcome.exchange !== 'answered' ? outcome : undefined
    if (broke !== undefined && flight.sends > 1) {
      flight.broke = worse(flight, broke)
      return
    }
    const given = broke === undefined ? outcome : worse(flight, broke)
    const end = Math.min(index + count, flight.open.length)
    for (let from = Math.max(0, index); from < end; from++) {
      let to = from
      while (to < end && flight.open[to] === 1) flight.open[to++] = 0
      if (to === from) continue
      flight.unsettled -= to - from
      if (!isFailure(given)) flight.succeeded(to - from, this.#turn.now)
      this.#judge.settled(flight, from, to - from, given)
      from = to
    }
    if (flight.raced && flight.unsettled === 0) this.#ended(flight)
  }

  /** One send of the flight has ended. What has no outcome then gets none any more. */
  #sendEnded(flight: Flight): void {
    flight.sends--
    if (flight.over || flight.sends > 0) return
    if (flight.unsettled > 0) {
      const outcome = flight.broke ?? noOutcome
      this.#settled(flight, { index: 0, count: flight.open.length, outcome })
    }
    if (!flight.over) this.#ended(flight)
  }

  /** The disk does not answer: the records, which are there alone, are ready again. */
  #later(flight: Flight): void {
    const { lane } = flight
    this.#giveUp(flight)
    lane.flights.delete(flight)
    lane.diskFrom = this.#turn.now + diskPatienceMs
    if (flight.way === 'probe') this.#probeGivenUp(lane)
  }

  #ended(flight: Flight): void {
    const { lane } = flight
    flight.over = true
    lane.flights.delete(flight)
    // Records whose lines on disk were damaged say nothing of the service.
    if (flight.open.length > 0) this.#judge.ended(flight)
    else if (lane.gate !== undefined) this.#gates.goOn(lane.gate)
    this.#nextBatch.giveBack(flight)
    this.#turn.toFill.add(lane)
    for (const each of this.#plan.lanes) {
      if (each.isBlocked) this.#turn.toFill.add(each)
      each.isBlocked = false
    }
    if (flight.successes > 0) this.#tellLosses(lane)
  }

  #drain({ id, deadline, last, brief }: Event & { readonly type: 'drain' }): void {
    const { lanes, nextSequence } = this.#plan
    this.#drains.begin(lanes, { id, deadline, last, brief, before: nextSequence() })
    for (const lane of last ? valuesFirst(lanes) : lanes) {
      if (last) lane.endsSoon()
      this.#nextBatch.releaseNow(lane, { last })
      this.#gates.probeNow(lane)
      this.#turn.toFill.add(lane)
    }
  }

  /** The answers to what the lane has in flight come too late: its records are ready again. */
  #abandon(lane: Lane): void {
    const { book } = this.#plan
    // The reason why a gate shut is more useful than a probe that had no time.
    if (lane.flights.size > 0 && lane.gate === undefined) lane.failed(noAnswer)
    for (const flight of lane.flights) {
      // The sender has it still.
      flight.batch.detach()
      flight.batch.isGivenUp = true
      const records = this.#giveUp(flight)
      if (flight.batch.hasBegun || flight.raced) book.count(lane.index, 'ambiguousRetries', records)
    }
    lane.flights.clear()
    this.#probeGivenUp(lane)
    this.#drains.check(lane)
  }

  /** The records of a flight that are not settled are ready again; a suspect goes on alone. Returns how many. */
  #giveUp(flight: Flight): number {
    const { batch, lane } = flight
    let records = 0
    flight.over = true
    for (let index = 0; index < batch.length; index++) {
      const segment = batch.segments[index]!
      const at = batch.indexes[index]!
      if (segment.states[at] !== inFlight) continue
      const trial = segment.trials?.get(at)
      records++
      if (trial?.blame === suspect) {
        segment.log.mark(segment, at, 1, waiting)
        this.#suspects.isDue(lane, trial)
      } else lane.makeReady({ segment, index: at })
    }
    return records
  }

  #probeGivenUp(lane: Lane): void {
    if (lane.gate !== undefined) this.#gates.goOn(lane.gate)
  }

  #stop(): void {
    this.#isStopped = true
    this.#drains.endAll()
    for (const lane of this.#plan.lanes) {
      lane.isClosed = true
      lane.report()
    }
  }

  /** Tell what a lane has lost, now that it delivers again, if there is room. */
  #tellLosses(lane: Lane): void {
    if (!this.#plan.mayTellLosses()) return
    const losses = lane.losses.take(this.#turn.now)
    if (losses !== undefined) this.#turn.tell({ type: 'recovered', lane, losses })
  }
}

const noOutcome: Failure = {
  type: 'retry',
  exchange: 'ambiguous',
  reason: 'the sender gave no outcome',
  backPressure: false,
}

function valuesFirst(lanes: readonly Lane[]): Lane[] {
  return [...lanes].sort((a, b) => Number(b.name.kind === 'values') - Number(a.name.kind === 'values'))
}

/** Of the breaks of two sends, one after which the record may have arrived counts. */
function worse<Break extends Outcome & { readonly type: 'retry' }>(flight: Flight, broke: Break) {
  return isAmbiguous(broke) ? broke : (flight.broke ?? broke)
}
