import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { proxyFor } from '../../src/http/proxy.js'
import { FaultServer } from '../support/fault-server.js'
import { runProgram } from '../support/programs.js'
import { startProxy, type TestProxy } from '../support/proxy.js'

describe('the proxy for a base URL', () => {
  const https = 'https://api.service.example/base'
  const http = 'http://service.example:8080'
  const found = (url: string, environment: Record<string, string>) => {
    const setting = proxyFor(url, environment)
    return setting.type === 'proxy' ? setting.url : setting.type
  }

  it.each<[string, string, Record<string, string>, string]>([
    ['is none without variables', https, {}, 'none'],
    ['is none where the variables are empty', https, { HTTPS_PROXY: ' ', http_proxy: '' }, 'none'],
    ['is that of HTTPS_PROXY', https, { HTTPS_PROXY: 'http://p:3128', HTTP_PROXY: 'http://q' }, 'http://p:3128/'],
    ['is that of https_proxy first', https, { HTTPS_PROXY: 'http://p', https_proxy: 'http://l' }, 'http://l/'],
    ['is that of HTTP_PROXY without another', https, { HTTP_PROXY: 'http://q' }, 'http://q/'],
    ['may lack its scheme', https, { HTTPS_PROXY: 'p.example:3128' }, 'http://p.example:3128/'],
    ['may be spoken to in TLS', https, { HTTPS_PROXY: 'https://p' }, 'https://p/'],
    ['of http is not that of HTTPS_PROXY', http, { HTTPS_PROXY: 'http://p' }, 'none'],
    ['of http is that of http_proxy', http, { http_proxy: 'http://q' }, 'http://q/'],
    ['is unusable when it is no URL', https, { HTTPS_PROXY: 'http://' }, 'unusable'],
    ['is unusable when it is none of HTTP', https, { HTTPS_PROXY: 'socks5://p' }, 'unusable'],
    ['may have a percent sign in its password', https, { HTTPS_PROXY: 'http://u:5%zz%@p' }, 'http://u:5%25zz%25@p/'],
    ['may have escapes in its password', https, { HTTPS_PROXY: 'http://u:%40%C3%A4@p' }, 'http://u:%40%C3%A4@p/'],
    ['is unusable when an escape in it is no UTF-8', https, { HTTPS_PROXY: 'http://u:%ff@p' }, 'unusable'],
    ['is none to localhost', 'https://localhost:1', { HTTPS_PROXY: 'http://p' }, 'none'],
    ['is none to 127.0.0.1', 'http://127.0.0.1:1', { HTTP_PROXY: 'http://p' }, 'none'],
    ['is none to ::1', 'http://[::1]:1', { HTTP_PROXY: 'http://p' }, 'none'],
  ])('%s', (_, url, environment, expected) => {
    expect(found(url, environment)).toBe(expected)
  })

  it.each<[string, string, 'none' | 'proxied']>([
    ['*', https, 'none'],
    ['service.example', https, 'none'],
    ['.service.example', https, 'none'],
    ['*.service.example', https, 'none'],
    ['SERVICE.EXAMPLE', https, 'none'],
    ['other.example, api.service.example', https, 'none'],
    ['other.example api.service.example', https, 'none'],
    ['service.example:443', https, 'none'],
    ['service.example:444', https, 'proxied'],
    ['service.example:8080', http, 'none'],
    ['service.example:80', http, 'proxied'],
    ['vice.example', https, 'proxied'],
    ['pi.service.example', https, 'proxied'],
    ['example.com', https, 'proxied'],
    ['10.0.0.7', 'https://10.0.0.7', 'none'],
    ['[2001:db8::1]', 'https://[2001:db8::1]:8443', 'none'],
    ['[2001:db8::1]:8443', 'https://[2001:db8::1]:8443', 'none'],
    [' , ', https, 'proxied'],
  ])('NO_PROXY=%s: %s is %s', (exceptions, url, expected) => {
    const proxies = { HTTPS_PROXY: 'http://p', HTTP_PROXY: 'http://p' }
    const seen = (environment: Record<string, string>) => (found(url, environment) === 'none' ? 'none' : 'proxied')
    expect(seen({ ...proxies, NO_PROXY: exceptions })).toBe(expected)
    expect(seen({ ...proxies, no_proxy: exceptions, NO_PROXY: 'something.else' })).toBe(expected)
  })
})

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
      HTTP_PROXY: proxy.url,
      HTTPS_PROXY: proxy.url,
      ...variables,
    })
  const ways = [
    { mode: 'worker', end: 'natural' },
    { mode: 'inline', end: 'natural' },
    { mode: 'inline', end: 'exit 0' },
  ]

  it.each(ways)('a service of https is reached in a tunnel, $mode, end: $end', async ({ mode, end }) => {
    server = await FaultServer.start(undefined, { certificate: 'service' })
    const ended = await run({ SLUICE_URL: 'https://service.example', SLUICE_MODE: mode, END: end })
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(new Set(server.taken).size).toBe(1000)
    expect(new Set(proxy.asked)).toEqual(new Set(['CONNECT service.example:443']))
    expect(proxy.credentials).toEqual(new Set([`Basic ${btoa('user:p@ss')}`]))
    // Nothing is pipelined: this is what undici and node:http send.
    expect(new Set(server.requests.map(({ headers }) => headers.get('connection')))).toEqual(new Set(['keep-alive']))
  })

  it.each(ways)('a service of http is reached as it is, $mode, end: $end', async ({ mode, end }) => {
    server = await FaultServer.start()
    const ended = await run({ SLUICE_URL: 'http://service.example:8080/base', SLUICE_MODE: mode, END: end })
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(new Set(server.taken).size).toBe(1000)
    expect(new Set(proxy.asked)).toEqual(new Set(['POST http://service.example:8080/base/value_tracking/b']))
    expect(proxy.credentials).toEqual(new Set([`Basic ${btoa('user:p@ss')}`]))
    expect(new Set(server.requests.map(({ headers }) => headers.get('host')))).toEqual(
      new Set(['service.example:8080']),
    )
  })

  it.each(ways)('that refuses the tunnel nothing is lost in silence, $mode, end: $end', async ({ mode, end }) => {
    server = await FaultServer.start(undefined, { certificate: 'service' })
    proxy.refuse = 403
    const ended = await run({
      SLUICE_URL: 'https://service.example',
      SLUICE_MODE: mode,
      END: end,
      SLUICE_SHUTDOWN_TIMEOUT_MS: '400',
    })
    expect(ended).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(
        /^sluice: 1000 records not delivered before the end of the process; last error: .*403.*\n$/,
      ),
    })
    expect(server.requests).toEqual([])
  })

  it.each(ways)('whose password has a percent sign all goes, $mode, end: $end', async ({ mode, end }) => {
    server = await FaultServer.start()
    const HTTP_PROXY = proxy.url.replace('p%40ss', '5%zz%')
    const ended = await run({ SLUICE_URL: 'http://service.example', SLUICE_MODE: mode, END: end, HTTP_PROXY })
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(new Set(server.taken).size).toBe(1000)
    expect(proxy.credentials).toEqual(new Set([`Basic ${btoa('user:5%zz%')}`]))
  })

  it('that NO_PROXY excepts nothing goes', async () => {
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
      SLUICE_SHUTDOWN_TIMEOUT_MS: '100',
    })
    expect(ended.stderr).toContain('HTTPS_PROXY is not the URL of an HTTP proxy')
    expect(ended.stderr).not.toContain('secret')
  })
})
