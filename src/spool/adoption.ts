import { basename, join } from 'node:path'
import type { LaneName } from '../delivery/ledger.js'
import type { Restored, Room, StoreOwner } from '../delivery/store.js'
import type { Clock, Timer } from '../runtime/clock.js'
import type { Files } from '../runtime/files.js'
import { faultOfFile } from '../runtime/plain-file.js'
import { acknowledgementsOf } from './acknowledgements.js'
import { engineFolder, fingerprint, releaseFolder, removeUnnamed, segmentName } from './engine-folder.js'
import type { Trouble } from './health.js'
import { type Holder, type Lock, type Locks, lockOf, signIntervalMs } from './lock.js'
import { type Recovery, Segment } from './segment.js'
import { checkSpoolFolder, currentUser, isOurFolder } from './spool-folder.js'
import type { SpoolLine } from './spool-line.js'

interface AdoptionPlan {
  /** The folder of the spool. */
  readonly dir: string
  readonly url: string
  readonly lanes: readonly LaneName[]
  /** The engine's own folder, made when it is first needed. Throws what the file system does. */
  readonly home: () => string
  readonly files: Files
  readonly locks: Locks
  /** Milliseconds since 1970. */
  readonly wallClock: () => number
  /** Called with the reason for anything that is left alone or cannot be adopted. */
  readonly trouble: (what: Trouble, error: unknown) => void
}

export interface AdoptedRecordsPlan extends AdoptionPlan {
  readonly clock: Clock
  readonly random: () => number
  readonly owner: StoreOwner
  /** Called before each look for dead engines. */
  readonly beforeLook: () => void
  /** Called with each segment that was adopted and read. */
  readonly recovered: (segment: Segment, facts: Recovery) => void
  /** Read adopted records of a lane back, as many as there is room for. */
  readonly read: (lane: number, room: Room) => readonly Restored[]
}

/** The first look comes after a random time up to this, so that processes that start together do not all look and send at once. */
const maxDelayMs = 2000
const turnMs = 100
/** At most 1,000 a second. */
const recordsPerTurn = 100

/** Adopts what dead engines have left, again and again, and gives it to delivery: slowly, and while no new record waits. */
export class AdoptedRecords {
  readonly #plan: AdoptedRecordsPlan
  readonly #adoption: Adoption
  readonly #timers = new Map<'look' | 'feed', Timer>()
  #closed = false

  constructor(plan: AdoptedRecordsPlan) {
    this.#plan = plan
    this.#adoption = new Adoption(plan)
    this.#schedule('look', plan.random() * maxDelayMs, () => this.#look())
  }

  close(): void {
    this.#closed = true
    for (const timer of this.#timers.values()) timer.cancel()
    this.#timers.clear()
  }

  async #look(): Promise<void> {
    this.#plan.beforeLook()
    for (const segment of this.#adoption.look()) {
      try {
        const facts = await segment.recover()
        // The segment stays in this engine's folder for the next engine.
        if (this.#closed) return
        this.#adoption.done(segment)
        this.#plan.recovered(segment, facts)
      } catch (error) {
        // The next look tries again.
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') this.#adoption.done(segment)
        this.#plan.trouble('adopt', error)
      }
    }
    // A segment of an earlier look that could not be read may be readable now.
    if (!this.#closed && !this.#timers.has('feed')) this.#feed()
    this.#schedule('look', signIntervalMs, () => this.#look())
  }

  #feed(): void {
    const { lanes, owner, read } = this.#plan
    let left = recordsPerTurn
    let waiting = false
    for (const lane of lanes.keys()) {
      const room = owner.room(lane)
      if (room.records === 0) waiting = true
      if (room.records === 0 || left === 0) continue
      const records = read(lane, { ...room, records: Math.min(left, room.records) })
      if (records.length > 0) owner.restore(lane, records)
      left -= records.length
    }
    if (waiting || left < recordsPerTurn) this.#schedule('feed', turnMs, () => this.#feed())
  }

  #schedule(name: 'look' | 'feed', delayMs: number, task: () => void): void {
    if (this.#closed) return
    const run = () => {
      this.#timers.delete(name)
      task()
    }
    this.#timers.set(name, this.#plan.clock.schedule(run, delayMs))
  }
}

/** A holder that cannot be seen is dead after so many looks without a sign of life. The looks are `signIntervalMs` apart. */
const maxMissed = 6

/**
 * Takes over the segments of dead engines, for the same service and buckets. A holder that can be seen (on Linux, in the same container)
 * counts as dead at once, any other after several looks without a sign of life. Looks are counted, not time: neither a change of the clock
 * nor a machine that sleeps makes a live holder dead.
 */
class Adoption {
  readonly #plan: AdoptionPlan
  readonly #laneOf: ReadonlyMap<string, number>
  readonly #watched = new Map<string, { readonly sign: string; missed: number }>()
  /** Folders that could not be released, because the disk failed. */
  readonly #held = new Map<string, Lock>()
  /** The paths of segments that are this engine's, and have not been read. */
  readonly #unread = new Set<string>()

