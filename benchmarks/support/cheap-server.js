import { readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer } from 'node:net'
import { createServer as createSecureServer } from 'node:tls'
import { certificates } from './certificates.js'
import { recordCount } from './record-count.js'
import { requestSplitter } from './request-splitter.js'

// Answers every request, without parsing more than it must. Prints its port. With a mark it says on request how many records arrived.
/** @typedef {{ status?: string, type?: string, body?: string }} Answer */
/**
 * @typedef {{
 *   answer?: Answer,
 *   mark?: string,
 *   snappy?: boolean,
 *   echo?: boolean,
 *   delayMs?: number,
 *   oneByOne?: boolean,
 *   port?: number,
 *   secure?: boolean,
 *   node?: boolean,
 * }} ServerOptions `mark`: what stands before the number of each record; `snappy`: bodies are packed with it, whatever the header says;
 *   `echo`: answers bear the idempotency key of their request, as those of a server do that tells repetitions by it; `delayMs`: from the
 *   arrival of a request to its answer; `oneByOne`: it works on a connection's requests one after the other;
 *   `port`: where it listens, any free one without;
 *   `secure`: with TLS; `node`: a server of node:http or node:https
 */
/** @type {ServerOptions} */
const {
  answer = {},
  mark,
  snappy = false,
  echo,
  delayMs = 0,
  oneByOne,
  port = 0,
  secure,
  node,
} = JSON.parse(process.argv[2] ?? '{}')
const { status = '201 Created', type = 'application/json', body = '{"result":true}' } = answer
const about = status.startsWith('204') ? '' : `content-type: ${type}\r\ncontent-length: ${body.length}\r\n`
const reply = `HTTP/1.1 ${status}\r\n${about}\r\n${body}`
/** @param {string} head of the request */
const replyWithKey = (head) => {
  const key = /\r\nidempotency-key: *([^\r]+)/i.exec(head)?.[1]
  return `HTTP/1.1 ${status}\r\n${about}${key === undefined ? '' : `idempotency-key: ${key}\r\n`}\r\n${body}`
}

const records = mark === undefined ? undefined : recordCount({ mark, snappy })
const now = () => Number(process.hrtime.bigint()) / 1e6
let requests = 0
let arrivedAt = 0
let firstAt = Number.NaN

/** @param {Buffer} bytes */
const keep = (bytes, encoding = '') => records?.add({ at: arrivedAt, bytes, encoding })

/** @param {import('node:net').Socket} socket */
function serve(socket) {
  /** @type {string[]} */
  let replies = []
  const split = requestSplitter({
    head: (head) => replies.push(echo ? replyWithKey(head) : reply),
    plain: keep,
    coded: keep,
  })
  const send = (/** @type {string} */ text) => socket.destroyed || socket.write(text)
  const workOff = () => {
    send(replies.shift() ?? '')
    if (replies.length > 0) setTimeout(workOff, delayMs)
  }
  socket.setNoDelay(true)
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    arrivedAt = now()
    if (Number.isNaN(firstAt)) firstAt = arrivedAt
    const before = replies.length
    split(chunk)
    requests += replies.length - before
    if (replies.length === before) return
    if (oneByOne) {
      if (before === 0) setTimeout(workOff, delayMs)
      return
    }
    const text = replies.join('')
    replies = []
    if (delayMs === 0) send(text)
    else setTimeout(send, delayMs, text)
  })
}
/** @type {import('node:http').RequestListener} */
function answerOne(request, response) {
  /** @type {Buffer[]} */
  const parts = []
  arrivedAt = now()
  if (Number.isNaN(firstAt)) firstAt = arrivedAt
  request.on('data', (part) => parts.push(part))
  request.on('end', () => {
    requests++
    keep(Buffer.concat(parts))
    const key = request.headers['idempotency-key']
    response.writeHead(Number(status.slice(0, 3)), {
      'content-type': type,
      ...(echo && key !== undefined && { 'idempotency-key': key }),
    })
    if (delayMs === 0) response.end(body)
    else setTimeout(() => response.end(body), delayMs)
  })
}
const [key, cert] = secure ? [readFileSync(certificates.key), readFileSync(certificates.cert)] : []
const ofNode = () => (secure ? createHttpsServer({ key, cert }, answerOne) : createHttpServer(answerOne))
const ofSockets = () => (secure ? createSecureServer({ key, cert }, serve) : createServer(serve))
const server = node ? ofNode() : ofSockets()
server.listen(port, '127.0.0.1', 4096, () => process.stdout.write(`${/** @type {any} */ (server.address()).port}\n`))

const quietMs = 50
process.on('message', async (/** @type {{ evenIfBusy: boolean, arrivals: number }} */ { evenIfBusy, arrivals }) => {
  const busy = now() - arrivedAt < quietMs
  const totals = (busy && !evenIfBusy) || records === undefined ? undefined : await records.count()
  process.send?.({ busy, requests, totals, arrivedAt: records?.arrivedAt(arrivals) ?? [], firstAt })
})
process.on('disconnect', () => process.exit())
