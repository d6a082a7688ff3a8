import { type Ref, suspect, type Trial } from '../log/segment.js'
import type { Batch } from './batch.js'
import { Gathering } from './gathering.js'
import { Flight, type Lane, type Way } from './lane.js'
import type { LedgerBook } from './ledger-book.js'
import { Patience } from './patience.js'
import type { DeliveryPlan } from './plan.js'
import { diskPatienceMs, suspectsBeside } from './rules.js'
import type { Sender, UsableConnection } from './sender.js'
import type { Suspects } from './suspects.js'
import type { Turn } from './turn.js'

interface NextBatchPlan extends Pick<DeliveryPlan, 'maxConnections' | 'requestTimeoutMs' | 'lingerMs' | 'maxBatch'> {
  readonly turn: Turn
  /** The one that sends now. */
  readonly sender: Pick<Sender, 'carriage'>
  readonly suspects: Suspects
  readonly book: LedgerBook
  readonly makeBatch: (lane: Lane) => Batch
  /** True while at least half of the room in memory is free. */
  readonly isRoomy: () => boolean
}

/** Answers for each lane what it may send now, and when it has to be asked again. */
export class NextBatch {
  readonly #plan: NextBatchPlan
  readonly #patience: Patience
  readonly gathering: Gathering

  constructor(plan: NextBatchPlan) {
    this.#plan = plan
    this.#patience = new Patience(plan)
    this.gathering = new Gathering(plan)
  }

