import { basename } from 'node:path'
import type { DropReason, LaneName } from '../delivery/ledger.js'
import type { Outcome } from '../delivery/sender.js'
import type { Place, Restored, Room, Storable, Store, StoreOwner } from '../delivery/store.js'
import { counted } from '../errors/counted.js'
import { type Clock, queueMicrotask } from '../runtime/clock.js'
import { type Files, nodeFiles } from '../runtime/files.js'
import { AdoptedRecords } from './adoption.js'
import { DeadLetters } from './dead-letters.js'
import { EngineFolder } from './engine-folder.js'
import { Health } from './health.js'
import { Locks } from './lock.js'
import { OpenSegments, type Written } from './open-segments.js'
import { machineOwners, type Owners } from './owner.js'
import { type PlaceState, places, type Recovery, type Segment } from './segment.js'
import { Segments, SettledSegments, type Spot } from './segments.js'

export interface SpoolPlan {
  /** The folder that engines share. It is made when it is first needed. */
  readonly dir: string
  /** Of the service that the records are for. */
  readonly url: string
  readonly lanes: readonly LaneName[]
  /** Bound of the segments of this engine, adopted ones included. */
  readonly maxBytes: number
  /** A record may be on disk for this long. */
  readonly maxAgeMs: number
  /** Wait for the disk after each write, so that records survive a power cut. */
  readonly sync: boolean
  readonly clock: Clock
  /** Milliseconds since 1970. */
  readonly wallClock: () => number
  readonly random: () => number
  /** Called with messages for people. */
  readonly report: (text: string) => void
  /** Calls a task at the end of this turn of the event loop. @default queueMicrotask */
  readonly defer?: (task: () => void) => void
  /** @default the machine's */
  readonly files?: Files
  /** @default the machine's */
  readonly owners?: Owners
}

const maxSegmentBytes = 8_388_608
/** With more characters gathered than this, they are written before the turn of the event loop ends. */
const maxPending = 262_144
/** How often to look for the folder: no file system reports that another program removed it. */
const upkeepMs = 1000
/** About what a line has besides its record. */
const lineBytes = 200

/**
 * The records of an engine on disk, until they are settled.
 *
 *     SPOOLDIR/3f0c…-9b1e…/lock-1                     the owner of the folder
 *                         /info-77ab…-000001.ndjson   a line per record, one lane and severity per file
 *                         /info-77ab…-000001.acks     the numbers of its settled records
 *             /dead-letter/…ndjson                    records that the service rejected
 *
 * Lines are gathered and written in one go, before any of them is sent, at the latest at the end of the turn of the event loop. One
 * synchronous write of a batch costs a fraction of an asynchronous one. A file is deleted when all of its records are settled. When the
 * spool is full, the least severe and oldest files are given up. When the disk fails, records are in memory only, and the disk is tried
 * again.
 */
export class Spool implements Store {
  readonly #plan: SpoolPlan & { readonly files: Files; readonly locks: Locks }
  readonly #segments: Segments
  readonly #open: OpenSegments
  readonly #settled: SettledSegments
  readonly #deadLetters: DeadLetters
  readonly #health: Health
  #home: EngineFolder | undefined
  #owner: StoreOwner | undefined
  #adopted: AdoptedRecords | undefined
  #full = false
  #commitScheduled = false
  #upkeepAt = 0
  #closed = false

