import { basename, dirname, join } from 'node:path'
import type { LaneName } from '../delivery/ledger.js'
import type { Severity } from '../records/level.js'
import type { Files } from '../runtime/files.js'
import { faultOfFile } from '../runtime/plain-file.js'
import type { Trouble } from './health.js'
import { LaneFolder, laneFinder, severityOfFile } from './lane-folder.js'
import { type Holder, type Locks, lockOf } from './lock.js'
import { checkSpoolFolder, currentUser, isOurFolder } from './spool-folder.js'

export interface AdoptionPlan {
  /** The folder of the spool. */
  readonly dir: string
  readonly url: string
  readonly lanes: readonly LaneName[]
  /** A folder in the spool that this engine has made. Throws what the file system does. */
  readonly home: () => string
  /** True for a folder of this engine. */
  readonly isOwn: (folder: string) => boolean
  readonly files: Files
  readonly locks: Locks
  /** Called with the reason for anything that is left alone or cannot be taken. */
  readonly trouble: (what: Trouble, error: unknown) => void
}

/** A file of records that a dead engine has left, in a folder that this engine has taken. */
export interface LeftFile {
  readonly path: string
  readonly lane: number
  readonly severity: Severity
}

/** A folder that this engine has taken. */
interface Taken {
  readonly folder: LaneFolder
  readonly lane: number
  /** Names of the files in it that this engine reads, or has read. */
  readonly known: Set<string>
}

/** A holder that cannot be seen is dead after this number of looks without a sign of life. The looks are `signIntervalMs` apart. */
const maxMissed = 6

/**
 * Takes the folders of dead engines, for the same service and lanes. A holder that can be seen (on Linux, in the same container) counts as
 * dead at once, any other after several looks without a sign of life. Looks are counted, not time: neither a change of the clock nor a
 * machine that sleeps makes a live holder dead. A folder stays where it is, and this engine holds its lock until no records are in it.
 */
export class Adoption {
  readonly #plan: AdoptionPlan
  readonly #laneOf: (folder: string) => number
  readonly #watched = new Map<string, { readonly sign: string; missed: number }>()
  /** By path. */
  readonly #taken = new Map<string, Taken>()

  constructor(plan: AdoptionPlan) {
    this.#plan = plan
    this.#laneOf = laneFinder(plan.url, plan.lanes)
  }

  /** Look once. Returns the files that are this engine's from now on. Never throws. */
  look(): LeftFile[] {
    const { dir, files, trouble } = this.#plan
    try {
      if (files.lstatSync(dir, { throwIfNoEntry: false }) === undefined) return []
      checkSpoolFolder(dir, files)
      const names = files.readdirSync(dir).filter((name) => this.#laneOf(name) !== -1)
      for (const name of this.#watched.keys()) if (!names.includes(name)) this.#watched.delete(name)
      return names.flatMap((name) => this.#lookAt(join(dir, name)))
    } catch (error) {
      trouble('adopt', error)
      return []
    }
  }

  /** True for a file that was returned, while its folder is this engine's. */
  has(path: string): boolean {
    return this.#taken.get(dirname(path))?.known.has(basename(path)) ?? false
  }

  /** The next look returns a file again if it is still there. */
  forget(path: string): void {
    this.#taken.get(dirname(path))?.known.delete(basename(path))
  }

  /** Give a sign of life in each folder. Returns the folders that are gone, or that another engine has taken. Never throws. */
  touch(): string[] {
    return [...this.#taken].flatMap(([path, { folder }]) => {
      if (isHeld(folder, this.#plan.trouble)) return []
      this.#taken.delete(path)
      folder.release()
      return path
    })
  }

  /** Give the folders back, and remove the folders without records. */
  release(): void {
    for (const { folder } of this.#taken.values()) folder.release()
    this.#taken.clear()
  }

  #lookAt(path: string): LeftFile[] {
    const { files, trouble, isOwn } = this.#plan
    if (isOwn(path)) return []
    try {
      const taken = this.#taken.get(path) ?? this.#take(path)
      if (taken === undefined) return []
      const names = files.readdirSync(path).filter((name) => name.endsWith('.ndjson'))
      if (names.length === 0 && taken.folder.release()) this.#taken.delete(path)
      return names.flatMap((name) => this.#add(taken, join(path, name)))
    } catch (error) {
      // Another engine was quicker and has removed the folder.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') trouble('adopt', error)
      return []
    }
  }

  /** Undefined when the folder is another engine's. Throws what the file system does. */
  #take(path: string): Taken | undefined {
    const { files, locks } = this.#plan
    if (!isOurFolder(path, this.#plan)) {
      this.#leave(path)
      return undefined
    }
    const holder = locks.holderOf(lockOf(path))
    if (!this.#isDead(path, holder)) return undefined
    const lock = locks.claim(lockOf(path), holder)
    if (lock === undefined) return undefined
    const taken = {
      folder: new LaneFolder(path, { lock, files }),
      lane: this.#laneOf(basename(path)),
      known: new Set<string>(),
    }
    this.#taken.set(path, taken)
    return taken
  }

  #add({ lane, known }: Taken, path: string): LeftFile[] {
    const name = basename(path)
    const severity = severityOfFile(name)
    const isValue = this.#plan.lanes[lane]!.kind === 'values'
    if (severity === undefined || (severity === 6) !== isValue || known.has(name)) return []
    const fault = this.#faultOf(path)
    if (fault === 'later') return []
    known.add(name)
    if (fault === undefined) return [{ path, lane, severity }]
    this.#plan.trouble('foreign', new Error(`${path} ${fault}`))
    return []
  }

  /** Why a path is not that of a file of records; `later` when the disk does not say it now. */
  #faultOf(path: string): string | undefined {
    try {
      return faultOfFile(path, this.#plan.files)
    } catch (error) {
      this.#plan.trouble('adopt', error)
      return 'later'
    }
  }

  /** Leave a folder alone. It is reported, unless it belongs to another user. */
  #leave(folder: string): void {
    const facts = this.#plan.files.lstatSync(folder)
    const isOthers = facts.isDirectory() && facts.uid !== currentUser()?.id
    if (!isOthers) this.#plan.trouble('foreign', new Error(`${folder} is not a folder that only this user can write`))
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
}

/** Give a sign of life. False when the folder is gone, or another engine has taken it. A disk that does not answer may still have it. */
export function isHeld(folder: LaneFolder, trouble: AdoptionPlan['trouble']): boolean {
  try {
    return folder.touch()
  } catch (error) {
    trouble('sign', error)
    return true
  }
}
