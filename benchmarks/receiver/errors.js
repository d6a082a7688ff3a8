import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { request } from 'undici'
import { firstTime, storeRecords, storeRecordsInDatabase } from '../../packages/receiver/test/stored-records.js'
import { median } from '../support/per-call.js'
import { startPostgres } from '../support/postgres-server.js'
import { startReceiverProcess } from '../support/receiver-process.js'

// How long the errors of a bucket take by their kind over HTTP: one million of 5,000 kinds, all of them or those since a time. RECORDS is another
// number of them; DATA names a folder that keeps them for the next run. The time to store them is written, too.
const records = Number(process.env.RECORDS ?? 1_000_000)
const kinds = 5000
const rounds = Number(process.env.ROUNDS ?? 30)
/** Time from each error to the next, in ms: a million of them in a week. */
const msPerError = 600
const endTime = firstTime + records * msPerError

const letters = 'abcdefghijklmnopqrstuvwxyz'
/** A word for a number, as numbers make no kind. @param {number} number */
const wordOf = (number) =>
  [number % 26, Math.floor(number / 26) % 26, Math.floor(number / 676)].map((at) => letters[at]).join('')

/** Some kinds are more frequent than others; each belongs to one service, and most began with an earlier version. @param {number} number */
function error(number) {
  const scattered = ((number * 2_654_435_761) % 4_294_967_296) / 4_294_967_296
  const kind = number < kinds ? number : Math.floor(scattered * scattered * kinds)
  const version = Math.floor((number / records) * 4)
  const name = wordOf(kind)
  return {
    timeStamp: firstTime + number * msPerError,
    level: 'error',
    message: `request ${number} failed {"order":${number}}\nTypeError: order ${number} of ${name} is not valid
    at ${name} (/srv/shop/src/orders/${name}.js:${number % 100}:7)
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)
    at async handle (/srv/shop/node_modules/server/index.js:31:5)`,
    appName: ['shop', 'jobs', 'mail', 'search', 'admin'][kind % 5] ?? '',
    machineName: `m${number % 16}`,
    env: number % 7 === 0 ? 'staging' : 'production',
    appVersion: `1.${version}`,
  }
}

/** @type {readonly (readonly [string, string])[]} */
const questions = [
  ['all of them', ''],
  ...['1h', '24h', '72h'].map((ago) => {
    const hours = Number.parseInt(ago, 10)
    return /** @type {const} */ ([
      `since the last ${ago}`,
      `?since=${new Date(endTime - hours * 3_600_000 - 1_234_567).toISOString()}`,
    ])
  }),
  ['of one service and environment', '?app=shop&env=production'],
  ['1,000 kinds', '?limit=1000'],
]

/** @param {{ url: string, apiKey: string }} receiver @param {string} name */
async function measure({ url, apiKey }, name) {
  // The first search waits for the text index, whose making takes the same thread.
  for (let status = 0; status !== 200; ) {
    const { statusCode, body } = await request(`${url}/api/logs/demo?text=nothing`, {
      headers: { 'x-api-key': apiKey },
    })
    await body.dump()
    status = statusCode
  }
  process.stdout.write(
    `  ${name.padEnd(44)}${['median', 'slowest'].map((cell) => cell.padStart(10)).join('')}   (budget 50 ms)\n`,
  )
  for (const [title, query] of questions) {
    /** @type {number[]} */
    const times = []
    let total = 0
    for (let round = -2; round < rounds; round++) {
      const begin = performance.now()
      const { statusCode, body } = await request(`${url}/api/logs/demo/errors${query}`, {
        headers: { 'x-api-key': apiKey },
      })
      const answer = /** @type {{ total: number }} */ (await body.json())
      if (statusCode !== 200) throw new Error(`${query} answered ${statusCode}`)
      if (round >= 0) times.push(performance.now() - begin)
      total = answer.total
    }
    const cells = [median(times), Math.max(...times)].map((ms) => ms.toFixed(1).padStart(10))
    process.stdout.write(`  ${`${title}: ${total} kinds`.padEnd(44)}${cells.join('')}\n`)
  }
}

/** @param {string} name @param {() => Promise<unknown>} store */
async function stored(name, store) {
  const begin = performance.now()
  await store()
  const seconds = (performance.now() - begin) / 1000
  process.stdout.write(`  ${name}: ${records} errors stored in ${seconds.toFixed(0)} s\n`)
}

const data = process.env.DATA ?? mkdtempSync(join(tmpdir(), 'sluice-benchmark-'))
await stored('SQLite', () => storeRecords(data, records, error))
const onFolder = await startReceiverProcess(['--json', '--port', '0', '--data', data, '--new-key'])
await measure(onFolder, 'SQLite')
await onFolder.stop()
if (process.env.DATA === undefined) rmSync(data, { recursive: true })

if (existsSync('/usr/lib/postgresql')) {
  const server = await startPostgres()
  server.create('errors')
  await stored('PostgreSQL', () => storeRecordsInDatabase(server.url('errors'), records, error))
  const onDatabase = await startReceiverProcess([
    '--json',
    '--port',
    '0',
    '--database',
    server.url('errors'),
    '--new-key',
  ])
  await measure(onDatabase, 'PostgreSQL')
  await onDatabase.stop()
  server.stop()
}
