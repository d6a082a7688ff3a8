import { DueHeap, isWaiting } from '../log/due-heap.js'
import type { RecordLog } from '../log/record-log.js'
import { type Ref, ready, suspect, type Trial } from '../log/segment.js'
import type { Severity } from '../records/level.js'
import type { Batch } from './batch.js'
import type { Concurrency } from './concurrency.js'
import { LaneLogs } from './lane-logs.js'
import type { LaneCondition, LaneName, LaneState } from './ledger.js'
import type { LedgerBook } from './ledger-book.js'
import { LossTally } from './observer.js'
import { Pace } from './pace.js'
import { type Failure, noWait, type Wait } from './rules.js'
import type { Sender } from './sender.js'

export interface LanePlan {
  readonly name: LaneName
  /** Row in the ledger. */
  readonly index: number
  readonly book: LedgerBook
  readonly window: Concurrency
  readonly sender: Pick<Sender, 'carriage'>
  /** Makes a log of a severity. */
  readonly log: (severity: Severity) => RecordLog
}

/** An outage of a lane, until it is over. */
interface Outage {
  /** Why the last attempt failed. */
  reason: string
  /** On the clock: when it is told. */
  tellAt: number
  isTold: boolean
}

/** The records of one bucket and kind, and the state of their way to the service. It has no rules. */
export class Lane {
  readonly name: LaneName
  readonly index: number
  readonly window: Concurrency
  readonly logs: LaneLogs
  /** Logs of records that dead engines have left. */
  readonly adopted: LaneLogs
  /** On the clock: when such records may go out again, and how many until then. */
  adoptedFrom = Number.NEGATIVE_INFINITY
  adoptedLeft = 0
  readonly losses = new LossTally()
  /** Records that wait for their own next attempt: suspects, and those that could not be sent while others could. */
  readonly due = new DueHeap()
  /** Suspects that may go out. The ones that never failed alone go first: an innocent record does not wait behind records that failed often. */
  readonly fresh: Trial[] = []
  readonly known: Trial[] = []
  /** Records that failed when nothing succeeded, in the order of their last failure. They are sent again when there are no others. */
  readonly tried = new Set<Trial>()
  lastTried: Trial | undefined
  readonly flights = new Set<Flight>()
  /** Batches that serve again. */
  readonly batches: Batch[] = []
  /** On the clock: nothing is sent before, for the disk did not answer. */
  diskFrom = Number.NEGATIVE_INFINITY
  /** Keeps it from sending; undefined while it sends. */
  gate: Gate | undefined
  outage: Outage | undefined
  isClosed = false
  /** One record may be at fault, and another one is to be sent at once to find out. */
  isConfirming = false
  /** A suspect tests the service when all other records have failed, in turn with them. */
  suspectIsNext = false
  /** A batch went out while suspects were due: one of them gets the next connection. */
  suspectsTurn = false
  /** Records that the service has taken. */
  delivered = 0
  /** Records that the service has taken or judged. */
  settled = 0
  /** On the clock: when the service last took or judged a record. */
  lastSuccessAt = Number.NEGATIVE_INFINITY
  readonly pace = new Pace()
  /** It may send once though the service asks for a longer wait than is honoured: nothing comes after this drain. */
  hasLastChance = false
  /** It used one connection when the last drain began. */
  wasInOrder = false
  /** About its suspects: settled records of the lane at the last failure of one, and failures in a row since the last success. */
  settledAtFailure = 0
  inVain = 0
  /** On the clock: no suspect goes out before. */
  suspectsFrom = Number.NEGATIVE_INFINITY
  /** Moving mean: the share of suspects with back-pressure that failed at their first retry, too. */
  ownShare = 0
  /** On the clock: its new records wait until then, so that they go out together. */
  gathersUntil = Number.NEGATIVE_INFINITY
  /** Lines that it has, and that nothing has read yet. */
  unread = 0
  /** Bytes of the records that have come since it gathers. */
  gatheredBytes = 0
  /** It has records on disk for which there was no room in memory. */
  isBlocked = false
  readonly #plan: LanePlan
  #reported: LaneCondition = { state: 'open', connections: 0, depth: 0, sender: 'undici' }

  constructor(plan: LanePlan) {
    this.#plan = plan
    this.name = plan.name
    this.index = plan.index
    this.window = plan.window
    this.logs = new LaneLogs(plan.log, { severeFirst: false })
    this.adopted = new LaneLogs(plan.log, { severeFirst: true })
    this.report()
  }

  /** Records that may go out now. */
  get ready(): number {
    return this.logs.ready
  }

  get state(): LaneState {
    return this.isClosed ? 'closed' : (this.gate?.cause ?? 'open')
  }

  /** A record is in flight that tests the service. */
  get isProbing(): boolean {
    for (const { way } of this.flights) if (way === 'probe') return true
    return false
  }

  get maySend(): boolean {
    return this.gate === undefined && !this.isClosed
  }

  /** Suspects that may go out. */
  get dueSuspects(): number {
    return this.fresh.length + this.known.length
  }

  /** True where the record can go out: there is room for it in memory. Else the lane is asked again when records have left. */
  mayTake(ref: Ref): boolean {
    const may = ref.segment.log.mayTake(ref)
    if (!may) this.isBlocked = true
    return may
  }

  /** Take a suspect that may go out. */
  takeSuspect(): Trial | undefined {
    for (const queue of [this.fresh, this.known]) {
      for (let trial = queue.shift(); trial !== undefined; trial = queue.shift()) if (isWaiting(trial)) return trial
    }
    return undefined
  }

