import { lstatSync, readdirSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { LaneName } from '../delivery/ledger.js'
import type { Room, StoreOwner } from '../delivery/store.js'
import { faultOfFile } from '../options/plain-file.js'
import type { Clock, Timer } from '../runtime/clock.js'
import { acknowledgementsOf } from './acknowledgements.js'
import { engineFolder, fingerprint, releaseFolder, removeUnnamed, segmentName } from './engine-folder.js'
import type { Hindrance } from './health.js'
import { type Holder, Lock, lockOf, signIntervalMs } from './lock.js'
import { Segment } from './segment.js'
import { checkSpoolFolder, currentUser, isOurFolder } from './spool-folder.js'
import type { SpoolLine } from './spool-line.js'

/** The first look comes after a random time up to this: many processes that start together do not all look, and send, at once. */
const maxDelayMs = 2000
const turnMs = 100
/** At most a thousand a second. */
const recordsPerTurn = 100

export interface AdoptedRecordsPlan {
  readonly adoption: Adoption
  readonly clock: Clock
  readonly random: () => number
  readonly lanes: number
  readonly owner: StoreOwner
  /** Before each look: say that this engine lives. */
  readonly live: () => void
  /** A segment cannot be read: it stays for the next engine, or for a person. */
  readonly unreadable: (error: unknown) => void
  /** A segment was read, and what it holds is ours. */
  readonly recovered: (segment: Segment, facts: { readonly damaged: number; readonly newest: number }) => void
  /** Give records of a lane that dead engines left to delivery, as far as there is room; the answer is how many there were. */
  readonly feed: (lane: number, room: Room) => number
}

/** Looks for what dead engines have left, again and again, and gives it to delivery: slowly, and while no new record waits. */
export class AdoptedRecords {
  readonly #plan: AdoptedRecordsPlan
  readonly #timers = new Map<'look' | 'feed', Timer>()
  #closed = false

  constructor(plan: AdoptedRecordsPlan) {
    this.#plan = plan
    this.#schedule('look', plan.random() * maxDelayMs, () => this.#look())
  }

  close(): void {
    this.#closed = true
    for (const timer of this.#timers.values()) timer.cancel()
    this.#timers.clear()
  }

  async #look(): Promise<void> {
    this.#plan.live()
    for (const segment of this.#plan.adoption.look()) {
      try {
        const facts = await segment.recover()
        // Else it stays in this engine's folder, for the next one.
        if (this.#closed) return
        this.#plan.recovered(segment, facts)
      } catch (error) {
        this.#plan.unreadable(error)
      }
    }
    // Also where nothing new was found: what could not be read back then may be read now.
    if (!this.#closed && !this.#timers.has('feed')) this.#feed()
    this.#schedule('look', signIntervalMs, () => this.#look())
  }

  #feed(): void {
    const { lanes, owner, feed } = this.#plan
    let left = recordsPerTurn
    let waiting = false
    for (let lane = 0; lane < lanes; lane++) {
      const room = owner.room(lane)
      if (room.records === 0) waiting = true
      else if (left > 0) left -= feed(lane, { ...room, records: Math.min(left, room.records) })
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

export interface AdoptionPlan {
  readonly spoolDir: string
  readonly url: string
  readonly lanes: readonly LaneName[]
  /** The engine's own folder, made when it is first needed. Throws what the file system does. */
  readonly home: () => string
  /** Hears of anything that is left alone or cannot be taken over, with the reason. */
  readonly hindered: (what: Hindrance, error: unknown) => void
}

/** A holder that cannot be seen is dead when it has given no sign of life in so many looks, one every `signIntervalMs`. */
const maxMissed = 6

/**
 * Takes over what dead engines have left, for the same service and buckets. A holder that can be seen (Linux, the same machine and
 * container) counts as dead at once, any other when several looks in a row find no sign of life: looks, not time, so that neither a
 * clock that is changed nor a machine that sleeps kills anybody.
 */
export class Adoption {
  readonly #plan: AdoptionPlan
  readonly #laneOf: ReadonlyMap<string, number>
  readonly #watched = new Map<string, { readonly sign: string; missed: number }>()

  constructor(plan: AdoptionPlan) {
    this.#plan = plan
    this.#laneOf = new Map(plan.lanes.map(({ kind, bucket }, index) => [`${kind} ${fingerprint(bucket)}`, index]))
  }

  /** Look once; the segments that are this engine's from now on. Never throws. */
  look(): Segment[] {
    const { spoolDir, url, hindered } = this.#plan
    try {
      if (lstatSync(spoolDir, { throwIfNoEntry: false }) === undefined) return []
      checkSpoolFolder(spoolDir)
      const ours = readdirSync(spoolDir).filter(
        (name) => engineFolder.test(name) && name.startsWith(`${fingerprint(url)}-`),
      )
      removeUnnamed(spoolDir)
      for (const name of this.#watched.keys()) if (!ours.includes(name)) this.#watched.delete(name)
      return ours.flatMap((name) => this.#lookAt(join(spoolDir, name)))
    } catch (error) {
      hindered('adopt', error)
      return []
    }
  }

  #lookAt(folder: string): Segment[] {
    const { home, hindered } = this.#plan
    try {
      if (!isOurFolder(folder, home)) return this.#leave(folder)
      const names = readdirSync(folder)
      const wanted = names.filter((name) => this.#laneOfSegment(name) !== -1 && this.#isFile(join(folder, name)))
      // Nothing in it for us; but what nobody needs need not stay.
      if (wanted.length === 0 && names.some((name) => name.endsWith('.ndjson'))) return []
      const holder = Lock.holderOf(lockOf(folder))
      if (!this.#isDead(folder, holder)) return []
      const lock = Lock.claim(lockOf(folder), holder)
      if (lock === undefined) return []
      try {
        return wanted.flatMap((name) => this.#take(folder, name))
      } finally {
        releaseFolder(folder, lock)
      }
    } catch (error) {
      // Another engine may have been quicker.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') hindered('adopt', error)
      return []
    }
  }

  /** A folder of another user is that user's business; anything else in this place is worth a word. */
  #leave(folder: string): [] {
    const facts = lstatSync(folder)
    const isOthers = facts.isDirectory() && facts.uid !== currentUser()?.id
    if (!isOthers) this.#plan.hindered('foreign', new Error(`${folder} is no folder that this user alone can write`))
    return []
  }

  #isFile(path: string): boolean {
    const fault = faultOfFile(path)
    if (fault !== undefined) this.#plan.hindered('foreign', new Error(`${path} ${fault}`))
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

  #take(folder: string, name: string): Segment[] {
    const path = join(this.#plan.home(), name)
    try {
      const source = join(folder, name)
      // Acknowledgements first: without them what was delivered would go out again.
      renameIfThere(acknowledgementsOf(source), acknowledgementsOf(path))
      renameSync(source, path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#plan.hindered('adopt', error)
      return []
    }
    const lane = this.#laneOfSegment(name)
    const { severity } = segmentName(name)!
    const { kind, bucket } = this.#plan.lanes[lane]!
    const belongs = (line: SpoolLine) => line.kind === kind && line.bucket === bucket && line.severity === severity
    return [new Segment({ path, lane, severity, belongs })]
  }

  #laneOfSegment(name: string): number {
    const known = segmentName(name)
    return known === undefined
      ? -1
      : (this.#laneOf.get(`${known.severity === 6 ? 'values' : 'logs'} ${known.bucket}`) ?? -1)
  }
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
