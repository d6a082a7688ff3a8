import { createHash, randomBytes } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { LaneName } from '../delivery/ledger.js'
import type { Severity } from '../records/level.js'
import { deadLetterFile } from './dead-letters.js'
import { Lock, lockFile, lockOf } from './lock.js'
import { makeSpoolFolder } from './spool-folder.js'

/** Names of the severities in the names of files. */
const severityNames = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'value'] as const
const newFolder = /^\.new-[0-9a-f]{8}-[0-9a-f]{12}$/
export const engineFolder = /^[0-9a-f]{8}-[0-9a-f]{12}$/
export const segmentFile = /^(?:trace|debug|info|warn|error|fatal|value)-([0-9a-f]{8})-[0-9a-f]{12}-\d{6,}\.ndjson$/

/** Eight digits that stand for a service or a bucket in the name of a folder or file. */
export function fingerprint(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8)
}

/** What can be told of a segment by its name; undefined for the name of anything else. */
export function segmentName(name: string): { readonly bucket: string; readonly severity: Severity } | undefined {
  const bucket = segmentFile.exec(name)?.[1]
  const severity = severityNames.findIndex((each) => name.startsWith(`${each}-`)) as Severity
  return bucket === undefined ? undefined : { bucket, severity }
}

/** The folder of one engine in a spool, and its lock. */
export class EngineFolder {
  readonly path: string
  readonly #id: string
  readonly #lock: Lock
  #segments = 0

  /**
   * Throws what the file system does.
   *
   * @param url of the service: nobody adopts records that were meant for another one
   */
  constructor(spoolDir: string, url: string) {
    this.#id = randomBytes(6).toString('hex')
    const name = `${fingerprint(url)}-${this.#id}`
    this.path = join(spoolDir, name)
    const unready = join(spoolDir, `.new-${name}`)
    makeSpoolFolder(spoolDir)
    mkdirSync(unready, { mode: 0o700 })
    try {
      // It gets its name together with its lock: what has a name and no lock is free for everybody.
      const lock = Lock.claim(lockOf(unready), undefined)
      if (lock === undefined) throw new Error(`${unready} is locked`)
      renameSync(unready, this.path)
      this.#lock = lock.renamed(lockOf(this.path))
    } catch (error) {
      removeFolder(unready)
      throw error
    }
  }

  /** Path of the next segment: its name tells severity, bucket and engine, and is used only once. */
  nextSegment({ bucket }: LaneName, severity: Severity): string {
    const number = String(++this.#segments).padStart(6, '0')
    return join(this.path, `${severityNames[severity]}-${fingerprint(bucket)}-${this.#id}-${number}.ndjson`)
  }

  /** Give a sign of life; false when the folder is gone. Throws what else the file system says. */
  touch(): boolean {
    return this.#lock.touch()
  }

  /** Leave the folder to whoever comes next; without records nothing is left of it. */
  release(): void {
    releaseFolder(this.path, this.#lock)
  }
}

/** Let go of a folder, and take it away when it has no segment. */
export function releaseFolder(path: string, lock: Lock): void {
  try {
    const names = readdirSync(path)
    if (!names.some((name) => name.endsWith('.ndjson'))) {
      for (const name of names) if (needsNoKeeping(name)) unlinkSync(join(path, name))
      rmdirSync(path)
      return
    }
  } catch {
    // Somebody is in it, or it is gone.
  }
  lock.release()
}

/** Of a folder without records: locks, and acknowledgements of what was there. */
function needsNoKeeping(name: string): boolean {
  const segment = name.replace(/\.acks$/, '.ndjson')
  return lockFile.test(name) || (segment !== name && isRecordFile(segment))
}

/** True for a name that Sluice gives to files with records. */
export function isRecordFile(name: string): boolean {
  return segmentFile.test(name) || deadLetterFile.test(name)
}

/** A folder gets its lock at once. */
const forgottenAfterMs = 60_000

/** Folders that got no name, because whoever made them died over it. */
export function removeUnnamed(spoolDir: string): void {
  for (const name of readdirSync(spoolDir)) {
    if (!newFolder.test(name)) continue
    const path = join(spoolDir, name)
    try {
      const holder = Lock.holderOf(lockOf(path))
      const forgotten = holder === undefined && Date.now() - lstatSync(path).mtimeMs > forgottenAfterMs
      if (holder?.state === 'dead' || forgotten) removeFolder(path)
    } catch {}
  }
}

/** A folder that got no name: it has locks and nothing else, or it stays. Never throws. */
function removeFolder(path: string): void {
  try {
    if (!lstatSync(path).isDirectory()) return
    for (const name of readdirSync(path)) if (lockFile.test(name)) unlinkSync(join(path, name))
    rmdirSync(path)
  } catch {
    // The next engine that looks finds it again.
  }
}
