import type { DropReason, LaneName } from '../delivery/ledger.js'
import type { Backing } from '../log/backing.js'
import type { KeyWriter } from '../log/idempotency-key.js'
import type { Segment, SegmentFile } from '../log/segment.js'
import type { Severity } from '../records/level.js'
import type { Clock } from '../runtime/clock.js'
import { type Files, nodeFiles } from '../runtime/files.js'
import { isHeld } from './adoption.js'
import { DeadLetters } from './dead-letters.js'
import { Health, type Trouble } from './health.js'
import { LaneFolder } from './lane-folder.js'
import { LeftRecords, type SpoolOwner } from './left-records.js'
import { LineWriter } from './line-writer.js'
import { Locks } from './lock.js'
import { machineOwners, type Owners } from './owner.js'
import { lineMiddle } from './spool-line.js'
import type { SpooledSegment } from './spooled-segment.js'
import { SpooledSegments } from './spooled-segments.js'

export interface SpoolPlan {
  /** The folder that engines share. It is made when it is first needed. */
  readonly dir: string
  /** Of the service that the records are for. */
  readonly url: string
  readonly lanes: readonly LaneName[]
  /** Writes the keys of records that have none of their own. */
  readonly keys: KeyWriter
  /** Bound of the files of this engine, with the files that it has taken from dead engines. */
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
  /** @default the machine's */
  readonly files?: Files
  /** @default the machine's */
  readonly owners?: Owners
}

/** How often to look for the folders: no file system reports that another program removed one. */
const upkeepMs = 1000
/** About what a line has besides its record. */
const lineBytes = 200

/**
 * The records of an engine on disk, until they are settled.
 *
 *     SPOOLDIR/3f0c…-9b1e…/lock-1               the owner of the folder, which is that of one lane
 *                         /info-000001.ndjson   a line per record, one severity per file
 *                         /info-000001.acks     the numbers of its settled records
 *             /dead-letter/…ndjson              records that the service rejected
 *
 * Each segment of a log has a file. Records are written in one go, before any of them is sent, at the latest at the end of the turn of the
 * event loop. One synchronous write of many costs a fraction of an asynchronous one. A file is deleted when all of its records are settled.
 * When the spool is full, the least severe and oldest files are given up. When the disk fails, records are in memory only until it takes
 * them.
 */
export class Spool implements Backing {
  readonly #plan: SpoolPlan & { readonly files: Files; readonly locks: Locks }
  readonly #health: Health
  readonly #deadLetters: DeadLetters
  readonly #lines: LineWriter
  readonly #segments: SpooledSegments
  readonly #left: LeftRecords
  /** By lane. */
  readonly #folders = new Map<number, LaneFolder>()
  /** The files that may get more lines. */
  readonly #open = new Set<SpooledSegment>()
  readonly #trouble = (what: Trouble, error: unknown) => this.#health.trouble(what, error)
  #full = false
  #upkeepAt = 0
  #closed = false