  constructor(given: SpoolPlan) {
    const { files = nodeFiles, owners = machineOwners, wallClock } = given
    const plan = { ...given, files, locks: new Locks({ files, owners, wallClock }) }
    this.#plan = plan
    this.#health = new Health(plan)
    const stuck = (error: unknown) => this.#health.trouble('remove', error)
    const gaveUp = (segment: Segment, reason: DropReason) => this.#gaveUp(segment, reason)
    this.#segments = new Segments({ ...plan, seal: (segment) => this.#open.seal(segment), gaveUp, stuck })
    this.#open = new OpenSegments({
      ...plan,
      segmentBytes: Math.min(maxSegmentBytes, plan.maxBytes / 16),
      maxOpenMs: plan.maxAgeMs / 16,
      pathFor: (lane, severity) => this.#folder().nextSegment(lane, severity),
      opened: (segment) => this.#segments.add(segment),
      sealed: (segment, fault) => {
        if (fault !== undefined) this.#health.trouble('close', fault)
        if (segment.settled) this.#segments.remove(segment)
      },
    })
    this.#settled = new SettledSegments({
      clock: plan.clock,
      due: () => this.acknowledge(),
      failed: (error) => this.#health.trouble('acknowledge', error),
    })
    this.#deadLetters = new DeadLetters({ ...plan, maxBytes: plan.maxBytes / 8, home: () => this.#folder().path })
  }

  /** Work for a delivery, and look for what dead engines have left. */
  start(owner: StoreOwner): void {
    this.#owner = owner
    this.#adopted = new AdoptedRecords({
      ...this.#plan,
      owner,
      home: () => this.#folder().path,
      trouble: (what, error) => this.#health.trouble(what, error),
      beforeLook: () => this.#upkeep(),
      recovered: (segment, facts) => this.#adopt(segment, facts),
      read: (lane, room) => this.#read(lane, places.left, room),
    })
  }

  get lossReason(): DropReason {
    return this.#full ? 'spool-full' : 'queue-full'
  }

  keep(lane: number, record: Storable): Place | undefined {
    if (this.#closed) return undefined
    if (this.#open.pending > maxPending) this.commit()
    if (!this.#health.tries) {
      this.#health.missed(1)
      this.#full = false
      return undefined
    }
    const { severity, bytes } = record
    this.#full = !this.#segments.makeRoom(severity, bytes + lineBytes)
    if (this.#full) return undefined
    if (this.#open.isDue(lane, severity)) {
      this.commit()
      this.#open.sealAll({ lane, severity })
    }
    try {
      const spot: Spot = this.#open.add(lane, record)
      this.#segments.grew(spot)
      this.#scheduleCommit()
      return spot
    } catch (error) {
      this.#health.failed(error)
      this.#health.missed(1)
      return undefined
    }
  }

  look(): void {
    if (this.#closed) return
    this.#upkeep()
    this.#health.retry()
  }

  park(place: Place): boolean {
    const { segment, number } = place as Spot
    if (segment.gone || segment.placeOf(number) !== places.memory) return false
    segment.move(number, places.disk)
    return true
  }

  unpark(lane: number, room: Room): readonly Restored[] {
    return this.#read(lane, places.disk, room)
  }

  settle(place: Place): boolean {
    const { segment, number } = place as Spot
    if (this.#closed || segment.gone || segment.placeOf(number) === places.settled) return false
    segment.settle(number)
    this.#settled.add(segment)
    return true
  }

  reject(
    lane: number,
    { body, severity, idempotencyKey }: Storable,
    { status, reason, validationErrors }: Outcome & { type: 'rejected' },
  ): void {
    const time = this.#plan.wallClock()
    const refusal = { status, reason, validationErrors, rejectedAt: time }
    this.#deadLetters.add({ ...this.#plan.lanes[lane]!, severity, idempotencyKey, time, refusal, body })
    // The dead letter is on disk before the record is settled.
    this.commit()
  }

  /** Write the gathered lines. No record may be sent before. Never throws. */
  commit(): void {
    this.#commitScheduled = false
    if (this.#plan.clock.now() - this.#upkeepAt > upkeepMs) this.#upkeep()
    let complete = true
    for (const written of this.#open.commit()) {
      if (written.error === undefined) this.#health.succeeded()
      else {
        complete = false
        this.#failed(written)
      }
    }
    if (complete) this.#owner?.written()
    try {
      this.#deadLetters.commit()
    } catch (error) {
      this.#health.trouble('deadLetter', error)
    }
  }

  /** Write which records are settled: none of them is sent again, however the process ends. Never throws. */
  acknowledge(): void {
    for (const segment of this.#settled.acknowledge()) this.#segments.remove(segment)
  }

  close(): void {
    if (this.#closed) return
    this.commit()
    this.#closed = true
    this.#adopted?.close()
    this.acknowledge()
    this.#open.sealAll()
    this.#segments.removeStuck()
    this.#home?.release()
  }

  #folder(): EngineFolder {
    this.#home ??= new EngineFolder(this.#plan)
    return this.#home
  }

  #failed({ segment, committed, error }: Written): void {
    this.#health.missed(segment.length - committed)
    this.#health.failed(error)
    const inMemory = segment.count(places.memory)
    const count = segment.lose(committed)
    const forgotten = inMemory - segment.count(places.memory)
    this.#open.seal(segment)
    if (forgotten > 0) this.#owner?.forgotten(segment.lane, forgotten)
    if (count > 0) this.#owner?.lost(segment.lane, { count, reason: 'queue-full', adopted: false })
  }

  #gaveUp(segment: Segment, reason: DropReason): void {
    const { memory, disk, left } = places
    const [inMemory, parked, adopted] = [segment.count(memory), segment.count(disk), segment.count(left)]
    if (inMemory > 0) this.#owner?.forgotten(segment.lane, inMemory)
    if (parked > 0) this.#owner?.lost(segment.lane, { count: parked, reason, adopted: false })
    if (adopted > 0) this.#owner?.lost(segment.lane, { count: adopted, reason, adopted: true })
  }

  #scheduleCommit(): void {
    if (this.#commitScheduled) return
    this.#commitScheduled = true
    const { defer = queueMicrotask } = this.#plan
    defer(() => this.commit())
  }

  /** Give a sign of life, notice a removed folder, and give up what is too old. */
  #upkeep(): void {
    this.#upkeepAt = this.#plan.clock.now()
    if (!this.#hasHome()) {
      this.#home = undefined
      this.#segments.giveUpAll()
      this.#health.failed(new Error('its folder was removed'))
    }
    this.#segments.giveUpOld()
    this.#segments.removeStuck()
  }

  /** False when the folder was removed. A disk that does not answer may still have it. */
  #hasHome(): boolean {
    try {
      return this.#home?.touch() ?? true
    } catch (error) {
      this.#health.trouble('sign', error)
      return true
    }
  }

  #adopt(segment: Segment, { damaged, newest }: Recovery): void {
    const { clock, wallClock, report } = this.#plan
    if (damaged > 0) report(`lost ${counted(damaged, 'damaged line')} of ${basename(segment.path)} in the spool`)
    segment.lastAt = clock.now() - Math.max(0, wallClock() - newest)
    this.#segments.add(segment)
    this.#owner?.adopt(segment.lane, segment.count(places.left))
    if (segment.settled) this.#segments.remove(segment)
    this.#segments.giveUpOld()
    this.#segments.makeRoom(6, 0)
  }

  /** Read records back into memory. */
  #read(lane: number, place: PlaceState, room: Room): readonly Restored[] {
    // A record whose line is only gathered can be read after this.
    this.commit()
    const { records, lost, emptied, error } = this.#segments.takeBack({ lane, place, room })
    if (error !== undefined) this.#health.trouble('read', error)
    for (const segment of emptied) this.#settled.add(segment)
    if (lost > 0) this.#owner?.lost(lane, { count: lost, reason: 'spool-full', adopted: place === places.left })
    return records
  }
}
