import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { FaultServer } from '../../support/fault-server.js'
import { rowsOf } from '../../support/full.js'
import { runProgram } from '../../support/programs.js'

const here = { SLUICE_API_KEY: 'k', SLUICE_BUCKET: 'b', SLUICE_SHUTDOWN_TIMEOUT_MS: '2000' }

const toldTwice = [
  { WAY: 'pino, then sluice', END: 'exit 0' },
  { WAY: 'pino, then sluice', END: 'exception' },
  { WAY: 'sluice, then pino', END: 'exception' },
]

it.each(rowsOf(toldTwice, ({ WAY, END }) => WAY === 'pino, then sluice' && END === 'exit 0'))(
  'a loss is told once where pino’s worker still starts and the service hangs: $WAY, $END',
  async (how) => {
    const server = await FaultServer.start(() => ({ type: 'silence' }))
    onTestFinished(() => server.close())
    const { stderr } = await runProgram('exits.js', { ...here, ...how, SLUICE_URL: server.url })
    const losses = stderr.match(/^sluice: 1000 .*not delivered before the end/gm)
    expect(losses, stderr).toHaveLength(1)
  },
)

/** It accepts connections and says nothing. */
async function muteServer(): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => sockets.add(socket.on('error', () => {}))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const certificates = join(import.meta.dirname, '../../support/certificates')
const ways = [
  { WAY: 'track', SLUICE_MODE: 'inline', END: 'exit 0' },
  { WAY: 'winston', SLUICE_MODE: 'worker', END: 'SIGTERM' },
  { WAY: 'track', SLUICE_MODE: 'worker', END: 'exit 0' },
  { WAY: 'track', SLUICE_MODE: 'inline', END: 'SIGTERM' },
  { WAY: 'pino, then sluice', SLUICE_MODE: 'worker', END: 'SIGTERM' },
]

it.each(rowsOf(ways, (way) => way === ways[0] || way === ways[1]))(
  'nothing may have arrived where no connection came about: $WAY, $SLUICE_MODE, $END',
  async (way) => {
    const expired = await FaultServer.start(undefined, { certificate: 'expired' })
    onTestFinished(() => expired.close())
    const port = await muteServer()
    const endAt = (SLUICE_URL: string) =>
      runProgram('exits.js', { ...here, ...way, SLUICE_URL, NODE_EXTRA_CA_CERTS: `${certificates}/expired.pem` })
    const ends = await Promise.all([expired.url, `https://127.0.0.1:${port}`, `http://127.0.0.1:${port}`].map(endAt))
    const [late, mute, hung] = ends.map(({ stderr }) => stderr)
    const line = 'sluice: 1000 records not delivered before the end of the process; last error: '
    expect(late).toBe(`${line}certificate has expired\n`)
    expect(mute).toBe(`${line}the service did not answer in time\n`)
    expect(hung).toMatch(/the service did not answer in time; up to \d+ of them may have arrived\n$/)
    expect(expired.requests).toEqual([])
  },
)
