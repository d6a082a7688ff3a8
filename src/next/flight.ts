import type { Failure, Wait } from '../delivery/rules.js'
import type { Batch } from './batch.js'
import type { Lane } from './lane.js'

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
  /** It left while a drain waited, on a connection that lived. */
  readonly fresh: boolean
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
    readonly fresh: boolean
  }) {
    this.lane = plan.lane
    this.way = plan.way
    this.batch = plan.batch
    this.startedAt = plan.startedAt
    this.settledBefore = plan.lane.settled
    this.fresh = plan.fresh
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

  /** Records have left the batch before it went out: only so many are left. */
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
