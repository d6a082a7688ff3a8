import { basename } from 'node:path'
import type { DropReason } from '../delivery/ledger.js'
import type { Outcome } from '../delivery/sender.js'
import type { Place, Restored, Room, Storable, Store, StoreOwner } from '../delivery/store.js'
import type { Severity } from '../records/level.js'
import { queueMicrotask } from '../runtime/clock.js'
import { AdoptedRecords, Adoption } from './adoption.js'
import { DeadLetters } from './dead-letters.js'
import { EngineFolder } from './engine-folder.js'
import { Health } from './health.js'
import { OpenSegments, type Written } from './open-segments.js'
import { type PlaceState, places, type Recovery, type Segment } from './segment.js'
import { Segments, SettledSegments, type Spot } from './segments.js'
import type { SpoolPlan } from './spool-plan.js'

const maxSegmentBytes = 8_388_608
/** Characters that are gathered; beyond it they are written though the code that logs has not returned. */
const maxPending = 262_144
/** A file system does not say that a file was removed by somebody else: how often that is looked at. */
const lookMs = 1000
/** What a line has besides its record, about. */
const lineBytes = 200

/**
 * The records of an engine on disk, until they are settled.
 *
 *     SPOOLDIR/3f0c…-9b1e…/lock-1                  who it belongs to
 *                         /info-77ab…-000001.ndjson   a line per record, one lane and severity per file
 *                         /info-77ab…-000001.acks     which of them are settled
 *             /dead-letter/…ndjson                    what the service refused
 *
 * Lines are gathered, and written in one go before any of them is sent, else at the end of the turn of the event loop: one synchronous
 * write of a batch costs a fraction of an asynchronous one. A file is deleted when all of it is settled. What does not fit gives up
 * files, the least severe and oldest first. When the disk fails, memory takes over, and the disk is tried again.
 */
export class Spool implements Store {
  readonly #plan: SpoolPlan
  readonly #segments = new Segments()
  readonly #open: OpenSegments
  readonly #settled: SettledSegments
  readonly #deadLetters: DeadLetters
  readonly #health: Health
  #home: EngineFolder | undefined
  #owner: StoreOwner | undefined
  #adopted: AdoptedRecords | undefined
  #bytes = 0
  #full = false
  #commitScheduled = false
  #lookedAt = 0
  #closed = false

