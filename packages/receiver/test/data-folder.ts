import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { type Database, openSqlite } from '../dist/storage/sqlite/database.js'

/** A data folder per test, removed after it. */
export function dataFolder() {
  let path = ''
  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), 'receiver-test-'))
  })
  afterEach(() => rm(path, { recursive: true }))
  return {
    get path() {
      return path
    },
    file: (name: string) => join(path, name),
    /** Reads or changes the database beside the receiver. */
    inDatabase<Result>(work: (database: Database) => Result): Result {
      const database = openSqlite(join(path, 'receiver.sqlite'))
      try {
        return work(database)
      } finally {
        database.close()
      }
    },
  }
}
