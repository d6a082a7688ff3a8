import { lstatSync, readdirSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { LaneName } from '../delivery/ledger.js'
import { faultOfFile } from '../options/plain-file.js'
import { acknowledgementsOf } from './acknowledgements.js'
import { engineFolder, fingerprint, releaseFolder, removeUnnamed, segmentName } from './engine-folder.js'
import { FolderLock, type Holder } from './folder-lock.js'
import type { Hindrance } from './health.js'
import { Segment } from './segment.js'
import { checkSpoolFolder, currentUser, isOurFolder } from './spool-folder.js'
import type { SpoolLine } from './spool-line.js'

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
      const holder = FolderLock.holderOf(folder)
      if (!this.#isDead(folder, holder)) return []
      const lock = FolderLock.claim(folder, holder)
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