  constructor(plan: AdoptionPlan) {
    this.#plan = plan
    this.#laneOf = new Map(plan.lanes.map(({ kind, bucket }, index) => [`${kind} ${fingerprint(bucket)}`, index]))
  }

  /** Look once, and return the segments that are this engine's from now on and have not been read. Never throws. */
  look(): Segment[] {
    this.#adopt()
    return [...this.#unread].map((path) => this.#segmentAt(path))
  }

  /** A segment was read, or is gone. */
  done({ path }: Segment): void {
    this.#unread.delete(path)
  }

  #adopt(): void {
    const { dir, url, files, trouble } = this.#plan
    try {
      if (files.lstatSync(dir, { throwIfNoEntry: false }) === undefined) return
      checkSpoolFolder(dir, files)
      const names = files
        .readdirSync(dir)
        .filter((name) => engineFolder.test(name) && name.startsWith(`${fingerprint(url)}-`))
      removeUnnamed(dir, this.#plan)
      for (const [folder, lock] of this.#held) this.#release(folder, lock)
      for (const name of this.#watched.keys()) if (!names.includes(name)) this.#watched.delete(name)
      for (const name of names) this.#lookAt(join(dir, name))
    } catch (error) {
      trouble('adopt', error)
    }
  }

  #lookAt(folder: string): void {
    const { files, locks, trouble } = this.#plan
    try {
      if (!isOurFolder(folder, this.#plan)) {
        this.#leave(folder)
        return
      }
      const names = files.readdirSync(folder)
      const wanted = names.filter((name) => this.#laneOfSegment(name) !== -1 && this.#isFile(join(folder, name)))
      // A folder without any segment goes on: it is claimed to be removed.
      if (wanted.length === 0 && names.some((name) => name.endsWith('.ndjson'))) return
      const holder = locks.holderOf(lockOf(folder))
      if (!this.#isDead(folder, holder)) return
      const lock = locks.claim(lockOf(folder), holder)
      if (lock === undefined) return
      try {
        for (const name of wanted) this.#take(folder, name)
      } finally {
        this.#release(folder, lock)
      }
    } catch (error) {
      // Another engine was quicker and has removed the folder.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') trouble('adopt', error)
    }
  }

  /** Leave a folder alone. It is reported, unless it belongs to another user. */
  #leave(folder: string): void {
    const facts = this.#plan.files.lstatSync(folder)
    const isOthers = facts.isDirectory() && facts.uid !== currentUser()?.id
    if (!isOthers) this.#plan.trouble('foreign', new Error(`${folder} is not a folder that only this user can write`))
  }

  #release(folder: string, lock: Lock): void {
    if (releaseFolder(folder, { lock, files: this.#plan.files })) this.#held.delete(folder)
    else this.#held.set(folder, lock)
  }

  #isFile(path: string): boolean {
    const fault = faultOfFile(path, this.#plan.files)
    if (fault !== undefined) this.#plan.trouble('foreign', new Error(`${path} ${fault}`))
    return fault === undefined
  }

  #isDead(folder: string, holder: Holder | undefined): boolean {
    const name = basename(folder)
    if (holder === undefined || holder.state === 'dead') return true
    if (holder.state === 'alive') return false
    const watched = this.#watched.get(name)
    if (watched?.sign !== holder.sign) this.#watched.set(name, { sign: holder.sign, missed: 0 })
    else if (++watched.missed >= maxMissed) return true
    return false
  }

  #take(folder: string, name: string): void {
    const { files } = this.#plan
    const source = join(folder, name)
    const path = join(this.#plan.home(), name)
    try {
      // A segment always has its acknowledgements beside it: without them it would send again what was delivered.
      const isLinked = this.#linkIfThere(acknowledgementsOf(source), acknowledgementsOf(path))
      files.renameSync(source, path)
      this.#unread.add(path)
      if (isLinked) this.#remove(acknowledgementsOf(source))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#plan.trouble('adopt', error)
    }
  }

  #segmentAt(path: string): Segment {
    const { files } = this.#plan
    const name = basename(path)
    const lane = this.#laneOfSegment(name)
    const { severity } = segmentName(name)!
    const { kind, bucket } = this.#plan.lanes[lane]!
    const belongs = (line: SpoolLine) => line.kind === kind && line.bucket === bucket && line.severity === severity
    return new Segment({ path, lane, severity, belongs, files })
  }

  /** Give a file a second path, or a new one where that is impossible. True when it has both. Throws what the file system does. */
  #linkIfThere(from: string, to: string): boolean {
    const { files } = this.#plan
    try {
      files.linkSync(from, to)
      return true
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT') return false
      // An earlier look came so far and no further.
      if (code === 'EEXIST') return true
      // Some file systems have no links.
      files.renameSync(from, to)
      return false
    }
  }

  #remove(path: string): void {
    try {
      this.#plan.files.unlinkSync(path)
    } catch (error) {
      this.#plan.trouble('remove', error)
    }
  }

  #laneOfSegment(name: string): number {
    const known = segmentName(name)
    return known === undefined
      ? -1
      : (this.#laneOf.get(`${known.severity === 6 ? 'values' : 'logs'} ${known.bucket}`) ?? -1)
  }
}
