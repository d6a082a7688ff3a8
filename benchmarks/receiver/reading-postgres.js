import { record, recordWithContext, storeRecordsInDatabase } from '../../packages/receiver/test/stored-records.js'
import { startPostgres } from '../support/postgres-server.js'
import { measureQueries, measureReading } from '../support/reading-questions.js'
import { startReceiverProcess } from '../support/receiver-process.js'

// The questions of receiver/reading to a receiver over PostgreSQL, with the records of ten days. RECORDS=10000000 for ten million; DATA names a folder
// that keeps them for the next run.
const records = Number(process.env.RECORDS ?? 300_000)
const parts = {
  parameters: { recordOf: record, measure: measureReading },
  queries: { recordOf: recordWithContext, measure: measureQueries },
}
const server = await startPostgres()
for (const [name, { recordOf, measure }] of Object.entries(parts)) {
  if ((process.env.ONLY ?? name) !== name) continue
  server.create(name)
  const startedAt = performance.now()
  await storeRecordsInDatabase(server.url(name), records, recordOf)
  const origin =
    process.env.DATA === undefined ? `stored in ${((performance.now() - startedAt) / 1000).toFixed(0)} s` : 'kept'
  process.stdout.write(`  ${records} records for ${name}, ${origin}\n`)
  const receiver = await startReceiverProcess(['--json', '--port', '0', '--database', server.url(name), '--new-key'])
  await measure(receiver, records)
  await receiver.stop()
}
server.stop()
