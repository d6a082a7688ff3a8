import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { LaneName } from '../delivery/ledger.js'
import type { Severity } from '../records/level.js'
import type { Files } from '../runtime/files.js'
import { deadLetterFile } from './dead-letters.js'
import { type Lock, type Locks, lockFile, lockOf } from './lock.js'
import { makeSpoolFolder, syncPath } from './spool-folder.js'

/** Severities as file names spell them. */
const severityNames: readonly string[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'value']
const segmentFile = /^(trace|debug|info|warn|error|fatal|value)-\d{6,15}\.ndjson$/
/** The name of the folder of a lane. */
export const laneFolder = /^[0-9a-f]{8}-[0-9a-f]{12}$/
/** Another engine that looks may take a folder before it has its lock. That happens once in a very long time. */
const maxAttempts = 3

/** Eight digits that stand for a lane of a service: an engine takes over the folders of its own lanes only. */
function fingerprint(url: string, { kind, bucket }: LaneName): string {
  return createHash('sha256').update(`${url} ${kind} ${bucket}`).digest('hex').slice(0, 8)
}

/** Finds the lane of a folder by the name of the folder; -1 for the folder of another lane, and for any other name. */
export function laneFinder(url: string, lanes: readonly LaneName[]): (name: string) => number {
  const fingerprints = lanes.map((lane) => fingerprint(url, lane))
  return (name) => (laneFolder.test(name) ? fingerprints.indexOf(name.slice(0, 8)) : -1)
}

/** The severity of a file of records by its name; undefined for any other name. */
export function severityOfFile(name: string): Severity | undefined {
  const spelled = segmentFile.exec(name)?.[1]
  return spelled === undefined ? undefined : (severityNames.indexOf(spelled) as Severity)
}

/** True for a name that Sluice gives to files of records and to files of dead letters. */
export function isRecordFile(name: string): boolean {
  return segmentFile.test(name) || deadLetterFile.test(name)
}

export interface LaneFolderPlan {
  /** The folder of the spool. */
  readonly dir: string
  /** Of the service: an engine for another service does not take over these records. */
  readonly url: string
  readonly lane: LaneName
  /** Wait for the disk, so that a new folder survives a power cut. */
  readonly sync: boolean
  readonly files: Files
  readonly locks: Locks
}

/** The folder of one lane of an engine in a spool, with the lock on it: its own, or one that a dead engine has left. */
export class LaneFolder {
  readonly path: string
  readonly #lock: Lock
  readonly #files: Files
  #records = 0

  /** A folder whose lock this thread has taken. */
  constructor(path: string, { lock, files }: { readonly lock: Lock; readonly files: Files }) {
    this.path = path
    this.#lock = lock
    this.#files = files
  }

  /** Make a folder and take its lock. Throws what the file system does. */
  static make({ dir, url, lane, sync, files, locks }: LaneFolderPlan): LaneFolder {
    makeSpoolFolder(dir, files)
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const path = join(dir, `${fingerprint(url, lane)}-${randomBytes(6).toString('hex')}`)
      files.mkdirSync(path, { mode: 0o700 })
      try {
        const lock = locks.claim(lockOf(path), undefined)
        if (lock !== undefined) {
          if (sync) syncPath(dir, files)
          return new LaneFolder(path, { lock, files })
        }
      } catch (error) {
        // What cannot be removed now has no records: whoever looks next removes it.
        removeEmpty(path, files)
        throw error
      }
    }
    throw new Error('others take each folder as it is made')
  }

  /** Path of the next file of records. Each is used once. */
  nextFile(severity: Severity): string {
    return join(this.path, `${severityNames[severity]}-${String(++this.#records).padStart(6, '0')}.ndjson`)
  }

  /** Give a sign of life. False when the folder is gone, or another engine has taken it. Throws any other error of the file system. */
  touch(): boolean {
    return this.#lock.touch() && this.#lock.isHighest()
  }

  /** Give the lock back, and remove the folder if no records are in it. False when this thread may still hold the lock. Never throws. */
  release(): boolean {
    return removeEmpty(this.path, this.#files) || this.#lock.release()
  }
}

/** Remove a folder without records. False when that is impossible. Never throws. */
function removeEmpty(path: string, files: Files): boolean {
  try {
    const names = files.readdirSync(path)
    if (names.some((name) => name.endsWith('.ndjson'))) return false
    for (const name of names) if (needsNoKeeping(name)) files.unlinkSync(join(path, name))
    files.rmdirSync(path)
    return true
  } catch {
    // The folder has other files in it, or is gone, or the disk fails.
    return false
  }
}

/** True for locks, and for acknowledgements of files that are gone. */
function needsNoKeeping(name: string): boolean {
  return lockFile.test(name) || (name.endsWith('.acks') && isRecordFile(name.replace(/\.acks$/, '.ndjson')))
}
