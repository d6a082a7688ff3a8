import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { LaneName } from '../delivery/ledger.js'
import type { Severity } from '../records/level.js'
import { type Files, nodeFiles } from '../runtime/files.js'
import { deadLetterFile } from './dead-letters.js'
import { type Lock, type Locks, lockFile, lockOf } from './lock.js'
import { makeSpoolFolder } from './spool-folder.js'

/** Severities as file names spell them. */
const severityNames = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'value'] as const
const newFolder = /^\.new-[0-9a-f]{8}-[0-9a-f]{12}$/
export const engineFolder = /^[0-9a-f]{8}-[0-9a-f]{12}$/
const segmentFile = /^(?:trace|debug|info|warn|error|fatal|value)-([0-9a-f]{8})-[0-9a-f]{12}-\d{6,}\.ndjson$/

/** Eight digits that stand for a service or a bucket in names of folders and files. */
export function fingerprint(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8)
}

/** The bucket's fingerprint and the severity in the name of a segment; undefined for any other name. */
export function segmentName(name: string): { readonly bucket: string; readonly severity: Severity } | undefined {
  const bucket = segmentFile.exec(name)?.[1]
  const severity = severityNames.findIndex((each) => name.startsWith(`${each}-`)) as Severity
  return bucket === undefined ? undefined : { bucket, severity }
}

export interface EngineFolderPlan {
  /** The folder of the spool. */
  readonly dir: string
  /** Of the service: an engine for another service does not adopt these records. */
  readonly url: string
  readonly files: Files
  readonly locks: Locks
}

/** The folder of one engine in a spool, and its lock. */
export class EngineFolder {
  readonly path: string
  readonly #id: string
  readonly #lock: Lock
  readonly #files: Files
  #segments = 0

  /** Throws what the file system does. */
  constructor({ dir, url, files, locks }: EngineFolderPlan) {
    this.#files = files
    this.#id = randomBytes(6).toString('hex')
    const name = `${fingerprint(url)}-${this.#id}`
    this.path = join(dir, name)
    const unready = join(dir, `.new-${name}`)
    makeSpoolFolder(dir, files)
    files.mkdirSync(unready, { mode: 0o700 })
    try {
      // The folder gets its lock before its name: a named folder without a lock is free for every engine.
      const lock = locks.claim(lockOf(unready), undefined)
      if (lock === undefined) throw new Error(`${unready} is locked`)
      files.renameSync(unready, this.path)
      this.#lock = lock.renamed(lockOf(this.path))
    } catch (error) {
      removeFolder(unready, files)
      throw error
    }
  }

  /** Path of the next segment. Its name contains severity, bucket and engine, and is used only once. */
  nextSegment({ bucket }: LaneName, severity: Severity): string {
    const number = String(++this.#segments).padStart(6, '0')
    return join(this.path, `${severityNames[severity]}-${fingerprint(bucket)}-${this.#id}-${number}.ndjson`)
  }

  /** Give a sign of life. False when the folder is gone. Throws any other error of the file system. */
  touch(): boolean {
    return this.#lock.touch()
  }

  /** Leave the folder to the next engine. A folder without records is removed. */
  release(): void {
    releaseFolder(this.path, { lock: this.#lock, files: this.#files })
  }
}

/** Release a folder, and remove it if it has no segment. */
export function releaseFolder(
  path: string,
  { lock, files = nodeFiles }: { readonly lock: Lock; readonly files?: Files },
): void {
  try {
    const names = files.readdirSync(path)
    if (!names.some((name) => name.endsWith('.ndjson'))) {
      for (const name of names) if (needsNoKeeping(name)) files.unlinkSync(join(path, name))
      files.rmdirSync(path)
      return
    }
  } catch {
    // The folder has other files in it, or is gone.
  }
  lock.release()
}

/** True for locks, and for acknowledgements of segments that are gone. */
function needsNoKeeping(name: string): boolean {
  const segment = name.replace(/\.acks$/, '.ndjson')
  return lockFile.test(name) || (segment !== name && isRecordFile(segment))
}

/** True for a name that Sluice gives to segments and to files of dead letters. */
export function isRecordFile(name: string): boolean {
  return segmentFile.test(name) || deadLetterFile.test(name)
}

/** A new folder gets its lock at once. An older one without a lock was left by an engine that died. */
const forgottenAfterMs = 60_000

/** Remove folders that never got their name, because the engine died before. */
export function removeUnnamed(
  spoolDir: string,
  { files, locks, wallClock }: { readonly files: Files; readonly locks: Locks; readonly wallClock: () => number },
): void {
  for (const name of files.readdirSync(spoolDir)) {
    if (!newFolder.test(name)) continue
    const path = join(spoolDir, name)
    try {
      const holder = locks.holderOf(lockOf(path))
      const forgotten = holder === undefined && wallClock() - files.lstatSync(path).mtimeMs > forgottenAfterMs
      if (holder?.state === 'dead' || forgotten) removeFolder(path, files)
    } catch {}
  }
}

/** Remove a folder with nothing but locks in it. Never throws. */
function removeFolder(path: string, files: Files): void {
  try {
    if (!files.lstatSync(path).isDirectory()) return
    for (const name of files.readdirSync(path)) if (lockFile.test(name)) files.unlinkSync(join(path, name))
    files.rmdirSync(path)
  } catch {
    // The next engine that looks finds the folder again.
  }
}
