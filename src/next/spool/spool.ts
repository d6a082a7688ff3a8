import { basename } from 'node:path'
import type { DropReason, LaneName } from '../../delivery/ledger.js'
import { counted } from '../../errors/counted.js'
import type { Backing } from '../../log/backing.js'
import type { KeyWriter } from '../../log/idempotency-key.js'
import type { RecordLog } from '../../log/record-log.js'
import { Segment, type SegmentFile } from '../../log/segment.js'
import type { Severity } from '../../records/level.js'
import type { Clock, Timer } from '../../runtime/clock.js'
import { type Files, nodeFiles } from '../../runtime/files.js'
import { DeadLetters } from '../../spool/dead-letters.js'
import { Health } from '../../spool/health.js'
import { Locks, signIntervalMs } from '../../spool/lock.js'
import { machineOwners, type Owners } from '../../spool/owner.js'
import { lineMiddle, type SpoolLine } from '../../spool/spool-line.js'
import { Adoption, isHeld, type LeftFile } from './adoption.js'
import { LaneFolder } from './lane-folder.js'
import { LineWriter } from './line-writer.js'
import { SpooledSegment } from './spooled-segment.js'

export interface SpoolPlan {
  /** The folder that engines share. It is made when it is first needed. */
  readonly dir: string
  /** Of the service that the records are for. */
  readonly url: string
  readonly lanes: readonly LaneName[]
  /** Writes the keys of records that have none of their own. */
  readonly keys: KeyWriter
  /** Bound of the files of this engine, those included that it has taken from dead engines. */
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

/** Acknowledgements are gathered for this long. After a kill, records that were delivered within it are sent again. */
const acknowledgeMs = 100
/** How often to look for the folders: no file system reports that another program removed one. */
const upkeepMs = 1000
/** The first look comes after a random time up to this, so that processes that start together do not all look and send at once. */
const maxDelayMs = 2000
/** Of the files that cannot be removed, so many are tried again. */
const maxStuck = 1000
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
  readonly #adoption: Adoption
  /** By lane. */
  readonly #folders = new Map<number, LaneFolder>()
  readonly #files = new Set<SpooledSegment>()
  /** Bytes of all of them. */
  #bytes = 0
  /** The files that may get more lines. */
  readonly #open = new Set<SpooledSegment>()
  /** The files with settled records that have no acknowledgement on disk. */
  readonly #settled = new Set<SpooledSegment>()
  /** Files without records that could not be removed. */
  readonly #stuck = new Set<SpooledSegment>()
  readonly #unread: LeftFile[] = []
  /** By log: the highest sequence of a record that a dead engine has left. */
  readonly #newestAdopted = new Map<RecordLog, number>()
  readonly #timers = new Map<'acknowledge' | 'look' | 'read', Timer>()
  #adoptedLog: ((lane: number, severity: Severity) => RecordLog) | undefined
  #full = false
  #upkeepAt = 0
  #closed = false

