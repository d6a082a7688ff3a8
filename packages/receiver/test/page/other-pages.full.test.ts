import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { canOpenPages, openPage, useBrowser } from './support.js'

/** A name of an attacker that leads to this machine, as it does after DNS rebinding. */
const rebound = 'attacker.example'
useBrowser([`--host-resolver-rules=MAP ${rebound} 127.0.0.1`])

/** The address of a page of somebody else, on another port of this machine: for a browser that is the same site. It has the receiver in a frame. */
async function otherPage(receiver: string): Promise<string> {
  const server = createServer((_, answer) => {
    answer
      .setHeader('content-type', 'text/html')
      .end(`<!doctype html><title>other</title><iframe src="${receiver}/"></iframe>`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

describe.skipIf(!canOpenPages)('another web page in the browser that has the page open', () => {
  it('reads nothing, stores nothing, and does not get the page into a frame', async () => {
    const { url, page, call } = await openPage()
    const other = await page.context().newPage()
    await other.goto(await otherPage(url))
    const seen = await other.evaluate(async (receiver) => {
      const attempt = (path: string, init: RequestInit) =>
        fetch(`${receiver}${path}`, { credentials: 'include', ...init }).then(
          ({ type, status }) => `${type} ${status}`,
          () => 'refused',
        )
      const record = JSON.stringify({ timeStamp: 1, level: 'info', message: 'm', appName: 'a' })
      const json = { 'content-type': 'application/json' }
      return {
        read: await attempt('/api/session', {}),
        readBlindly: await attempt('/api/session', { mode: 'no-cors' }),
        storeText: await attempt('/logs/demo', { method: 'POST', mode: 'no-cors', body: record }),
        storeJson: await attempt('/logs/demo', { method: 'POST', body: record, headers: json }),
        storeTest: await attempt('/api/test-record?bucket=demo', { method: 'POST', mode: 'no-cors' }),
        makeKey: await attempt('/api/keys', { method: 'POST', body: '{"scopes":["admin"]}', headers: json }),
        stream: await new Promise((resolve) => {
          const events = new EventSource(`${receiver}/api/live?bucket=demo`, { withCredentials: true })
          events.onopen = () => resolve('open')
          events.onerror = () => resolve('refused')
        }),
      }
    }, url)
    // The answer to a blind request cannot be read.
    const blind = 'opaque 0'
    const refused = 'refused'
    expect(seen).toEqual({
      ...{ read: refused, readBlindly: blind, storeText: blind, storeJson: refused, storeTest: blind },
      ...{ makeKey: refused, stream: refused },
    })
    const [, framed] = other.frames()
    expect(await framed!.locator('body').textContent()).not.toContain('Logs')
    expect((await call('GET', '/api/logs/demo')).body.total).toBe(0)
    expect((await call('GET', '/api/keys')).body.list).toHaveLength(1)
  })

  it('gets nothing under a name that leads to this machine, and does not use up the address of the page', async () => {
    const { url, page } = await openPage()
    const other = await page.context().newPage()
    const under = (path: string) => `http://${rebound}:${new URL(url).port}${path}`
    expect((await other.goto(under('/?token=guess')))?.status()).toBe(403)
    const statuses = await other.evaluate(
      (paths) => Promise.all(paths.map((path) => fetch(path).then(({ status }) => status))),
      ['/', '/api/session', '/api/logs/demo', '/api/live?bucket=demo', '/api/openapi.json', '/metrics', '/assets/x.js'],
    )
    expect(statuses.filter((status) => status !== 401 && status !== 403)).toEqual([])
  })
})
