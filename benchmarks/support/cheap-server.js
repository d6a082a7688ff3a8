import { createServer } from 'node:net'
import { recordCount } from './record-count.js'
import { requestSplitter } from './request-splitter.js'

// Answers every request, without parsing more than it must. Prints its port. With a mark it says on request how many records arrived.
/** @typedef {{ status?: string, type?: string, body?: string }} Answer */
/**
 * @typedef {{
 *   answer?: Answer,
 *   mark?: string,
 *   snappy?: boolean,
 *   delayMs?: number,
 *   oneByOne?: boolean,
 * }} ServerOptions `mark`: what stands before the number of each record; `snappy`: bodies are packed with it, whatever the header says;
 *   `delayMs`: from the arrival of a request to its answer; `oneByOne`: it works on a connection's requests one after the other
 */
/** @type {ServerOptions} */
const { answer = {}, mark, snappy = false, delayMs = 0, oneByOne = false } = JSON.parse(process.argv[2] ?? '{}')
const { status = '201 Created', type = 'application/json', body = '{"result":true}' } = answer
const about = status.startsWith('204') ? '' : `content-type: ${type}\r\ncontent-length: ${body.length}\r\n`
const reply = `HTTP/1.1 ${status}\r\n${about}\r\n${body}`

const records = mark === undefined ? undefined : recordCount({ mark, snappy })
const now = () => Number(process.hrtime.bigint()) / 1e6
let requests = 0
let arrivedAt = 0

/** @param {Buffer} bytes */
const keep = (bytes, encoding = '') => records?.add({ at: arrivedAt, bytes, encoding })

const server = createServer((socket) => {
  const split = requestSplitter({ plain: keep, coded: keep })
  let pending = 0
  const workOff = () => {
    if (socket.destroyed) return
    socket.write(reply)
    if (--pending > 0) setTimeout(workOff, delayMs)
  }
  socket.setNoDelay(true)
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    arrivedAt = now()
    const answers = split(chunk)
    requests += answers
    if (answers === 0) return
    if (delayMs === 0) socket.write(reply.repeat(answers))
    else if (oneByOne) {
      if (pending === 0) setTimeout(workOff, delayMs)
      pending += answers
    } else setTimeout(() => socket.destroyed || socket.write(reply.repeat(answers)), delayMs)
  })
})
server.listen(0, '127.0.0.1', 4096, () => process.stdout.write(`${/** @type {any} */ (server.address()).port}\n`))

const quietMs = 50
process.on('message', async (/** @type {{ evenIfBusy: boolean }} */ { evenIfBusy }) => {
  const busy = now() - arrivedAt < quietMs
  const totals = (busy && !evenIfBusy) || records === undefined ? undefined : await records.count()
  process.send?.({ busy, requests, totals })
})
process.on('disconnect', () => process.exit())