  /**
   * Send what the lane may send now. First come batches, on as many connections as its window allows. A request that has waited long for its
   * answer does not count as soon as others get theirs: its record may be at fault. Suspects go out beside them, each alone, on a quarter of
   * the connections. Where there is no room for both, they take turns.
   */
  fill(lane: Lane): void {
    this.#releaseDue(lane)
    this.#look(lane)
    if (!lane.maySend || lane.diskFrom > this.#plan.turn.now) return
    const { proven, unproven } = this.#patience.overdue(lane)
    this.#race(lane)
    if (lane.suspectsTurn) this.#sendSuspects(lane, proven)
    this.#sendBatches(lane, proven.batch)
    this.#sendSuspects(lane, proven)
    this.#sendAdopted(lane, proven.batch)
    if (unproven && lane.ready > 0 && this.#hasRoom(lane)) this.probe(lane, { beside: true })
  }

  /** Send one record to test the service, `beside` those in flight. False when a probe is in flight, or there is no record. */
  probe(lane: Lane, { beside = false } = {}): boolean {
    if (lane.isClosed || (lane.isProbing && !this.#hasLongProbes(lane))) return false
    const wanted = this.#probeOf(lane, { beside })
    if (wanted === undefined) return false
    const ref = this.#mayTake(lane, wanted) ? wanted : this.#residentOf(lane)
    if (ref === undefined) return false
    this.#sendOne(lane, ref, 'probe')
    return true
  }

  /** On the clock: when the lane has to be asked again, if nothing comes before. */
  nextAt(lane: Lane): number {
    const { turn, suspects } = this.#plan
    let next = lane.due.next
    if (lane.diskFrom > turn.now) next = Math.min(next, lane.diskFrom)
    if (!lane.maySend) return turn.isLastDrain ? Math.min(next, this.#patience.probeOverdueAt(lane)) : next
    const suspectsAt = suspects.nextAt(lane)
    if (suspectsAt > turn.now) next = Math.min(next, suspectsAt)
    const waits = lane.ready + lane.dueSuspects > 0
    if (lane.ready > 0 && lane.gathersUntil > turn.now) next = Math.min(next, lane.gathersUntil)
    const hasSpent = lane.adoptedLeft === 0 && lane.adoptedFrom > turn.now
    const isIdle = lane.ready === 0 || lane.gathersUntil > turn.now
    if (isIdle && lane.adopted.ready > 0 && hasSpent) next = Math.min(next, lane.adoptedFrom)
    for (const flight of lane.flights) {
      const overdueAt = this.#patience.overdueAt(lane, flight)
      if (waits && overdueAt > turn.now) next = Math.min(next, overdueAt)
      const raceAt = this.#patience.raceAt(lane, flight)
      if (raceAt > turn.now) next = Math.min(next, raceAt)
    }
    return next
  }

  /** A drain begins: nothing waits for a retry, except inside a Retry-After. With `last`, a wait that is too long to honour holds none back. */
  releaseNow(lane: Lane, { last }: { readonly last: boolean }): void {
    const { now } = this.#plan.turn
    for (const trial of [...lane.due]) {
      if (trial.notBefore > now && !(last && trial.excessive)) continue
      trial.notBefore = Number.NEGATIVE_INFINITY
      lane.due.add(trial, now)
    }
  }

  /** The batch may serve again. */
  giveBack({ batch, lane, raced }: Flight): void {
    // The sender may have it still, and it is detached.
    if (raced) return
    batch.clear()
    // An idle lane keeps one.
    if (lane.flights.size === 0) lane.batches.length = 0
    lane.batches.push(batch)
  }

  /** Nothing comes after the last drain: it tries another record beside probes that wait long for their answers. */
  #hasLongProbes(lane: Lane): boolean {
    const { turn } = this.#plan
    return turn.isLastDrain && this.#hasRoom(lane) && this.#patience.probeOverdueAt(lane) === Number.POSITIVE_INFINITY
  }

  #releaseDue(lane: Lane): void {
    const { turn, suspects } = this.#plan
    for (let trial = lane.due.take(turn.now); trial !== undefined; trial = lane.due.take(turn.now)) {
      if (trial.blame === suspect) suspects.isDue(lane, trial)
      else lane.makeReady(trial)
    }
  }

  /** In the last drain the most severe records go first as soon as not all will make it. Else records go out as they were accepted. */
  #look({ logs, pace, settled, window }: Lane): void {
    const { now, isLastDrain, lastDrainSince: since, lastDrainUntil: until } = this.#plan.turn
    if (!isLastDrain) return
    logs.severeFirst = pace.isTooSlow({ now, since, until, settled, left: logs.ready, isDoubling: window.isDoubling })
  }

  #sendBatches(lane: Lane, stuck: number): void {
    // Where they do not wait, this ends their gathering.
    if (lane.ready === 0 || this.gathering.holds(lane)) return
    while (lane.ready > 0 && this.#hasPlace(lane, stuck)) {
      const batch = this.#batch(lane)
      lane.logs.cut(batch, lane.window.depth)
      if (batch.length === 0 && this.#residentOf(lane) !== undefined) lane.logs.cutResident(batch, lane.window.depth)
      if (batch.length === 0) {
        // They are on disk, and other records fill the memory.
        lane.isBlocked = true
        lane.batches.push(batch)
        return
      }
      lane.suspectsTurn = lane.dueSuspects > 0
      this.#send(lane, batch, 'batch')
    }
    this.gathering.sent(lane)
  }

  /** Records that dead engines have left go out while no others are to go out, a few at a time. */
  #sendAdopted(lane: Lane, stuck: number): void {
    const { now } = this.#plan.turn
    while ((lane.ready === 0 || lane.gathersUntil > now) && lane.adopted.ready > 0 && this.#hasPlace(lane, stuck)) {
      if (now >= lane.adoptedFrom) {
        lane.adoptedFrom = now + adoptedEveryMs
        lane.adoptedLeft = adoptedAtATime
      }
      if (lane.adoptedLeft === 0) return
      const batch = this.#batch(lane)
      lane.adopted.cut(batch, Math.min(lane.window.depth, lane.adoptedLeft))
      if (batch.length === 0) {
        lane.isBlocked = true
        lane.batches.push(batch)
        return
      }
      lane.adoptedLeft -= batch.length
      // No drain waits for them.
      batch.lowest = Number.POSITIVE_INFINITY
      this.#send(lane, batch, 'batch')
    }
  }

  /**
   * A record in memory, for a lane whose next ones are on disk and have no room in memory. No answer will make room, so while the disk
   * fails, those in memory go first.
   */
  #residentOf(lane: Lane): Ref | undefined {
    if (lane.flights.size > 0) return undefined
    const ref = lane.logs.firstResident()
    if (ref === undefined) lane.diskFrom = this.#plan.turn.now + diskPatienceMs
    return ref
  }

