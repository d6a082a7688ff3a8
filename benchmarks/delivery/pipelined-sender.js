import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { modules } from '../../tools/modules.js'
import { certificates } from '../support/certificates.js'
import { compare, perRecord, printMedians, startServer } from '../support/measure.js'

/** @type {typeof import('../../src/delivery/batch.js') & typeof import('../../src/delivery/ledger-book.js') & typeof import('../../src/http/pipelined-sender.js') & typeof import('../../src/log/backing.js') & typeof import('../../src/log/idempotency-key.js') & typeof import('../../src/log/memory-bounds.js') & typeof import('../../src/log/record-log.js') & typeof import('../../src/runtime/loop.js')} */
const { Batch, KeyWriter, LedgerBook, MemoryBounds, noBacking, PipelinedSender, RecordLog, systemLoop } = await modules(
  'delivery/batch',
  'delivery/ledger-book',
  'http/pipelined-sender',
  'log/backing',
  'log/idempotency-key',
  'log/memory-bounds',
  'log/record-log',
  'runtime/loop',
)

// The pipelined sender against bare sockets that write the same bytes, made before, and count the bytes of the answers: what do requests
// from records, and correct answers, cost? To a server whose answers are all the same, to one that echoes the keys, and over TLS, where no more
// goes out in one go than fits into one record of TLS.
const records = 400_000
const connections = 8
const depthInTheClear = 64
/** These requests have less than 16 KiB. */
const depthOverTls = 24

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
const authority = readFileSync(certificates.cert)
const keys = new KeyWriter(crypto.randomUUID())

/** What becomes of the batches that are on their way. @type {Map<import('../../src/delivery/batch.js').Batch, import('../../src/delivery/batch.js').BatchOwner>} */
const owners = new Map()
/** @type {import('../../src/delivery/batch.js').BatchOwner} */
const owner = {
  onSettle: (batch, ...outcome) => owners.get(batch)?.onSettle(batch, ...outcome),
  onDone: (batch) => owners.get(batch)?.onDone(batch),
}

/**
 * A batch as an engine makes it: its keys follow from the sequences of its records, which have four digits each.
 *
 * @param {number} number
 * @param {number} depth
 */
function batchOf(number, depth) {
  const lane = /** @type {const} */ ({ kind: 'logs', bucket: 'b' })
  const limits = { maxQueueRecords: depth, maxQueueBytes: 2 ** 30 }
  const bounds = new MemoryBounds({ limits, backing: noBacking, isGated: () => false, lost() {} })
  const log = new RecordLog({ lane: 0, severity: 2, ledger: new LedgerBook([lane]), bounds, backing: noBacking })
  for (let index = 0; index < depth; index++) {
    log.append({ body, bytes: body.length }, 36 ** 3 + number * depth + index, 'none')
  }
  const batch = new Batch({ ...lane, keys, owner })
  log.take(batch, depth, Number.POSITIVE_INFINITY)
  return batch
}

const userAgent = `sluice/0.1.0 node/${process.versions.node}`

/** @typedef {{ echo?: boolean, secure?: boolean }} ServerOptions */
/** @typedef {readonly import('../../src/delivery/batch.js').Batch[]} Batches one for each connection; it is sent again and again */

/** @param {URL} url @param {ServerOptions & { batches: Batches }} options */
async function bare({ host, port }, { echo = false, secure = false, batches }) {
  const keyField = echo ? `idempotency-key: ${batches[0]?.textOf(0).idempotencyKey}\r\n` : ''
  const answer = `HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ncontent-length: 15\r\n${keyField}\r\n{"result":true}`
  const head =
    `POST /logs/b HTTP/1.1\r\nhost: ${host}\r\nx-api-key: benchmark\r\ncontent-type: application/json\r\n` +
    `accept: application/json\r\nuser-agent: ${userAgent}\r\nidempotency-key: `
  let left = records
  await Promise.all(
    batches.map(async (batch) => {
      const depth = batch.length
      const text = Array.from(
        { length: depth },
        (_, index) =>
          `${head}${batch.textOf(index).idempotencyKey}\r\ncontent-length: ${batch.bytesOf(index)}\r\n\r\n${body}`,
      )
      const requests = Buffer.from(text.join(''), 'latin1')
      const socket = secure
        ? connectTls({ host: '127.0.0.1', port: Number(port), ca: authority })
        : connect(Number(port), '127.0.0.1')
      socket.setNoDelay(true)
      await once(socket, secure ? 'secureConnect' : 'connect')
      await new Promise((resolve) => {
        let missing = 0
        const write = () => {
          left -= depth
          if (left <= -depth) {
            resolve(socket.destroy())
            return
          }
          missing += depth * answer.length
          socket.write(requests)
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

/** @param {import('../../src/http/pipelined-sender.js').PipelinedSender} sender @param {Batches} batches */
async function pipelined(sender, batches) {
  let left = records
  let delivered = 0
  await Promise.all(
    batches.map(async (batch) => {
      while (left > 0) {
        left -= batch.length
        await new Promise((resolve) => {
          owners.set(batch, {
            onSettle(_batch, _index, outcome, count) {
              if (outcome.type === 'delivered') delivered += count
            },
            onDone: () => resolve(undefined),
          })
          sender.send(batch)
        })
      }
    }),
  )
  if (delivered < records) throw new Error(`${delivered} of ${records} delivered`)
}

/** @param {string} name @param {ServerOptions} options */
async function contest(name, options) {
  const depth = options.secure ? depthOverTls : depthInTheClear
  const batches = Array.from({ length: connections }, (_, number) => batchOf(number, depth))
  const server = await startServer(options)
  const sender = new PipelinedSender({
    url: server.url,
    apiKey: { reveal: () => 'benchmark', renew: () => false },
    userAgent,
    maxConnections: connections,
    maxDepth: depth,
    requestTimeoutMs: 10_000,
    loop: systemLoop,
    connection: options.secure ? { ca: authority } : {},
  })
  const medians = await compare({
    [`bare sockets${name}`]: () => perRecord(records, () => bare(new URL(server.url), { ...options, batches })),
    [`pipelined sender${name}`]: () => perRecord(records, () => pipelined(sender, batches)),
  })
  await sender.close()
  server.stop()
  return medians
}

printMedians(await contest(`, ${connections} × ${depthInTheClear}`, {}))
printMedians(await contest(', keys echoed', { echo: true }))
printMedians(await contest(`, TLS, ${connections} × ${depthOverTls}`, { secure: true }))
