import { describe, expect, it } from 'vitest'
import { proxyFor } from '../../src/http/proxy.js'

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
    ['is not that of HTTP_PROXY under CGI', https, { HTTP_PROXY: 'http://q', REQUEST_METHOD: 'GET' }, 'none'],
    ['is that of http_proxy under CGI', http, { http_proxy: 'http://q', REQUEST_METHOD: 'GET' }, 'http://q/'],
    ['may lack its scheme', https, { HTTPS_PROXY: 'p.example:3128' }, 'http://p.example:3128/'],
    ['may be spoken to in TLS', https, { HTTPS_PROXY: 'https://p' }, 'https://p/'],
    ['of http is not that of HTTPS_PROXY', http, { HTTPS_PROXY: 'http://p' }, 'none'],
    ['of http is that of http_proxy', http, { http_proxy: 'http://q' }, 'http://q/'],
    ['is unusable when it is no URL', https, { HTTPS_PROXY: 'http://' }, 'unusable'],
    ['is unusable when it is none of HTTP', https, { HTTPS_PROXY: 'socks5://p' }, 'unusable'],
    ['may have a percent sign in its password', https, { HTTPS_PROXY: 'http://u:5%zz%@p' }, 'http://u:5%25zz%25@p/'],
    ['may have escapes in its password', https, { HTTPS_PROXY: 'http://u:%40%C3%A4@p' }, 'http://u:%40%C3%A4@p/'],
    ['may have a percent sign in its user name', https, { HTTPS_PROXY: 'http://a%b%zz:p@p' }, 'http://a%25b%25zz:p@p/'],
    ['may have an escape in its user name', https, { HTTPS_PROXY: 'http://a%40b:p@p' }, 'http://a%40b:p@p/'],
    ['may have a percent sign before one digit', https, { HTTPS_PROXY: 'http://u%4:5%4x@p' }, 'http://u%254:5%254x@p/'],
    ['is unusable when an escape of its user is no UTF-8', https, { HTTPS_PROXY: 'http://%ff:x@p' }, 'unusable'],
    ['is unusable when an escape in it is no UTF-8', https, { HTTPS_PROXY: 'http://u:%ff@p' }, 'unusable'],
    ['is none to localhost', 'https://localhost:1', { HTTPS_PROXY: 'http://p' }, 'none'],
    ['is none to 127.0.0.1', 'http://127.0.0.1:1', { HTTP_PROXY: 'http://p' }, 'none'],
    ['is none to a name below localhost', 'http://api.localhost', { HTTP_PROXY: 'http://p' }, 'none'],
    ['is that of all others: a name that ends with it', 'http://notlocalhost', { HTTP_PROXY: 'http://p' }, 'http://p/'],
    ['is none to all of 127.x', 'http://127.10.200.3', { HTTP_PROXY: 'http://p' }, 'none'],
    ['is that of a host which begins so', 'http://127.0.0.1.example', { HTTP_PROXY: 'http://p' }, 'http://p/'],
    ['is that of a host which ends so', 'http://x127.0.0.1.example', { HTTP_PROXY: 'http://p' }, 'http://p/'],
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
    ['2001:db8::1', 'https://[2001:db8::1]:8443', 'none'],
    ['[2001:db8::1]:8444', 'https://[2001:db8::1]:8443', 'proxied'],
    ['2001:db8::2', 'https://[2001:db8::1]', 'proxied'],
    ['service.example:', https, 'proxied'],
    ['service.example:443x', https, 'proxied'],
    ['other.example,,api.service.example', https, 'none'],
    ['[2001:db8::1]:8443', 'https://[2001:db8::1]:8443', 'none'],
    [' , ', https, 'proxied'],
    ['other.example,', 'https://service.example.', 'proxied'],
  ])('NO_PROXY=%s: %s is %s', (exceptions, url, expected) => {
    const proxies = { HTTPS_PROXY: 'http://p', HTTP_PROXY: 'http://p' }
    const seen = (environment: Record<string, string>) => (found(url, environment) === 'none' ? 'none' : 'proxied')
    expect(seen({ ...proxies, NO_PROXY: exceptions })).toBe(expected)
    expect(seen({ ...proxies, no_proxy: exceptions, NO_PROXY: 'something.else' })).toBe(expected)
  })
})
