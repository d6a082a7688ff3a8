import { describe, expect, it } from 'vitest'
import { routeTo } from '../../src/http/route.js'

const about = { proxyUrl: undefined, connectTimeoutMs: 1000 }

describe('the way to a server', () => {
  it.each([
    ['http://service.example/base', { host: 'service.example', port: 80, security: undefined }],
    ['http://[::1]:8080', { host: '::1', port: 8080, security: undefined }],
    [
      'https://service.example:8443',
      { host: 'service.example', port: 8443, security: { servername: 'service.example' } },
    ],
    ['https://127.0.0.1', { host: '127.0.0.1', port: 443, security: { host: '127.0.0.1', servername: undefined } }],
    ['https://[::1]', { host: '::1', port: 443, security: { host: '::1', servername: undefined } }],
  ])('leads straight to %s', (url, route) => {
    expect(routeTo({ ...about, url })).toMatchObject({ ...route, tunnel: undefined, timeoutMs: 1000 })
  })

  it.each([
    ['https://service.example', 'CONNECT service.example:443 HTTP/1.1\r\nhost: service.example:443\r\n\r\n'],
    ['https://[::1]:8443/base', 'CONNECT [::1]:8443 HTTP/1.1\r\nhost: [::1]:8443\r\n\r\n'],
  ])('goes through a tunnel to %s, with the authorities of the service inside alone', (url, request) => {
    const { tunnel, ...route } = routeTo({ ...about, url, proxyUrl: 'https://proxy.example', ca: Buffer.from('PEM') })
    expect(tunnel).toMatchObject({ request, security: { ca: 'PEM' } })
    expect(route).toMatchObject({ host: 'proxy.example', port: 443, security: { ca: undefined } })
  })

  it('names who asks the proxy', () => {
    const { tunnel } = routeTo({
      ...about,
      url: 'https://service.example',
      proxyUrl: 'http://user:p%40ss@proxy.example',
    })
    expect(tunnel!.request).toContain(`\r\nproxy-authorization: Basic ${btoa('user:p@ss')}\r\n`)
  })

  it('ends at the proxy for a service without TLS', () => {
    const route = routeTo({ ...about, url: 'http://service.example', proxyUrl: 'http://proxy.example:3128' })
    expect(route).toMatchObject({ host: 'proxy.example', port: 3128, security: undefined, tunnel: undefined })
  })
})
