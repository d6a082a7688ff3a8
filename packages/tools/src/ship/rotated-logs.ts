import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { identityOf } from './open-log.js'

/** A file that may have had the name of a log. */
export interface RotatedLog {
  readonly path: string
  readonly identity: string
  /** In milliseconds since 1970. */
  readonly changedAt: number
  readonly isCompressed: boolean
}

/**
 * The files beside a log whose names begin with its name, as those of logrotate do: the oldest first. Rejects with the error of the file system.
 *
 * @param logs absolute paths of files that are logs themselves
 */
export async function rotatedLogs(log: string, logs: ReadonlySet<string>): Promise<RotatedLog[]> {
  const folder = dirname(resolve(log))
  const paths = (await readdir(folder))
    .filter((name) => name.startsWith(basename(log)) && name !== basename(log))
    .map((name) => join(folder, name))
  const found = await Promise.all(paths.filter((path) => !logs.has(path)).map(rotatedLog))
  return found.filter((each) => each !== undefined).sort((a, b) => a.changedAt - b.changedAt)
}

async function rotatedLog(path: string): Promise<RotatedLog | undefined> {
  // It may go meanwhile.
  const facts = await stat(path, { bigint: true }).catch(() => undefined)
  if (!facts?.isFile()) return undefined
  const isCompressed = /\.(gz|bz2|xz|zst|lz4|zip)$/.test(path)
  return { path, identity: identityOf(facts), changedAt: Number(facts.mtimeMs), isCompressed }
}