  constructor(given: SpoolPlan) {
    const { files = nodeFiles, owners = machineOwners, wallClock, keys } = given
    const plan = { ...given, files, locks: new Locks({ files, owners, wallClock }) }
    const home = () => ([...this.#folders.values()][0] ?? this.#folderOf(0)).path
    this.#plan = plan
    this.#health = new Health(plan)
    this.#lines = new LineWriter(keys)
    this.#deadLetters = new DeadLetters({ ...plan, maxBytes: plan.maxBytes / 8, home })
    this.#adoption = new Adoption({
      ...plan,
      home,
      isOwn: (path) => [...this.#folders.values()].some((folder) => folder.path === path),
      trouble: (what, error) => this.#health.trouble(what, error),
    })
  }

  /** Look for what dead engines have left, now and then. @param adoptedLog returns the log for such records of a lane */
  start(adoptedLog: (lane: number, severity: Severity) => RecordLog): void {
    this.#adoptedLog = adoptedLog
    this.#schedule('look', this.#plan.random() * maxDelayMs, () => this.#lookForLeft())
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
    const file = this.#fileFor(segment, { adopted: false })
    this.#files.add(file)
    this.#open.add(file)
    return file
  }

  /** Write what was appended. No record may be sent before. Never throws. */
  commit(): void {
    if (this.#closed) return
    if (this.#plan.clock.now() - this.#upkeepAt > upkeepMs) this.#upkeep()
    this.#full = false
    for (const file of this.#open) {
      if (file.unwritten > 0) this.#write(file)
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
      this.#health.trouble('deadLetter', error)
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
    this.#cancel('acknowledge')
    for (const file of this.#settled) {
      try {
        file.acknowledge()
        this.#settled.delete(file)
      } catch (error) {
        // The next acknowledgement says it, or the records are sent again with the same idempotency keys.
        this.#health.trouble('acknowledge', error)
      }
    }
  }

  /** Write what is left to write, and leave it to the next engine. Nothing comes after it. Idempotent. */
  close(): void {
    if (this.#closed) return
    this.commit()
    this.#closed = true
    for (const name of [...this.#timers.keys()]) this.#cancel(name)
    for (const file of [...this.#files]) {
      if (file.isSettled) this.#remove(file)
      else this.#end(file)
    }
    this.acknowledge()
    this.#removeStuck()
    for (const folder of this.#folders.values()) folder.release()
    this.#adoption.release()
  }

  #folderOf(lane: number): LaneFolder {
    const known = this.#folders.get(lane)
    if (known !== undefined) return known
    const folder = LaneFolder.make({ ...this.#plan, lane: this.#plan.lanes[lane]! })
    this.#folders.set(lane, folder)
    return folder
  }

  #fileFor(segment: Segment, { adopted }: { readonly adopted: boolean }): SpooledSegment {
    return new SpooledSegment({
      segment,
      adopted,
      files: this.#plan.files,
      settled: (each) => this.#acknowledgeSoon(each),
      empty: (each) => this.#remove(each),
      failedToRead: (error) => this.#health.trouble('read', error),
    })
  }

  #write(file: SpooledSegment): void {
    const { clock, sync } = this.#plan
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
    this.#bytes += file.bytes - before
    if (file.bytes > before) {
      file.lastAt = clock.now()
      file.openedAt = Math.min(file.openedAt, file.lastAt)
    }
    if (error !== undefined) {
      this.#health.failed(error)
      this.#missed(file)
    } else if (file.unwritten > 0) this.#full = true
    else this.#health.succeeded()
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
    return this.#makeRoom(wanted, { severity: segment.log.severity, except: file })
  }

  #makeRoom(wanted: number, { severity, except }: { severity: Severity; except?: SpooledSegment }): number {
    for (;;) {
      const room = this.#plan.maxBytes - this.#bytes
      const file = room >= wanted ? undefined : this.#leastWanted(severity, except)
      if (file === undefined) return room
      this.#giveUp(file, 'spool-full')
    }
  }

  /** The oldest of the least severe files that are at most this severe. */
  #leastWanted(most: Severity, except: SpooledSegment | undefined): SpooledSegment | undefined {
    let found: SpooledSegment | undefined
    for (const file of this.#files) {
      const { severity } = file.segment.log
      if (file === except || file.bytes === 0 || severity > most) continue
      const than = found?.segment.log.severity ?? Number.POSITIVE_INFINITY
      if (severity < than || (severity === than && file.lastAt < found!.lastAt)) found = file
    }
    return found
  }

  /** Give up a file, with the records that are on disk alone. */
  #giveUp({ segment }: SpooledSegment, reason: DropReason): void {
    segment.file?.remove()
    this.#giveUpRecords(segment, reason)
  }

  /** The files of a folder are another engine's, or gone. */
  #lose(folder: string): void {
    for (const file of [...this.#files]) {
      if (!file.isIn(folder)) continue
      file.close()
      this.#forget(file)
      this.#giveUpRecords(file.segment, 'spool-full')
    }
  }

  #giveUpRecords(segment: Segment, reason: DropReason): void {
    segment.log.forgetFile(segment, reason)
    // The next record goes to a segment with a file.
    segment.log.seal(segment)
  }

  /** Remove a file from the disk. Never throws. */
  #remove(file: SpooledSegment): void {
    if (!this.#files.has(file)) return
    const { grown } = file
    this.#forget(file)
    if (grown === undefined) this.#removeFiles(file)
    else this.#readAgain(grown, file)
  }

  #removeFiles(file: SpooledSegment): void {
    const fault = file.removeFiles()
    if (fault === undefined) return
    this.#health.trouble('remove', fault)
    if (this.#stuck.size < maxStuck) this.#stuck.add(file)
  }

  /** An engine was not dead, but frozen, and has written to a file that this engine has taken: the next look finds the new lines. */
  #readAgain(path: string, file: SpooledSegment): void {
    try {
      file.acknowledge()
    } catch (error) {
      this.#health.trouble('acknowledge', error)
    }
    this.#adoption.forget({ path })
  }

  #removeStuck(): void {
    for (const file of this.#stuck) if (file.removeFiles() === undefined) this.#stuck.delete(file)
  }

  #forget(file: SpooledSegment): void {
    if (this.#files.delete(file)) this.#bytes -= file.bytes
    this.#open.delete(file)
    this.#settled.delete(file)
  }

  /** Let a file get no more lines when it is large, or old: so it holds records of about the same age. */
  #endWhenDue(file: SpooledSegment): void {
    const { segment } = file
    const { maxBytes, maxAgeMs, clock } = this.#plan
    const isTail = segment.next === undefined
    if (file.unwritten > 0) return
    if (!isTail) this.#end(file)
    else if (file.bytes >= maxBytes / 16 || clock.now() - file.openedAt > maxAgeMs / 16) segment.log.seal(segment)
  }

  #end(file: SpooledSegment): void {
    this.#open.delete(file)
    const fault = file.close()
    if (fault !== undefined) this.#health.trouble('close', fault)
  }

  #acknowledgeSoon(file: SpooledSegment): void {
    this.#settled.add(file)
    if (!this.#timers.has('acknowledge')) this.#schedule('acknowledge', acknowledgeMs, () => this.acknowledge())
  }

  /** Give a sign of life, notice folders that are gone, and give up what is too old. */
  #upkeep(): void {
    const { clock, maxAgeMs } = this.#plan
    this.#upkeepAt = clock.now()
    for (const [lane, folder] of this.#folders) {
      if (isHeld(folder, (what, error) => this.#health.trouble(what, error))) continue
      this.#folders.delete(lane)
      folder.release()
      this.#lose(folder.path)
      this.#health.failed(new Error('its folder was removed, or taken by another process'))
    }
    for (const folder of this.#adoption.touch()) this.#lose(folder)
    for (const file of [...this.#files]) if (clock.now() - file.lastAt > maxAgeMs) this.#giveUp(file, 'too-old')
    for (const file of [...this.#open]) this.#endWhenDue(file)
    this.#removeStuck()
  }

  #lookForLeft(): void {
    this.#upkeep()
    // A disk that failed may take the records by now.
    this.commit()
    this.#unread.push(...this.#adoption.look())
    this.#readSoon()
    this.#schedule('look', signIntervalMs, () => this.#lookForLeft())
  }

  #readSoon(): void {
    if (this.#unread.length > 0) this.#schedule('read', 0, () => this.#readNext())
  }

  /** Read one file that a dead engine has left: the thread has other work, too. */
  #readNext(): void {
    const left = this.#unread.shift()!
    try {
      this.#read(left)
    } catch (error) {
      // The next look tries again.
      this.#adoption.forget(left)
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#health.trouble('adopt', error)
    }
    this.#readSoon()
  }

  /** Throws what the file system does. */
  #read({ path, lane, severity }: LeftFile): void {
    const { clock, wallClock, report } = this.#plan
    const { kind, bucket } = this.#plan.lanes[lane]!
    const belongs = (line: SpoolLine) => line.kind === kind && line.bucket === bucket && line.severity === severity
    const log = this.#adoptedLog!(lane, severity)
    const segment = new Segment(log)
    const file = this.#fileFor(segment, { adopted: true })
    const { damaged, newest } = file.recover(path, { belongs, above: this.#newestAdopted.get(log) ?? 0 })
    this.#files.add(file)
    this.#bytes += file.bytes
    if (damaged > 0) report(`lost ${counted(damaged, 'damaged line')} of ${basename(path)} in the spool`)
    file.lastAt = clock.now() - Math.max(0, wallClock() - newest)
    if (file.isSettled) this.#remove(file)
    else {
      segment.file = file
      this.#newestAdopted.set(log, segment.sequenceOf(segment.count - 1))
      log.adopt(segment)
      if (clock.now() - file.lastAt > this.#plan.maxAgeMs) this.#giveUp(file, 'too-old')
      this.#makeRoom(0, { severity: 6 })
    }
  }

  #schedule(name: 'acknowledge' | 'look' | 'read', delayMs: number, task: () => void): void {
    if (this.#closed) return
    this.#cancel(name)
    const run = () => {
      this.#timers.delete(name)
      task()
    }
    this.#timers.set(name, this.#plan.clock.schedule(run, delayMs))
  }

  #cancel(name: 'acknowledge' | 'look' | 'read'): void {
    this.#timers.get(name)?.cancel()
    this.#timers.delete(name)
  }
}
