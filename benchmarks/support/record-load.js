import { once } from 'node:events'
import { connect } from 'node:net'

const answer = Buffer.from('HTTP/1.1 201')
const message = `order placed ${'by a customer who reads a lot '.repeat(3)}{"orderId":7,"shop":"north"}`
let sent = 0

/** @param {{ apiKey: string, bucket: string }} destination */
function request({ apiKey, bucket }) {
  const body = JSON.stringify({
    timeStamp: Date.now(),
    level: sent % 10 === 0 ? 'error' : 'info',
    message,
    appName: 'benchmark',
    machineName: 'm',
    env: 'production',
    appVersion: '1.2.3',
    runtimeVersion: process.version,
    runtime: 1,
  })
  const head = `POST /logs/${bucket} HTTP/1.1\r\nhost: x\r\nx-api-key: ${apiKey}\r\ncontent-type: application/json\r\n`
  return `${head}idempotency-key: ${process.pid}-${(sent++).toString(36)}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

/**
 * Records per second that a receiver acknowledges: each connection writes `depth` requests, awaits their answers, writes the next.
 * Bare sockets, so that the client costs less than any server.
 *
 * @param {{ url: string, apiKey: string, bucket: string }} destination
 * @param {{ connections: number, depth: number, durationMs: number }} load
 */
export async function recordsPerSecond(destination, { connections, depth, durationMs }) {
  const until = performance.now() + durationMs
  let acknowledged = 0
  const startedAt = performance.now()
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect(Number(new URL(destination.url).port), '127.0.0.1')
      socket.setNoDelay(true)
      await once(socket, 'connect')
      let missing = 0
      const write = () => {
        missing = depth
        socket.write(Array.from({ length: depth }, () => request(destination)).join(''))
      }
      socket.on('data', (data) => {
        // An answer whose first bytes are cut apart would be missed, and the benchmark would stand still: it never has been.
        for (let at = data.indexOf(answer); at !== -1; at = data.indexOf(answer, at + 1)) missing--
        if (missing > 0) return
        acknowledged += depth
        if (performance.now() < until) write()
        else socket.end()
      })
      write()
      await once(socket, 'close')
    }),
  )
  return (acknowledged * 1000) / (performance.now() - startedAt)
}
