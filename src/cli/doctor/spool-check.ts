import { randomBytes } from 'node:crypto'
import { existsSync, lstatSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { lanesOf } from '../../engine/engine-setting.js'
import { counted } from '../../errors/counted.js'
import { describeError } from '../../http/describe-error.js'
import type { ResolvedOptions } from '../../options/options.js'
import { deadLetterFolder } from '../../spool/dead-letters.js'
import { isRecordFile, laneFinder, laneFolder } from '../../spool/lane-folder.js'
import { lockOf, machineLocks } from '../../spool/lock.js'
import { currentUser, spoolFolderFault } from '../../spool/spool-folder.js'
import { bad, type Finding, good, skipped } from './finding.js'

/** Check that the spool can be written, and list the files in it. No file is changed. */
export async function* checkSpool(options: ResolvedOptions): AsyncGenerator<Finding> {
  const { spoolDir, spoolMaxBytes, url } = options
  if (spoolDir === undefined) {
    yield skipped('spool', 'off; set SLUICE_SPOOL_DIR to a folder in which records survive the process')
    return
  }
  const dir = resolve(spoolDir)
  const advice = `the application's user needs to read and write ${dir}`
  const facts = lstatSync(dir, { throwIfNoEntry: false })
  const fault = facts?.isDirectory() || facts?.isSymbolicLink() ? spoolFolderFault(facts, currentUser()) : undefined
  if (fault !== undefined) {
    yield bad('spool', { text: `${dir} ${fault}`, advice: 'until this is corrected, records are held in memory only' })
    return
  }
  const inTheWay = existingAbove(dir)
  if (!statSync(inTheWay).isDirectory()) {
    yield bad('spool', { text: `${inTheWay} is no folder`, advice: 'name a folder in SLUICE_SPOOL_DIR' })
    return
  }
  try {
    const free = await freeBytes(dir)
    const isThere = existsSync(dir)
    tryToWrite(existingAbove(dir))
    const text = `${dir} ${isThere ? 'can be written' : 'will be created'}, ${bytesText(free)} free`
    if (free >= spoolMaxBytes) yield good('spool', text)
    else
      yield bad('spool', {
        text,
        advice: `free space on the disk, or lower SLUICE_SPOOL_MAX_BYTES (${bytesText(spoolMaxBytes)})`,
      })
    if (!isThere) return
    yield* checkBacklog(dir, laneFinder(url, lanesOf(options)))
  } catch (error) {
    yield bad('spool', { text: describeError(error), advice })
  }
}

/** @param laneOf finds the lane of a folder by its name; -1 for that of another service or bucket */
function* checkBacklog(dir: string, laneOf: (name: string) => number): Generator<Finding> {
  const left = { files: 0, bytes: 0 }
  const foreign = { files: 0, bytes: 0 }
  let living = 0
  for (const name of readdirSync(dir).filter((name) => laneFolder.test(name))) {
    const folder = join(dir, name)
    if (!lstatSync(folder).isDirectory()) continue
    const held = machineLocks.holderOf(lockOf(folder))
    if (held?.state === 'alive') living++
    else add(laneOf(name) === -1 ? foreign : left, folder)
  }
  const users = living === 0 ? '' : `; ${living} in use`
  yield left.files === 0
    ? good('backlog', `none${users}`)
    : good(
        'backlog',
        `${filesText(left)} of processes that have ended: the next process sends them, or sluice replay ${dir}${users}`,
      )
  if (foreign.files > 0) {
    const senders = `a process with these sends them; if the URL was wrong, sluice replay ${dir} sends them to this service`
    yield skipped('other service', `${filesText(foreign)} for another SLUICE_URL or bucket: ${senders}`)
  }
  const letters = { files: 0, bytes: 0 }
  const deadLetters = join(dir, deadLetterFolder)
  if (existsSync(deadLetters)) add(letters, deadLetters)
  if (letters.files === 0) return
  const text = `${filesText(letters)} of records that the service has rejected`
  yield bad('dead letters', {
    text,
    advice: `sluice replay ${dir} --list shows the reasons; then correct them and run sluice replay ${deadLetters}, or drop them`,
  })
}

function add(sum: { files: number; bytes: number }, folder: string): void {
  for (const name of readdirSync(folder).filter(isRecordFile)) {
    const facts = lstatSync(join(folder, name))
    if (!facts.isFile()) continue
    sum.files++
    sum.bytes += facts.size
  }
}

function tryToWrite(dir: string): void {
  readdirSync(dir)
  const path = join(dir, `.doctor-${randomBytes(6).toString('hex')}`)
  try {
    writeFileSync(path, 'sluice doctor\n', { flag: 'wx', mode: 0o600 })
  } finally {
    rmSync(path, { force: true })
  }
}

async function freeBytes(dir: string): Promise<number> {
  const { bavail, bsize } = await statfs(existingAbove(dir))
  return bavail * bsize
}

function existingAbove(path: string): string {
  let folder = path
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder)
  return folder
}

function filesText({ files, bytes }: { readonly files: number; readonly bytes: number }): string {
  return `${counted(files, 'file')}, ${bytesText(bytes)},`
}

/** A number of bytes with a unit, for messages. */
function bytesText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** power
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${units[power]}`
}
