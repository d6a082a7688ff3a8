import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PostgresStorage } from '../../packages/receiver/dist/storage/postgres/postgres-storage.js'
import { termsOf } from '../../packages/receiver/dist/storage/postgres/record-terms.js'
import { ThreadedSqliteStorage } from '../../packages/receiver/dist/storage/sqlite/threaded-sqlite-storage.js'
import { record } from '../../packages/receiver/test/stored-records.js'
import { median } from '../support/per-call.js'
import { startPostgres } from '../support/postgres-server.js'
import { startReceiverProcess } from '../support/receiver-process.js'
import { recordsPerSecond } from '../support/record-load.js'

// Records that the store on PostgreSQL takes per second, against bare `pg` that writes the same rows into the same table in batches of 300 over as many
// connections; then, over HTTP, one receiver on SQLite, one on PostgreSQL, and two on PostgreSQL. Server, receivers and clients share the machine.
const rounds = Number(process.env.ROUNDS ?? 5)
const durationMs = 3000
const batch = 300
const connections = 4
const server = await startPostgres()

/** @param {(number: number) => Promise<unknown>} write stores the records of one batch, from a number on */
async function perSecond(write) {
  let [next, stored] = [0, 0]
  const end = performance.now() + durationMs
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < end) {
        const first = next
        next += batch
        await write(first)
        stored += batch
      }
    }),
  )
  return stored / ((durationMs + performance.now() - end) / 1000)
}

/** @param {import('../../packages/receiver/dist/storage/storage.js').Storage} storage */
const appends = (storage) => (/** @type {number} */ first) =>
  Promise.all(
    Array.from({ length: batch }, (_, index) =>
      storage.records.append({
        kind: 'logs',
        bucket: 'demo',
        idempotencyKey: randomUUID(),
        record: record(first + index),
      }),
    ),
  )

/**
 * Writes the rows of a batch and nothing else: no counts, names or spans.
 *
 * @param {string} database
 * @param {{ withKeys: boolean }} options also the rows of the idempotency keys, in the same transaction
 */
async function bareWriter(database, { withKeys }) {
  server.create(database)
  const opened = await PostgresStorage.open(server.url(database))
  const { servers } = opened
  const lane = { kind: /** @type {const} */ ('logs'), bucket: 'demo' }
  let id = Math.floor((opened.nowMs() - 1_704_067_200_000) * 8192)
  const write = async (/** @type {number} */ first) => {
    const rows = Array.from({ length: batch }, (_, index) => record(first + index))
    const client = await servers.connect()
    if (withKeys) {
      await client.query('BEGIN')
      await client.query(
        `INSERT INTO sluice_attempts SELECT 'demo', 'logs', key, result, $1 FROM unnest($2::text[], $3::text[]) AS rows (key, result)
           ON CONFLICT DO NOTHING`,
        [opened.nowMs(), rows.map(() => randomUUID()), rows.map((_, index) => String(id + index))],
      )
    }
    await client.query(
      `INSERT INTO sluice_records SELECT 'demo', 'logs', id, $2, time_ms, value, terms, record
         FROM unnest($1::bigint[], $3::float8[], $4::text[], $5::text[], $6::text[]) AS rows (id, time_ms, value, terms, record)`,
      [
        rows.map(() => id++),
        opened.nowMs(),
        rows.map(({ timeStamp }) => timeStamp),
        rows.map(({ level }) => JSON.stringify(level)),
        rows.map((each) => termsOf(lane, each)),
        rows.map((each) => JSON.stringify(each)),
      ],
    )
    if (withKeys) await client.query('COMMIT')
    client.release()
  }
  return { write, close: () => opened.close() }
}

const bare = await bareWriter('bare', { withKeys: false })
const keyed = await bareWriter('keyed', { withKeys: true })
server.create('store')
const postgres = await PostgresStorage.open(server.url('store'))
const folder = mkdtempSync(join(tmpdir(), 'sluice-benchmark-'))
const sqlite = await ThreadedSqliteStorage.open(join(folder, 'receiver.sqlite'))
/** @type {{ bare: number, keyed: number, postgres: number, sqlite: number }[]} */
const stores = []
for (let round = -1; round < rounds; round++) {
  const result = {
    bare: await perSecond(bare.write),
    keyed: await perSecond(keyed.write),
    postgres: await perSecond(appends(postgres)),
    sqlite: await perSecond(appends(sqlite)),
  }
  if (round >= 0) stores.push(result)
}
const middle = (/** @type {(result: typeof stores[number]) => number} */ of) => median(stores.map(of))
const line = (/** @type {string} */ name, /** @type {number} */ rate, /** @type {number} */ ratio, note = '') =>
  process.stdout.write(`  ${name.padEnd(46)}${rate.toFixed(0).padStart(10)}${ratio.toFixed(2).padStart(8)}${note}\n`)
process.stdout.write(
  `  ${'records/s into the store, without HTTP'.padEnd(46)}${''.padStart(10)}${'ratio'.padStart(8)}\n`,
)
line(
  'bare pg, batches of 300, 4 connections',
  middle((each) => each.bare),
  1,
)
line(
  'the same with the rows of the keys',
  middle((each) => each.keyed),
  middle((each) => each.keyed / each.bare),
)
line(
  'the store on PostgreSQL',
  middle((each) => each.postgres),
  middle((each) => each.postgres / each.bare),
  '   (budget ≥ 0.6)',
)
line(
  'the store on SQLite',
  middle((each) => each.sqlite),
  middle((each) => each.sqlite / each.bare),
)
await Promise.all([bare.close(), keyed.close(), postgres.close(), sqlite.close()])

const load = { connections: 16, depth: 16, durationMs }
const onFolder = await startReceiverProcess(['--json', '--port', '0', '--data', join(folder, 'http')])
server.create('http')
const shared = ['--json', '--port', '0', '--database', server.url('http'), '--new-key']
const [one, other] = [await startReceiverProcess(shared), await startReceiverProcess(shared)]
/** @type {{ sqlite: number, one: number, two: number }[]} */
const received = []
for (let round = -1; round < rounds; round++) {
  const result = {
    sqlite: await recordsPerSecond(onFolder, load),
    one: await recordsPerSecond(one, load),
    two: (await Promise.all([recordsPerSecond(one, load), recordsPerSecond(other, load)])).reduce(
      (sum, each) => sum + each,
      0,
    ),
  }
  if (round >= 0) received.push(result)
}
const half = (/** @type {(result: typeof received[number]) => number} */ of) => median(received.map(of))
process.stdout.write(`  ${'records/s over HTTP, 16 connections × 16'.padEnd(46)}\n`)
line(
  'one receiver on SQLite',
  half((each) => each.sqlite),
  1,
)
line(
  'one receiver on PostgreSQL',
  half((each) => each.one),
  half((each) => each.one / each.sqlite),
)
line(
  'two receivers on PostgreSQL',
  half((each) => each.two),
  half((each) => each.two / each.sqlite),
)
await Promise.all([onFolder.stop(), one.stop(), other.stop()])
server.stop()
rmSync(folder, { recursive: true })
