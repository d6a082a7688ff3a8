import { randomBytes } from 'node:crypto'
import { lstatSync, readdirSync, renameSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { pause } from '../../http/requester.js'
import type { Clock } from '../../runtime/clock.js'
import { nodeFiles } from '../../runtime/files.js'
import { faultOfFile } from '../../runtime/plain-file.js'
import { deadLetterFolder } from '../../spool/dead-letters.js'
import { isRecordFile, LaneFolder, laneFolder, severityOfFile } from '../../spool/lane-folder.js'
import { type Holder, lockFile, lockOf, machineLocks, signIntervalMs } from '../../spool/lock.js'

/** A running holder gives a sign of life within this time. */
const patienceMs = 1.5 * signIntervalMs

/** The message about a folder that cannot be locked. */
export interface Refusal {
  readonly refused: string
}

/** Locked folders of lanes, or a locked folder of dead letters. */
export class SpoolFolders {
  /** The files with records, by folder. */
  readonly files: readonly string[]
  readonly #held: readonly LaneFolder[]

  private constructor(held: readonly LaneFolder[], say: (text: string) => void) {
    this.#held = held
    this.files = held.flatMap(({ path }) => filesOf(path, say).map((name) => heldFile(path, name)))
  }

  /**
   * Lock a folder and every folder with records in it. Throws the errors of the file system.
   *
   * @param say prints why locking takes a while, and which files are left alone
   */
  static async hold(
    dir: string,
    { clock, say }: { clock: Clock; say: (text: string) => void },
  ): Promise<SpoolFolders | Refusal> {
    const held: LaneFolder[] = []
    for (const path of foldersOf(resolve(dir))) {
      const holder = machineLocks.holderOf(lockOf(path))
      const lives = await livingHolder(path, { holder, clock, say })
      const lock = lives === undefined ? machineLocks.claim(lockOf(path), holder) : undefined
      if (lock === undefined) {
        for (const each of held) each.release()
        return {
          refused: `${path} belongs to ${lives ?? 'another process that was faster'}: its records are being delivered`,
        }
      }
      held.push(new LaneFolder(path, { lock, files: nodeFiles }))
    }
    return new SpoolFolders(held, say)
  }

  /** Give a sign of life in every lock. */
  touch(): void {
    for (const folder of this.#held) folder.touch()
  }

  release(): void {
    for (const folder of this.#held) folder.release()
  }
}

function foldersOf(dir: string): string[] {
  const names = readdirSync(dir)
  const paths = names.filter((name) => laneFolder.test(name)).map((name) => join(dir, name))
  // Links are left out: they may lead to another spool, or back to this one.
  const lanes = paths.filter((path) => lstatSync(path).isDirectory())
  const own = names.some((name) => name.endsWith('.ndjson') || lockFile.test(name)) ? [dir] : []
  return [...own, ...lanes]
}

/** A text about the running holder of a folder. Undefined when there is none. */
async function livingHolder(
  folder: string,
  { holder, clock, say }: { holder: Holder | undefined; clock: Clock; say: (text: string) => void },
): Promise<string | undefined> {
  if (holder === undefined || holder.state === 'dead') return undefined
  const { owner } = holder
  const words = owner === undefined ? 'a process' : `process ${owner.pid} of ${owner.host}`
  if (holder.state === 'alive') return `${words}, which is running`
  say(`waiting ${patienceMs / 1000} s to see whether ${words} still runs, which holds ${folder}`)
  await pause(clock, { ms: patienceMs })
  const later = machineLocks.holderOf(lockOf(folder))
  return later === undefined || later.sign === holder.sign ? undefined : `${words}, which is running`
}

/**
 * The names of the files with records in a folder: the most severe first, then in the order in which they were written. Only names that
 * Sluice gives, because delivered files are removed.
 *
 * @param say prints which files are left alone
 */
export function filesOf(folder: string, say: (text: string) => void): string[] {
  const names = readdirSync(folder).filter((name) => {
    if (!name.endsWith('.ndjson')) return false
    const path = join(folder, name)
    const fault = isRecordFile(name) ? faultOfFile(path) : 'has no name that Sluice gives'
    if (fault !== undefined) say(`${path} ${fault}: it is left alone`)
    return fault === undefined
  })
  const severity = (name: string) => severityOfFile(name) ?? 0
  return names.sort((a, b) => severity(b) - severity(a) || (a < b ? -1 : 1))
}

/** The path of a file in a locked folder. */
function heldFile(folder: string, name: string): string {
  return join(folder, basename(folder) === deadLetterFolder ? setAside(folder, name) : name)
}

/** Rename a file of dead letters, so that an engine that is running begins another file instead of adding to this one. */
function setAside(folder: string, name: string): string {
  if (name.includes(asideMark)) return name
  const aside = name.replace(/\.ndjson$/, `${asideMark}${randomBytes(4).toString('hex')}.ndjson`)
  renameSync(join(folder, name), join(folder, aside))
  return aside
}

const asideMark = '.replay-'
