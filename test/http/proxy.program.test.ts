import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FaultServer } from '../support/fault-server.js'
import { full, rowsOf } from '../support/full.js'
import { ampleTime, runProgram } from '../support/programs.js'
import { startProxy, type TestProxy } from '../support/proxy.js'

describe('through a proxy', () => {
  let server: FaultServer
  let proxy: TestProxy
  beforeEach(async () => {
    proxy = await startProxy(() => server.port)
  })
  afterEach(async () => {
    await proxy.close()
    await server.close()
  })

  const run = (variables: Record<string, string>) =>
    runProgram('exits.js', {
      WAY: 'track',
      SLUICE_API_KEY: 'k',
      SLUICE_BUCKET: 'b',
      SLUICE_ALLOW_INSECURE: 'true',
      NODE_EXTRA_CA_CERTS: join(import.meta.dirname, '../support/certificates/service.pem'),
      ...ampleTime,
      HTTP_PROXY: proxy.url,
      HTTPS_PROXY: proxy.url,
      ...variables,
    })
  const all = [
    { mode: 'worker', end: 'natural' },
    { mode: 'inline', end: 'natural' },
    { mode: 'inline', end: 'exit 0' },
  ]
  const ways = rowsOf(all, ({ mode }) => mode === 'worker')

  it.each(ways)('a service with https is reached in a tunnel, $mode, end: $end', async ({ mode, end }) => {
    server = await FaultServer.start(undefined, { certificate: 'service' })
    const ended = await run({ SLUICE_URL: 'https://service.example', SLUICE_MODE: mode, END: end })
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(new Set(server.taken).size).toBe(1000)
    expect(new Set(proxy.asked)).toEqual(new Set(['CONNECT service.example:443']))
    expect(proxy.credentials).toEqual(new Set([`Basic ${btoa('user:p@ss')}`]))
    // This is what undici sends, which never pipelines. At an inline exit Sluice's own client makes the requests, without the header.
    const connection = end === 'natural' ? 'keep-alive' : undefined
    expect(new Set(server.requests.map(({ headers }) => headers.get('connection')))).toEqual(new Set([connection]))
  })

  it.runIf(full).each(ways)(
    'a service with http is reached without a tunnel, $mode, end: $end',
    async ({ mode, end }) => {
      server = await FaultServer.start()
      const ended = await run({ SLUICE_URL: 'http://service.example:8080/base', SLUICE_MODE: mode, END: end })
      expect(ended).toMatchObject({ code: 0, stderr: '' })
      expect(new Set(server.taken).size).toBe(1000)
      expect(new Set(proxy.asked)).toEqual(new Set(['POST http://service.example:8080/base/value_tracking/b']))
      expect(proxy.credentials).toEqual(new Set([`Basic ${btoa('user:p@ss')}`]))
      expect(new Set(server.requests.map(({ headers }) => headers.get('host')))).toEqual(
        new Set(['service.example:8080']),
      )
    },
  )

  it.runIf(full).each(ways)(
    'that refuses the tunnel nothing is lost in silence, $mode, end: $end',
    async ({ mode, end }) => {
      server = await FaultServer.start(undefined, { certificate: 'service' })
      proxy.refuse = 403
      const ended = await run({
        SLUICE_URL: 'https://service.example',
        SLUICE_MODE: mode,
        END: end,
        SLUICE_SHUTDOWN_TIMEOUT_MS: '2000',
      })
      expect(ended).toMatchObject({
        code: 0,
        stderr: expect.stringMatching(
          /^sluice: 1000 records not delivered before the end of the process; last error: .*403.*\n$/,
        ),
      })
      expect(server.requests).toEqual([])
    },
  )

  it.runIf(full).each(ways)('whose password has a percent sign all goes, $mode, end: $end', async ({ mode, end }) => {
    server = await FaultServer.start()
    const HTTP_PROXY = proxy.url.replace('p%40ss', '5%zz%')
    const ended = await run({ SLUICE_URL: 'http://service.example', SLUICE_MODE: mode, END: end, HTTP_PROXY })
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(new Set(server.taken).size).toBe(1000)
    expect(proxy.credentials).toEqual(new Set([`Basic ${btoa('user:5%zz%')}`]))
  })

  it('nothing goes to a service that NO_PROXY excepts', async () => {
    server = await FaultServer.start()
    const ended = await run({
      SLUICE_URL: 'http://service.example',
      NO_PROXY: 'service.example',
      SLUICE_SHUTDOWN_TIMEOUT_MS: '100',
    })
    expect(ended.stderr).toContain('not delivered')
    expect(proxy.asked).toEqual([])
  })

  it('whose URL is none, one line says that it is ignored, without the password', async () => {
    server = await FaultServer.start()
    const ended = await run({
      SLUICE_URL: 'https://service.example',
      HTTPS_PROXY: 'socks5://user:secret@p',
      // A worker that has not started within this time on a busy machine could not tell.
      SLUICE_MODE: 'inline',
      SLUICE_SHUTDOWN_TIMEOUT_MS: '100',
    })
    expect(ended.stderr).toContain('HTTPS_PROXY is not the URL of an HTTP proxy')
    expect(ended.stderr).not.toContain('secret')
  })
})
