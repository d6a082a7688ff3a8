import { existsSync } from 'node:fs'
import { say } from '../../stderr.js'
import { openSqlite } from './database.js'
import { halfWay } from './first-version.js'
import { isOld, newestVersion, versionOf } from './migrations.js'
import { bytesOnDisk } from './store-bytes.js'

const progressMs = 2000

/** Opens the store. Where that upgrades its tables, which may take a minute, it says so on stderr: the begin, the progress and the end. */
export async function sayingUpgrade<Opened>(path: string, open: () => Promise<Opened>): Promise<Opened> {
  const from = versionAt(path)
  if (from === undefined || !isOld(from)) return open()
  say(`upgrading the store from version ${from === halfWay ? 1 : from} to ${newestVersion}: this may take a minute`)
  const begin = performance.now()
  const seconds = () => `${((performance.now() - begin) / 1000).toFixed(1)} s`
  const timer = setInterval(
    () => say(`upgrading for ${seconds()}, ${Math.round(bytesOnDisk(path) / 1_000_000)} MB on disk`),
    progressMs,
  )
  try {
    const opened = await open()
    say(`the store has version ${newestVersion} after ${seconds()}`)
    return opened
  } finally {
    clearInterval(timer)
  }
}

/** The version of the tables, or undefined where there are none. */
function versionAt(path: string): number | undefined {
  if (!existsSync(path)) return undefined
  const database = openSqlite(path)
  try {
    const isEmpty = database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined
    return isEmpty ? undefined : versionOf(database)
  } finally {
    database.close()
  }
}
