import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { storeRecords } from '../../packages/receiver/test/stored-records.js'
import { measureReading } from '../support/reading-questions.js'
import { startReceiverProcess } from '../support/receiver-process.js'

// How long a page takes to be read over HTTP, by what is asked for. RECORDS=10000000 fills the store with ten million; DATA names a
// folder that keeps them for the next run.
const records = Number(process.env.RECORDS ?? 300_000)
const data = process.env.DATA ?? mkdtempSync(join(tmpdir(), 'sluice-benchmark-'))
const startedAt = performance.now()
await storeRecords(data, records)
const filledAt = performance.now()
const receiver = await startReceiverProcess(['--json', '--port', '0', '--data', data, '--new-key'])

// The first question waits for the text index: with ten million records longer than fetch has patience.
for (let patience = 10; ; patience--) {
  try {
    await fetch(`${receiver.url}/api/logs/demo?text=nothing`, { headers: { 'x-api-key': receiver.apiKey } })
    break
  } catch (error) {
    if (patience === 0) throw error
  }
}
const seconds = (/** @type {number} */ from, /** @type {number} */ to) => `${((to - from) / 1000).toFixed(0)} s`
process.stdout.write(
  `  ${records} records, stored in ${seconds(startedAt, filledAt)}, indexed in ${seconds(filledAt, performance.now())}\n`,
)
await measureReading(receiver, records)
await receiver.stop()
if (process.env.DATA === undefined) rmSync(data, { recursive: true })
