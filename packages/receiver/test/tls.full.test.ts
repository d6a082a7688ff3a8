import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect as connectTls } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { full } from '../../../test/support/full.js'
import { killAll, ready, start } from './processes.js'
import { connected, requestBytes, statuses } from './sockets.js'
import { log } from './support.js'

afterEach(killAll)

const root = join(import.meta.dirname, '../../..')
const cert = join(root, 'test/support/certificates/foreign.pem')
const tls = ['--tls-cert', cert, '--tls-key', join(root, 'test/support/certificates/key.pem'), '--data', ':memory:']

async function read(url: string, apiKey: string | null) {
  const sent = request(`${url}/api/values/demo`, {
    ca: readFileSync(cert),
    headers: { 'x-api-key': apiKey ?? '' },
  }).end()
  const [answer] = await once(sent, 'response')
  return { status: answer.statusCode, body: JSON.parse(await text(answer)) }
}

describe('--tls-cert and --tls-key', () => {
  it('make the receiver speak HTTPS, and the library deliver to it', async () => {
    const { url, apiKey } = await ready(...tls)
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    const application = spawn(process.execPath, [join(root, 'test/fixtures/track-and-end.js')], {
      env: {
        ...process.env,
        NODE_EXTRA_CA_CERTS: cert,
        SLUICE_URL: url,
        SLUICE_API_KEY: apiKey ?? '',
        SLUICE_BUCKET: 'demo',
      },
      stdio: 'inherit',
    })
    expect(await once(application, 'exit')).toEqual([0, null])
    expect(await read(url, apiKey)).toMatchObject({ status: 200, body: { total: 1 } })
    expect((await read(url, 'wrong')).status).toBe(401)
  })

  it('make the cookie of the page one that never leaves HTTPS', async () => {
    const { page } = await ready(...tls)
    const [answer] = await once(request(page, { ca: readFileSync(cert) }).end(), 'response')
    expect(answer.statusCode).toBe(303)
    expect(answer.headers['set-cookie'][0]).toMatch(/; Secure$/)
    answer.destroy()
  })

  it.runIf(full)('are asked for where others can listen to the network', async () => {
    const { child } = start('--port', '0', '--data', ':memory:', '--host', '0.0.0.0')
    const [warning] = await once(child.stderr, 'data')
    expect(String(warning)).toBe(
      'sluice-receiver: keys and records cross the network in the clear: use --tls-cert and --tls-key off loopback\n',
    )
  })

  it.runIf(full)('silence that warning', async () => {
    const { child } = await ready(...tls, '--host', '0.0.0.0')
    child.kill('SIGTERM')
    expect(await text(child.stderr)).toBe('')
  })
})

describe('a receiver that speaks HTTPS', () => {
  it('answers whatever is pipelined on one connection', async () => {
    const { url, apiKey } = await ready(...tls)
    const socket = connectTls({ port: Number(new URL(url).port), host: '127.0.0.1', ca: readFileSync(cert) })
    const one = requestBytes({ apiKey, body: JSON.stringify(log) })
    const last = requestBytes({ apiKey, body: JSON.stringify(log), headers: { connection: 'close' } })
    socket.write(one.repeat(1999) + last)
    const answered = statuses(await text(socket))
    expect(answered).toHaveLength(2000)
    expect(new Set(answered)).toEqual(new Set([201]))
  })

  it.runIf(full)('ends although a client never begins with TLS', async () => {
    const { url, child, exit } = await ready(...tls)
    const silent = await connected(url)
    child.kill('SIGTERM')
    expect(await exit).toEqual([0, null])
    silent.destroy()
  })
})
