import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request as requestPlain } from 'node:http'
import { Agent, request } from 'node:https'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { killAll, ready, readyBy } from './processes.js'

afterEach(killAll)

const certificates = join(import.meta.dirname, '../../../test/support/certificates')
const cert = join(certificates, 'foreign.pem')
const plain = ['--data', ':memory:']
const tls = [...plain, '--tls-cert', cert, '--tls-key', join(certificates, 'key.pem')]
const ca = readFileSync(cert)

/** The status of a request without a key. */
async function asked(url: string, { from = '127.0.0.1', agent }: { from?: string; agent?: Agent } = {}) {
  const options = { ca, localAddress: from, agent: agent ?? false, timeout: 5000 } as const
  const sent = url.startsWith('https:') ? request(url, options) : requestPlain(url, options)
  sent.once('timeout', () => sent.destroy(new Error('no answer within 5 s')))
  const [answer] = await once(sent.end(), 'response')
  answer.resume()
  await once(answer, 'end')
  return answer.statusCode
}

/** Opens connections that say nothing. */
async function silent(url: string, count: number): Promise<readonly Socket[]> {
  const sockets = Array.from({ length: count }, () => connect(Number(new URL(url).port), '127.0.0.1').resume())
  for (const socket of sockets) socket.on('error', () => {})
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  return sockets
}

describe('connections that say nothing', () => {
  it('end after 10 s where the receiver speaks HTTPS', async () => {
    const { url } = await ready(...tls)
    const sockets = await silent(url, 50)
    await Promise.all(sockets.map((socket) => once(socket, 'close')))
    expect(await asked(url)).toBe(401)
  })

  it.each([
    ['HTTPS', tls],
    ['HTTP', plain],
  ])('leave room for those of other addresses, over %s', async (_, options) => {
    const { url, child } = await readyBy('ulimit -n 300; exec "$@"', ...options)
    const said = once(child.stderr, 'data')
    const sockets = await silent(url, 320)
    expect(await asked(url, { from: '127.0.0.2' })).toBe(401)
    expect(String((await said)[0])).toMatch(
      /^sluice-receiver: refused a connection of 127\.0\.0\.1, which has 100 open/,
    )
    for (const socket of sockets) socket.destroy()
  })

  it.each([0, 1])('do not hold up a stop, beside %i connections that are kept open', async (kept) => {
    const { url, child, exit } = await ready(...tls)
    const agent = new Agent({ keepAlive: true })
    if (kept > 0) await asked(url, { agent })
    const [socket] = await silent(url, 1)
    child.kill('SIGTERM')
    expect(await exit).toEqual([0, null])
    socket!.destroy()
    agent.destroy()
  })
})