  constructor(plan: SpoolPlan) {
    this.#plan = plan
    this.#open = new OpenSegments({
      ...plan,
      segmentBytes: Math.min(maxSegmentBytes, plan.maxBytes / 16),
      maxOpenMs: plan.maxAgeMs / 16,
      pathFor: (lane, severity) => this.#folder().nextSegment(lane, severity),
      opened: (segment) => this.#segments.add(segment),
      sealed: (segment, fault) => {
        if (fault !== undefined) this.#health.hindered('close', fault)
        if (segment.settled) this.#remove(segment)
      },
    })
    this.#health = new Health(plan)
    this.#settled = new SettledSegments({
      clock: plan.clock,
      due: () => this.acknowledge(),
      failed: (error) => this.#health.hindered('acknowledge', error),
    })
    this.#deadLetters = new DeadLetters({ ...plan, maxBytes: plan.maxBytes / 8, home: () => this.#folder().path })
  }

  /** Work for a delivery from here on, and look for what dead engines have left. */
  start(owner: StoreOwner): void {
    const { dir, lanes, clock, random } = this.#plan
    this.#owner = owner
    this.#adopted = new AdoptedRecords({
      adoption: new Adoption({
        ...this.#plan,
        spoolDir: dir,
        home: () => this.#folder().path,
        hindered: (what, error) => this.#health.hindered(what, error),
      }),
      clock,
      random,
      lanes: lanes.length,
      owner,
      live: () => this.#live(),
      unreadable: (error) => this.#health.hindered('adopt', error),
      recovered: (segment, facts) => this.#adopt(segment, facts),
      feed: (lane, room) => this.#feed(lane, room),
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
    this.#full = !this.#makeRoom(severity, bytes + lineBytes)
    if (this.#full) return undefined
    if (this.#open.isDue(lane, severity)) {
      this.commit()
      this.#open.sealAll({ lane, severity })
    }
    try {
      const spot: Spot = this.#open.add(lane, record)
      this.#bytes += spot.segment.bytesOf(spot.number)
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
    this.#live()
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
    // Written there before it is settled here.
    this.commit()
  }

  /** Write what was gathered. What leaves for the service must have been written before. Never throws. */
  commit(): void {
    this.#commitScheduled = false
    if (this.#plan.clock.now() - this.#lookedAt > lookMs) this.#live()
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
      this.#health.hindered('deadLetter', error)
    }
  }

  close(): void {
    if (this.#closed) return
    this.commit()
    this.#closed = true
    this.#adopted?.close()
    this.acknowledge()
    this.#open.sealAll()
    this.#home?.release()
  }

  #folder(): EngineFolder {
    this.#home ??= new EngineFolder(this.#plan.dir, this.#plan.url)
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

  #scheduleCommit(): void {
    if (this.#commitScheduled) return
    this.#commitScheduled = true
    const { defer = queueMicrotask } = this.#plan
    defer(() => this.commit())
  }

  /** Say on disk what was settled, now: whatever ends the process after this, none of it goes out again. Never throws. */
  acknowledge(): void {
    for (const segment of this.#settled.acknowledge()) {
      this.#open.seal(segment)
      this.#remove(segment)
    }
  }

  #remove(segment: Segment): void {
    if (segment.gone) return
    const fault = segment.remove()
    if (fault !== undefined) this.#health.hindered('remove', fault)
    this.#segments.delete(segment)
    this.#bytes -= segment.bytes
  }

  /** Give a segment up, with what it holds. */
  #giveUp(segment: Segment, reason: DropReason): void {
    const [memory, parked, left] = [
      segment.count(places.memory),
      segment.count(places.disk),
      segment.count(places.left),
    ]
    this.#open.seal(segment)
    this.#remove(segment)
    if (memory > 0) this.#owner?.forgotten(segment.lane, memory)
    if (parked > 0) this.#owner?.lost(segment.lane, { count: parked, reason, adopted: false })
    if (left > 0) this.#owner?.lost(segment.lane, { count: left, reason, adopted: true })
  }

  /** Whether so many bytes more of this severity fit, by giving up what is no more severe if need be. */
  #makeRoom(severity: Severity, bytes: number): boolean {
    while (this.#bytes + bytes > this.#plan.maxBytes) {
      const segment = this.#segments.leastWanted(severity)
      if (segment === undefined) return false
      this.#giveUp(segment, 'spool-full')
    }
    return true
  }

  /** Say that this engine lives, see whether its folder does, and give up what is too old. */
  #live(): void {
    const now = this.#plan.clock.now()
    this.#lookedAt = now
    if (!this.#hasHome()) this.#vanished()
    for (const segment of this.#segments.list()) {
      if (now - segment.lastAt > this.#plan.maxAgeMs) this.#giveUp(segment, 'too-old')
    }
  }

  /** False when somebody has removed the folder; a disk that does not answer may have it still. */
  #hasHome(): boolean {
    try {
      return this.#home?.touch() ?? true
    } catch (error) {
      this.#health.hindered('sign', error)
      return true
    }
  }

  #vanished(): void {
    this.#home = undefined
    for (const segment of this.#segments.list()) this.#giveUp(segment, 'spool-full')
    this.#health.failed(new Error('its folder was removed'))
  }

  #adopt(segment: Segment, { damaged, newest }: Recovery): void {
    const { clock, wallClock, tell } = this.#plan
    if (damaged > 0) tell(`${damaged} lines of ${basename(segment.path)} in the spool were damaged and are lost`)
    segment.lastAt = clock.now() - Math.max(0, wallClock() - newest)
    this.#segments.add(segment)
    this.#bytes += segment.bytes
    this.#owner?.adopt(segment.lane, segment.count(places.left))
    if (segment.settled) this.#remove(segment)
    else if (clock.now() - segment.lastAt > this.#plan.maxAgeMs) this.#giveUp(segment, 'too-old')
    this.#makeRoom(6, 0)
  }

  #feed(lane: number, room: Room): number {
    const records = this.#read(lane, places.left, room)
    if (records.length > 0) this.#owner?.restore(lane, records)
    return records.length
  }

  /** Read records back into memory. */
  #read(lane: number, place: PlaceState, room: Room): readonly Restored[] {
    // What was only gathered so far is read, too.
    this.commit()
    const { records, lost, emptied, error } = this.#segments.takeBack({ lane, place, room })
    if (error !== undefined) this.#health.hindered('read', error)
    for (const segment of emptied) this.#settled.add(segment)
    if (lost > 0) this.#owner?.lost(lane, { count: lost, reason: 'spool-full', adopted: place === places.left })
    return records
  }
}
