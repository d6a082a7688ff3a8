import { createSluice } from 'sluice'
import { Pool } from 'undici'
import { compare, perRecord, printMedians, startServer } from '../support/measure.js'

// Delivery with the undici sender against bare undici requests on as many connections: what do queue, ledger and retries cost?
const records = 20_000
const server = await startServer()
/** @type {import('sluice').SluiceOptions & { url: string, maxConnections: number }} */
const destination = { url: server.url, apiKey: 'benchmark', bucket: 'b', maxConnections: 32, pipelining: 'off' }
const sluice = createSluice(destination)
const pool = new Pool(server.url, { connections: destination.maxConnections })

const medians = await compare({
  'bare undici.request, 32 connections': () =>
    perRecord(records, async () => {
      let next = 0
      // The same bytes as Sluice sends: the same fields, the same headers.
      const body = JSON.stringify({
        timeStamp: Date.now(),
        eventId: 1001,
        appName: 'sluice-benchmarks',
        runtimeVersion: process.version,
        runtime: 1,
      })
      const common = {
        'x-api-key': 'benchmark',
        'content-type': 'application/json',
        accept: 'application/json',
        'user-agent': `sluice/0.1.0 node/${process.versions.node}`,
      }
      const prefix = crypto.randomUUID()
      await Promise.all(
        Array.from({ length: destination.maxConnections }, async () => {
          while (next++ < records) {
            const headers = { ...common, 'idempotency-key': `${prefix}-${next.toString(36)}` }
            const answer = await pool.request({ method: 'POST', path: '/value_tracking/b', body, headers })
            await answer.body.json()
          }
        }),
      )
    }),
  'sluice, at most 32 connections': () =>
    perRecord(records, async () => {
      for (let number = 0; number < records; number++) sluice.track(1001)
      await sluice.flush({ timeoutMs: 60_000 })
    }),
})
printMedians(medians)

const { accepted, delivered } = await sluice.close()
if (accepted !== delivered) throw new Error(`accepted ${accepted}, delivered ${delivered}`)
await pool.close()
server.stop()
