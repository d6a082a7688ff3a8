import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { record, recordWithContext, storeRecords } from '../../packages/receiver/test/stored-records.js'
import { measureQueries, measureReading } from '../support/reading-questions.js'
import { startReceiverProcess } from '../support/receiver-process.js'

// How long a page takes to be read over HTTP, by what is asked for: by the parameters of the API, and, of records with contexts, by queries.
// RECORDS=10000000 fills each store with ten million; DATA names a folder that keeps them for the next run. ONLY=parameters or ONLY=queries.
const records = Number(process.env.RECORDS ?? 300_000)
const data = process.env.DATA ?? mkdtempSync(join(tmpdir(), 'sluice-benchmark-'))
const parts = {
  parameters: { recordOf: record, measure: measureReading },
  queries: { recordOf: recordWithContext, measure: measureQueries },
}

for (const [name, { recordOf, measure }] of Object.entries(parts)) {
  if ((process.env.ONLY ?? name) !== name) continue
  const startedAt = performance.now()
  await storeRecords(join(data, name), records, recordOf)
  const filledAt = performance.now()
  const receiver = await startReceiverProcess(['--json', '--port', '0', '--data', join(data, name), '--new-key'])

  // The first question waits for the text index: with ten million records longer than a search may take.
  for (let status = 0; status !== 200; ) {
    const asked = await fetch(`${receiver.url}/api/logs/demo?text=nothing`, {
      headers: { 'x-api-key': receiver.apiKey },
    })
    status = asked.status
  }
  const seconds = (/** @type {number} */ from, /** @type {number} */ to) => `${((to - from) / 1000).toFixed(0)} s`
  process.stdout.write(
    `  ${records} records for ${name}, stored in ${seconds(startedAt, filledAt)}, indexed in ${seconds(filledAt, performance.now())}\n`,
  )
  await measure(receiver, records)
  await receiver.stop()
}
if (process.env.DATA === undefined) rmSync(data, { recursive: true })
