import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Disk } from '../../../test/support/disk.js'
import { type Database, openSqlite } from '../dist/storage/sqlite/database.js'
import { halfWay } from '../dist/storage/sqlite/first-version.js'
import { newestVersion, versionOf } from '../dist/storage/sqlite/migrations.js'
import { fillFirstStore, recordsOf } from './first-store.js'
import { killAll, readyWith, startWith } from './processes.js'

let disk: Disk
let path: string
beforeEach(() => {
  disk = new Disk('500m')
  mkdirSync(disk.folder)
  path = join(disk.folder, 'receiver.sqlite')
})
afterEach(async () => {
  await killAll()
  disk.close()
})

function inDatabase<Result>(work: (database: Database) => Result): Result {
  const database = openSqlite(path)
  try {
    return work(database)
  } finally {
    database.close()
  }
}

/** Makes a store of version 1. */
function make(count: number) {
  return inDatabase((database) => {
    fillFirstStore(database, { count, messageLength: 230 })
    return recordsOf(database)
  })
}

function expectUpgraded(records: ReturnType<typeof make>): void {
  inDatabase((database) => {
    expect(versionOf(database)).toBe(newestVersion)
    expect(recordsOf(database)).toEqual(records)
    expect(database.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
    for (const table of ['lanes', 'counts WHERE step_ms = 0', 'counts WHERE step_ms = 60000']) {
      const sum = database.prepare(`SELECT sum(records) AS records FROM ${table}`).get()
      expect(sum).toEqual({ records: records.count })
    }
  })
}

/** The version of the tables and the number of their transactions, as they are in the file, whoever writes it. */
function stateOfFile() {
  const header = Buffer.alloc(100)
  const file = openSync(path, 'r')
  readSync(file, header)
  closeSync(file)
  return { version: header.readUInt32BE(60), changes: header.readUInt32BE(24) }
}

describe('the upgrade of a store of version 1', () => {
  it('needs half of its size more, with temporary files', async (context) => {
    if (!disk.mounted) {
      console.warn('SKIPPED: mounting is not permitted here (mount -t tmpfs)')
      return context.skip()
    }
    // SQLite writes what it sorts into temporary files when it is more than 64 MiB.
    const records = make(500_000)
    disk.fill(Math.floor(statSync(path).size / 2))
    const { child, exit } = startWith({ SQLITE_TMPDIR: disk.folder }, '--port', '0', '--data', disk.folder)
    const ready = once(child.stdout, 'data').then(() => 'ready')
    expect(await Promise.race([ready, exit])).toBe('ready')
    await killAll()
    expectUpgraded(records)
  })

  it('goes on after each SIGKILL, and loses nothing', async () => {
    const records = make(50_000)
    const versions: number[] = []
    for (const steps of [1, 2, 1, 3, 1, 2]) {
      const { changes } = stateOfFile()
      const { child, exit } = startWith({}, '--port', '0', '--data', disk.folder)
      const advanced = vi.waitUntil(() => stateOfFile().changes >= changes + steps, { interval: 1, timeout: 60_000 })
      await Promise.race([once(child.stdout, 'data'), advanced])
      child.kill('SIGKILL')
      await exit
      versions.push(stateOfFile().version)
    }
    expect(versions).toContain(halfWay)
    await readyWith({}, '--data', disk.folder)
    await killAll()
    expectUpgraded(records)
  })
})
