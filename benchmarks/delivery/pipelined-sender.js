import { once } from 'node:events'
import { connect } from 'node:net'
import { PipelinedSender } from '../../dist/http/pipelined-sender.js'
import { systemClock } from '../../dist/runtime/clock.js'
import { compare, perRecord, printMedians, startServer } from '../support/measure.js'

// The pipelined sender against a bare pipelined socket writer that sends the same bytes: what do correct answers cost?
const records = 400_000
const connections = 8
const depth = 64
const server = await startServer()
const { port, host } = new URL(server.url)
const userAgent = `sluice/0.1.0 node/${process.versions.node}`

const body = JSON.stringify({
  timeStamp: Date.now(),
  level: 'info',
  message: 'checkout 4711 has been paid by card, and the receipt has been sent to the customer',
  appName: 'sluice-benchmarks',
  appVersion: '0.1.0',
  env: 'production',
  machineName: 'benchmark',
  runtimeVersion: process.version,
  runtime: 1,
})
const prefix = crypto.randomUUID()
const batches = Array.from({ length: records / depth }, (_, batch) =>
  Array.from({ length: depth }, (_, index) => ({
    body,
    bytes: Buffer.byteLength(body),
    idempotencyKey: `${prefix}-${(batch * depth + index).toString(36)}`,
  })),
)
const head =
  `POST /logs/b HTTP/1.1\r\nhost: ${host}\r\nx-api-key: benchmark\r\ncontent-type: application/json\r\n` +
  `accept: application/json\r\nuser-agent: ${userAgent}\r\nidempotency-key: `
const answerLength =
  'HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ncontent-length: 15\r\n\r\n{"result":true}'.length

/** Writes a batch, counts the bytes of the answers, writes the next. */
async function bare() {
  let next = 0
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect(Number(port), '127.0.0.1').setNoDelay(true)
      await once(socket, 'connect')
      await new Promise((resolve) => {
        let missing = 0
        const write = () => {
          const batch = batches[next++]
          if (batch === undefined) {
            resolve(socket.destroy())
            return
          }
          let text = ''
          for (const { bytes, body, idempotencyKey } of batch) {
            text += `${head}${idempotencyKey}\r\ncontent-length: ${bytes}\r\n\r\n${body}`
          }
          missing += batch.length * answerLength
          socket.write(text, 'latin1')
        }
        socket.on('data', (chunk) => {
          missing -= chunk.length
          if (missing === 0) write()
        })
        write()
      })
    }),
  )
}

const sender = new PipelinedSender({
  url: server.url,
  apiKey: { reveal: () => 'benchmark', renew: () => false },
  userAgent,
  maxConnections: connections,
  maxDepth: depth,
  requestTimeoutMs: 10_000,
  clock: systemClock,
})

async function pipelined() {
  let next = 0
  let delivered = 0
  /** @param {number} _ @param {import('../../dist/delivery/sender.js').Outcome} outcome */
  const settle = (_, outcome) => {
    if (outcome.type === 'delivered') delivered++
  }
  await Promise.all(
    Array.from({ length: connections }, async () => {
      for (let batch = batches[next++]; batch !== undefined; batch = batches[next++]) {
        await sender.send({ kind: 'logs', bucket: 'b', records: batch, probe: false, settle })
      }
    }),
  )
  if (delivered !== records) throw new Error(`${delivered} of ${records} delivered`)
}

const medians = await compare({
  [`bare sockets, ${connections} × ${depth}`]: () => perRecord(records, bare),
  [`pipelined sender, ${connections} × ${depth}`]: () => perRecord(records, pipelined),
})
printMedians(medians)
await sender.close()
server.stop()
