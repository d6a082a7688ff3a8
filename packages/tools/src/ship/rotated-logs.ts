import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { identityOf } from './open-log.js'

/** A file that may have had the name of a log. */
export interface RotatedLog {
  readonly path: string
  readonly identity: string
  /** In milliseconds since 1970. */
  readonly changedAt: number
  readonly isCompressed: boolean
}

/** The files beside a log whose names begin with its name, as those of logrotate do: the oldest first. Rejects with the error of the file system. */
export async function rotatedLogs(log: string): Promise<RotatedLog[]> {
  const folder = dirname(log)
  const names = (await readdir(folder)).filter((name) => name.startsWith(basename(log)) && name !== basename(log))
  const found = await Promise.all(names.map((name) => rotatedLog(join(folder, name))))
  return found.filter((each) => each !== undefined).sort((a, b) => a.changedAt - b.changedAt)
}

async function rotatedLog(path: string): Promise<RotatedLog | undefined> {
  // It may go meanwhile.
  const facts = await stat(path, { bigint: true }).catch(() => undefined)
  if (!facts?.isFile()) return undefined
  const isCompressed = /\.(gz|bz2|xz|zst|lz4|zip)$/.test(path)
  return { path, identity: identityOf(facts), changedAt: Number(facts.mtimeMs), isCompressed }
}