  /** True where another batch may go out. */
  #hasPlace(lane: Lane, stuck: number): boolean {
    return this.#hasRoom(lane) && count(lane, 'batch') < this.#connections(lane) + stuck
  }

  /** What little a short process has to deliver at its end goes out on one connection, and so arrives in order. */
  #connections({ window, wasInOrder }: Lane): number {
    const { now, isLastDrain, lastDrainSince: since, lastDrainUntil: until } = this.#plan.turn
    const isInOrder = isLastDrain && wasInOrder && window.isDeep && now - since < (until - since) * orderedShare
    return isInOrder ? 1 : window.connections
  }

  #sendSuspects(lane: Lane, stuck: Readonly<Record<Way, number>>): void {
    while (count(lane, 'alone') < this.#places(lane, stuck.alone) && this.#hasRoom(lane)) {
      // One to which the service said that it is busy waits for its turn: beside as much as the service takes, it would fail again.
      const mustWait = lane.fresh[0]?.pressed === true && lane.ready > 0 && !this.#hasPlace(lane, stuck.batch)
      if (mustWait) {
        lane.suspectsTurn = true
        return
      }
      const trial = this.#plan.suspects.take(lane)
      if (trial === undefined || !this.#mayTake(lane, trial)) return
      lane.suspectsTurn = false
      this.#sendOne(lane, trial, 'alone')
    }
  }

  #hasRoom(lane: Lane): boolean {
    return lane.flights.size < this.#plan.maxConnections
  }

  /** Suspects that may be in flight at a time. */
  #places(lane: Lane, stuck: number): number {
    const most = Math.max(1, this.#plan.maxConnections >> 1)
    return Math.min(most, suspectsBeside(lane.window.connections) + stuck)
  }

  /**
   * The record that tests the service next. One that failed comes after all others. The others come from both ends of the queue in turn:
   * records that no service would take tend to stand together. The first beside those in flight keeps the order: they may only be slow. Where all have failed, they and the suspects take turns.
   */
  #probeOf(lane: Lane, { beside }: { readonly beside: boolean }): Ref | undefined {
    const isEmpty = lane.ready === 0
    const asksSuspect = isEmpty && lane.suspectIsNext
    lane.suspectIsNext = isEmpty && !lane.suspectIsNext
    const fromTheEnd = (beside && lane.isProbing) || lane.isConfirming || lane.tried.size % 2 === 1
    return (
      (asksSuspect ? this.#anySuspect(lane) : undefined) ??
      (fromTheEnd ? lane.logs.newest() : lane.logs.first()) ??
      lane.adopted.first() ??
      lane.takeTried() ??
      this.#anySuspect(lane)
    )
  }

  #anySuspect(lane: Lane): Ref | undefined {
    return lane.takeSuspect() ?? lane.takeWaitingSuspect(this.#plan.turn.now)
  }

  /** False where the record is on disk, and there is no room for it in memory: it waits where it was. */
  #mayTake(lane: Lane, ref: Ref | Trial): boolean {
    if (lane.mayTake(ref)) return true
    if (!('blame' in ref)) return false
    if (ref.blame === suspect) this.#plan.suspects.isDue(lane, ref)
    else lane.tried.add(ref)
    return false
  }

  #sendOne(lane: Lane, ref: Ref, way: Way): void {
    const batch = this.#batch(lane)
    ref.segment.log.takeOne(batch, ref)
    this.#send(lane, batch, way)
  }

  #send(lane: Lane, batch: Batch, way: Way): void {
    const { turn } = this.#plan
    batch.probe = way === 'probe'
    batch.connection = this.#connectionFor(batch)
    const flight = new Flight({ lane, way, batch, startedAt: turn.now })
    lane.flights.add(flight)
    turn.want({ type: 'send', flight })
  }

  /**
   * A probe tests the service, and not a connection that may be about to end. A suspect that has got no answer shows on a new one whose fault
   * that was. A drain has no time for a connection that may be lost.
   */
  #connectionFor({ probe, segments, indexes }: Batch): UsableConnection {
    if (probe || segments[0]!.trials?.get(indexes[0]!)?.unanswered === true) return 'new'
    return this.#plan.turn.isDraining ? 'lively' : 'any'
  }

  #batch(lane: Lane): Batch {
    return lane.batches.pop() ?? this.#plan.makeBatch(lane)
  }

  /**
   * Where nothing is counted twice, send again what was sent on a connection that may be lost and has no answer yet. A drain has no time
   * to wait for an answer that may never come.
   */
  #race(lane: Lane): void {
    const { turn, book } = this.#plan
    for (const flight of lane.flights) {
      if (this.#patience.raceAt(lane, flight) > turn.now) continue
      const batch = this.#plan.makeBatch(lane)
      const places: number[] = []
      for (const [index, flag] of flight.open.entries()) {
        if (flag === 0) continue
        batch.add(flight.batch.segments[index]!, flight.batch.indexes[index]!)
        places.push(index)
      }
      batch.probe = flight.way === 'probe'
      batch.connection = 'lively'
      // The first of the two may settle the records while the other one waits for its connection.
      flight.batch.detach()
      flight.raced = true
      flight.sends++
      book.move(lane.index, 'inFlight', 'inFlight', places.length, 0)
      for (const name of ['retries', 'ambiguousRetries'] as const) book.count(lane.index, name, places.length)
      turn.want({ type: 'send', flight, again: { batch, places } })
    }
  }
}

/** So many records of dead engines go out at once, and as many again after this time: new ones do not wait for them. */
const adoptedAtATime = 100
const adoptedEveryMs = 100

/** The share of the last drain in which order counts more than time. */
const orderedShare = 1 / 16

function count(lane: Lane, way: Way): number {
  let sum = 0
  for (const flight of lane.flights) if (flight.way === way) sum++
  return sum
}