  constructor(given: SpoolPlan) {
    const { files = nodeFiles, owners = machineOwners, wallClock, keys } = given
    const plan = { ...given, files, locks: new Locks({ files, owners, wallClock }), trouble: this.#trouble }
    const home = () => ([...this.#folders.values()][0] ?? this.#folderOf(0)).path
    this.#plan = plan
    this.#health = new Health(plan)
    this.#lines = new LineWriter(keys)
    this.#deadLetters = new DeadLetters({ ...plan, maxBytes: plan.maxBytes / 8, home })
    this.#segments = new SpooledSegments({ ...plan, grown: (path) => this.#left.again(path) })
    this.#left = new LeftRecords({
      ...plan,
      segments: this.#segments,
      home,
      isOwn: (path) => [...this.#folders.values()].some((folder) => folder.path === path),
      beforeLook: () => {
        this.#upkeep()
        // A disk that failed may take the records by now.
        this.commit()
      },
    })
  }

  /** Look for what dead engines have left, now and every ten seconds. */
  start(owner: SpoolOwner): void {
    this.#left.start(owner)
  }

  get takes(): boolean {
    return !this.#closed && !this.#full && this.#health.tries
  }

  get lossReason(): DropReason {
    return this.#full ? 'spool-full' : 'queue-full'
  }

  /** The file is made when the first record is written. */
  open(segment: Segment): SegmentFile | undefined {
    if (this.#closed) return undefined
    const file = this.#segments.fileFor(segment, { adopted: false })
    this.#segments.add(file)
    this.#open.add(file)
    return file
  }

  /** Write what was appended. No record may be sent before. Never throws. */
  commit(): void {
    if (this.#closed) return
    if (this.#plan.clock.now() - this.#upkeepAt > upkeepMs) this.#upkeep()
    this.#full = false
    for (const file of this.#open) {
      if (file.unwritten > 0 && isInUse(file)) this.#write(file)
      this.#endWhenDue(file)
    }
  }

  rejected(lane: number, { ref, body, key, rejection }: Parameters<Backing['rejected']>[1]): void {
    const { status, reason, validationErrors } = rejection
    const time = this.#plan.wallClock()
    const refusal = { status, reason, validationErrors, rejectedAt: time }
    const { severity } = ref.segment.log
    this.#deadLetters.add({ ...this.#plan.lanes[lane]!, severity, idempotencyKey: key, time, refusal, body })
    try {
      // The dead letter is on disk before the record is settled.
      this.#deadLetters.commit()
    } catch (error) {
      this.#trouble('deadLetter', error)
    }
  }

  /** Check that the records are still there, and try the disk once more, however it failed. */
  look(): void {
    if (this.#closed) return
    this.#upkeep()
    this.#health.retry()
  }

  /** Write which records are settled: none of them is sent again, however the process ends. Never throws. */
  acknowledge(): void {
    this.#segments.acknowledge()
  }

  /** Write what is left to write, and leave it to the next engine. Nothing comes after it. Idempotent. */
  close(): void {
    if (this.#closed) return
    this.commit()
    this.#closed = true
    this.#segments.close()
    for (const folder of this.#folders.values()) folder.release()
    this.#left.close()
  }

  #folderOf(lane: number): LaneFolder {
    const known = this.#folders.get(lane)
    if (known !== undefined) return known
    const folder = LaneFolder.make({ ...this.#plan, lane: this.#plan.lanes[lane]! })
    this.#folders.set(lane, folder)
    return folder
  }

  #write(file: SpooledSegment): void {
    const { sync } = this.#plan
    const { lane, severity } = file.segment.log
    if (!this.#health.tries) {
      this.#missed(file)
      return
    }
    const room = this.#roomFor(file)
    const before = file.bytes
    const error = file.commit({
      lines: this.#lines,
      about: this.#about(lane, severity),
      room,
      sync,
      path: () => this.#folderOf(lane).nextFile(severity),
    })
    if (file.bytes > before) this.#segments.grew(file, file.bytes - before)
    if (error !== undefined) {
      this.#health.failed(error)
      this.#missed(file)
    } else if (file.unwritten > 0) this.#full = true
    // Records that are settled meanwhile need no disk: they say nothing about it.
    else if (file.bytes > before) this.#health.succeeded()
  }

  /** What stands between the key of a record and the record, in lines that are written now. */
  #about(lane: number, severity: Severity): Buffer {
    const time = Math.max(0, Math.floor(this.#plan.wallClock()))
    return Buffer.from(`,"time":${time}${lineMiddle({ ...this.#plan.lanes[lane]!, severity })}`)
  }

  /** Count the records that are not written, each once. */
  #missed(file: SpooledSegment): void {
    const { count, committed } = file.segment
    this.#health.missed(count - Math.max(committed, file.missed))
    file.missed = count
  }

  /** The bytes that fit. To make room, the oldest of the least severe files are given up. */
  #roomFor(file: SpooledSegment): number {
    const { segment, unwritten } = file
    const wanted = segment.spanOf(segment.committed, unwritten) + unwritten * lineBytes
    return this.#segments.makeRoom(wanted, { severity: segment.log.severity, except: file })
  }

  /** Let a file get no more lines when it is large, or old: so it holds records of about the same age. */
  #endWhenDue(file: SpooledSegment): void {
    const { segment } = file
    const { maxBytes, maxAgeMs, clock } = this.#plan
    if (!isInUse(file)) this.#open.delete(file)
    else if (file.unwritten > 0) return
    else if (segment.next !== undefined) {
      this.#open.delete(file)
      this.#segments.end(file)
    } else if (file.bytes >= maxBytes / 16 || clock.now() - file.openedAt > maxAgeMs / 16) segment.log.seal(segment)
  }

  /** Give a sign of life, notice folders that are gone, and give up what is too old. */
  #upkeep(): void {
    this.#upkeepAt = this.#plan.clock.now()
    for (const [lane, folder] of this.#folders) {
      if (isHeld(folder, this.#trouble)) continue
      this.#folders.delete(lane)
      folder.release()
      this.#segments.lose(folder.path)
      this.#health.failed(new Error('its folder was removed, or taken by another process'))
    }
    this.#segments.giveUpOld()
    this.#segments.removeStuck()
    for (const file of this.#open) {
      // While no record comes, settled records do not stay on disk.
      if (file.isSettled && file.bytes > 0) file.segment.log.seal(file.segment)
      this.#endWhenDue(file)
    }
  }
}

/** False when the segment has no file any more, or another one. */
function isInUse(file: SpooledSegment): boolean {
  return file.segment.file === file
}
