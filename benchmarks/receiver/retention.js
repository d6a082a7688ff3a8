import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Retention } from '../../packages/receiver/dist/retention/retention.js'
import { openSqlite } from '../../packages/receiver/dist/storage/sqlite/database.js'
import { ThreadedSqliteStorage } from '../../packages/receiver/dist/storage/sqlite/threaded-sqlite-storage.js'
import { storeRecords } from '../../packages/receiver/test/stored-records.js'
import { median } from '../support/per-call.js'

// Records that the store takes per second while it deletes old ones, against the same store while it does not.
const records = Number(process.env.RECORDS ?? 1_000_000)
const rounds = Number(process.env.ROUNDS ?? 5)
const writers = 64
const durationMs = 1500
const retainMs = 3_600_000

const data = mkdtempSync(join(tmpdir(), 'sluice-benchmark-'))
await storeRecords(data, records)
// They came in ten times that time: nine of ten are too old.
const database = openSqlite(join(data, 'receiver.sqlite'))
database.prepare('UPDATE records SET received_at = ?1 - ?2 + id * ?2 / ?3').run(Date.now(), 10 * retainMs, records)
database.close()
const storage = await ThreadedSqliteStorage.open(join(data, 'receiver.sqlite'))
let sent = 0

/** Records per second, and the longest time until one was on disk, in ms. */
async function write() {
  const begin = performance.now()
  let written = 0
  let longestMs = 0
  await Promise.all(
    Array.from({ length: writers }, async () => {
      while (performance.now() - begin < durationMs) {
        const since = performance.now()
        const record = { timeStamp: Date.now(), level: 'info', message: `order ${sent++} placed`, appName: 'benchmark' }
        await storage.records.append({ kind: 'logs', bucket: 'new', idempotencyKey: `${sent}`, record })
        longestMs = Math.max(longestMs, performance.now() - since)
        written++
      }
    }),
  )
  return { perSecond: (written * 1000) / (performance.now() - begin), longestMs }
}

const left = async () => (await storage.records.read({ kind: 'logs', bucket: 'demo', limit: 1 })).total
/** @type {{ plain: number, deleting: number, ratio: number, plainLongest: number, longest: number, deleted: number }[]} */
const results = []
for (let round = -1; round < rounds; round++) {
  const plain = await write()
  const before = await left()
  const retention = new Retention(storage.records, { retainMs })
  const since = performance.now()
  retention.start()
  const deleting = await write()
  await retention.stop()
  const deleted = ((before - (await left())) * 1000) / (performance.now() - since)
  if (deleted === 0) throw new Error('no record was left to delete: set RECORDS')
  if (round < 0) continue
  results.push({
    plain: plain.perSecond,
    deleting: deleting.perSecond,
    ratio: deleting.perSecond / plain.perSecond,
    plainLongest: plain.longestMs,
    longest: deleting.longestMs,
    deleted,
  })
}
const figure = (/** @type {keyof (typeof results)[number]} */ key) => median(results.map((result) => result[key]))
const most = (/** @type {keyof (typeof results)[number]} */ key) => Math.max(...results.map((result) => result[key]))
process.stdout.write(`  ${writers} writers                     alone   while old records are deleted
  records/s               ${figure('plain').toFixed(0).padStart(9)} ${figure('deleting').toFixed(0).padStart(9)}   ratio ${figure('ratio').toFixed(2)}, ${figure('deleted').toFixed(0)} records/s deleted
  longest write, in ms    ${most('plainLongest').toFixed(0).padStart(9)} ${most('longest').toFixed(0).padStart(9)}
`)
await storage.close()
rmSync(data, { recursive: true })