  /** Take the suspect that waits and is due first, of those that no Retry-After holds back. */
  takeWaitingSuspect(now: number): Trial | undefined {
    let earliest: Trial | undefined
    for (const trial of this.due) {
      if (trial.blame !== suspect || trial.notBefore > now) continue
      if (earliest === undefined || trial.dueAt < earliest.dueAt) earliest = trial
    }
    if (earliest !== undefined) earliest.dueAt = Number.POSITIVE_INFINITY
    return earliest
  }

  /** Take the record that failed first, of those that failed when nothing succeeded. */
  takeTried(): Trial | undefined {
    for (const trial of this.tried) {
      this.tried.delete(trial)
      if (isWaiting(trial)) return trial
    }
    return undefined
  }

  gatherUntil(moment: number): void {
    this.gathersUntil = moment
    this.gatheredBytes = 0
  }

  /** What it has goes out. */
  endGathering(): void {
    this.gathersUntil = Number.NEGATIVE_INFINITY
  }

  /** A record that went out, or waited for its own next attempt, may go out again. It does not wait for new ones. */
  makeReady({ segment, index }: Ref): void {
    segment.log.mark(segment, index, 1, ready)
    this.endGathering()
  }

  /** The last drain begins. */
  endsSoon(): void {
    this.hasLastChance = true
    this.wasInOrder = this.window.connections === 1
  }

  /** The moment before which it sends nothing, as the service asks. Its last chance is spent on a wait that is too long to honour. */
  honour({ notBefore, excessive }: Wait): number {
    if (!excessive || !this.hasLastChance) return notBefore
    this.hasLastChance = false
    return Number.NEGATIVE_INFINITY
  }

  /** Remember why an attempt failed. */
  failed(reason: string): void {
    this.#plan.book.lastError(this.index, reason)
  }

  /** Write its condition into the ledger, if it has changed. */
  report(): void {
    const { connections, depth } = this.window
    const { sender } = this.#plan.sender.carriage(this.name.kind)
    const { state } = this
    const was = this.#reported
    if (was.state === state && was.connections === connections && was.depth === depth && was.sender === sender) return
    this.#reported = { state, connections, depth, sender }
    this.#plan.book.describe(this.index, this.#reported)
  }
}

/**
 * Keeps lanes from sending until a probe succeeds. An engine has one for outages and one for its key. A lane whose bucket or plan is refused
 * has one of its own.
 */
export class Gate {
  /** `outage`: the service is out of reach or fails. `paused`: it refuses the key, the bucket or the plan. */
  readonly cause: 'outage' | 'paused'
  /** The lanes that it keeps from sending, the one that probed last behind the others. */
  readonly lanes = new Set<Lane>()
  /** Status of the last answer that paused its lanes. */
  status = 0
  /** A wait that even a drain honours, except for a lane that has a last chance. */
  wait: Wait = noWait
  /** Probes that failed. */
  attempt = 0
  /** On the clock: when the next probe goes out; infinity while none is planned. */
  probeAt = Number.POSITIVE_INFINITY
  /** A probe is due, and no lane had a record for it. */
  isDue = false

  constructor(cause: Gate['cause']) {
    this.cause = cause
  }

  get isProbing(): boolean {
    for (const lane of this.lanes) if (lane.isProbing) return true
    return false
  }
}

/** How records go out. `batch`: as they come. `probe`: one record that tests the service. `alone`: a suspect. */
export type Way = 'batch' | 'probe' | 'alone'

/** A record that has to be sent again, and why. */
export interface Failed {
  /** Its place in the batch. */
  readonly index: number
  readonly outcome: Failure
  /** The wait that the service asked for. */
  readonly wait: Wait
}

/** One batch in flight, from the moment it is cut until each of its records has its outcome. */
export class Flight {
  readonly lane: Lane
  readonly way: Way
  readonly batch: Batch
  readonly startedAt: number
  /** Count of settled records of the lane when it left. */
  readonly settledBefore: number
  /** 1 for each record without an outcome. */
  open: Uint8Array
  /** Records without an outcome. */
  unsettled: number
  readonly failed: Failed[] = []
  /** Records that got an answer about themselves: delivered or rejected. */
  successes = 0
  firstAt: number | undefined
  lastAt = 0
  /** Sends of its records that have not ended: a second one may race the first. */
  sends = 1
  raced = false
  /** How the first of two sends broke. */
  broke: Failure | undefined
  /** It has ended, or was given up: what is still said of it changes nothing. */
  over = false

  constructor(plan: {
    readonly lane: Lane
    readonly way: Way
    readonly batch: Batch
    readonly startedAt: number
  }) {
    this.lane = plan.lane
    this.way = plan.way
    this.batch = plan.batch
    this.startedAt = plan.startedAt
    this.settledBefore = plan.lane.settled
    this.open = new Uint8Array(plan.batch.length).fill(1)
    this.unsettled = plan.batch.length
  }

  /** On the clock: since when it has waited for its first answer, or for the next one. */
  get waitsSince(): number {
    return this.firstAt === undefined ? this.startedAt : this.lastAt
  }

  /** It may be on a connection that is lost, and nothing has come back. */
  get isDoubtful(): boolean {
    return this.batch.wasWoken && this.firstAt === undefined
  }

  /** Records have left the batch before it went out. */
  shorten(): void {
    const { length } = this.batch
    this.open = this.open.subarray(0, length)
    this.unsettled = length
  }

  succeeded(count: number, now: number): void {
    this.successes += count
    this.lastAt = now
    this.firstAt ??= now
  }
}
