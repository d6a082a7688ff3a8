import { writeFile } from 'node:fs/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { cookieOf, openPage, signIn, visit } from './browser.js'
import { dataFolder } from './data-folder.js'
import { startReceiverForTest } from './support.js'

const data = dataFolder()
const running: { close(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((receiver) => receiver.close()))
})

async function start(options: Parameters<typeof startReceiverForTest>[0] = {}) {
  const receiver = await startReceiverForTest(options)
  running.push(receiver)
  return receiver
}

const pathOf = (page: string) => page.slice(new URL(page).origin.length)

describe('the session of the page', () => {
  it('begins with the token of the start, which works once', async () => {
    const { url, page } = await start()
    const first = await visit(url, { path: pathOf(page) })
    expect(first).toMatchObject({ status: 303, headers: { location: '/', 'cache-control': 'no-store' } })
    const port = new URL(url).port
    expect(first.headers['set-cookie']).toEqual([
      expect.stringMatching(
        new RegExp(`^sluice-page-${port}-[\\da-f]{32}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict$`),
      ),
    ])
    const second = await visit(url, { path: pathOf(page) })
    expect(second.status).toBe(401)
    expect(second.headers['set-cookie']).toBeUndefined()
    expect(second.body).toContain('This address has opened a browser already')
  })

  it('has a cookie of its own for each store, and counts beside those of other receivers', async () => {
    const first = await start()
    const { cookie } = await openPage(first)
    await first.close()
    const second = await start({ port: Number(new URL(first.url).port) })
    const other = await openPage(second)
    expect(other.cookie.split('=')[0]).not.toBe(cookie.split('=')[0])
    const both = { cookie: `${cookie}; theme=dark; ${other.cookie}` }
    expect((await visit(second.url, { path: '/api/session', headers: both })).status).toBe(200)
    const foreign = { cookie: other.cookie.replace('sluice-page-', 'other-') }
    expect((await visit(second.url, { path: '/api/session', headers: foreign })).status).toBe(401)
  })

  it('takes the oldest cookies of receivers from a browser that has many', async () => {
    const { url, page } = await start()
    const old = Array.from({ length: 21 }, (_, number) => `sluice-page-${number}=x`)
    const { headers } = await visit(url, { path: pathOf(page), headers: { cookie: ['theme=dark', ...old].join('; ') } })
    expect(headers['set-cookie']!.slice(1).map((each) => each.split(';').slice(0, 2))).toEqual([
      ['sluice-page-0=', ' Max-Age=0'],
      ['sluice-page-1=', ' Max-Age=0'],
    ])
  })

  it('is opened again from the same address by the browser that has it, with its view', async () => {
    const receiver = await start()
    const session = await openPage(receiver)
    const again = await visit(receiver.url, { path: `${pathOf(receiver.page)}&level=error`, headers: session })
    expect(again).toMatchObject({ status: 303, headers: { location: '/?level=error' } })
    expect(again.headers['set-cookie']).toBeUndefined()
  })

  it('does not begin with a HEAD request, nor with a wrong token', async () => {
    const { url, page } = await start()
    expect((await visit(url, { method: 'HEAD', path: pathOf(page) })).headers['set-cookie']).toBeUndefined()
    for (const path of ['/', '/?token=', '/?token=wrong', '/?token=a&token=b', '/?level=error']) {
      expect([path, (await visit(url, { path })).status]).toEqual([path, 401])
    }
    expect((await visit(url, { path: pathOf(page) })).status).toBe(303)
  })

  it('reads, archives content types and stores a test record, and may do nothing else', async () => {
    const receiver = await start()
    const headers = await openPage(receiver)
    const answers: [number, string, string][] = [
      [200, 'GET', '/api/logs/demo'],
      [200, 'GET', '/api/values/demo'],
      [200, 'GET', '/api/session'],
      [200, 'GET', '/api/rejected'],
      [200, 'GET', '/api/facets/logs?bucket=demo'],
      [200, 'GET', '/api/openapi.json'],
      [200, 'GET', '/ng-cms/content-types/demo'],
      [404, 'DELETE', '/ng-cms/content-types/demo/nothing'],
      [201, 'POST', '/api/test-record'],
      [401, 'POST', '/api/projects'],
      [401, 'PUT', '/api/projects/demo/plan'],
      [401, 'POST', '/logs/demo'],
      [401, 'POST', '/value_tracking/demo'],
      [401, 'POST', '/ng-cms/content/demo/article'],
      [401, 'POST', '/api/projects/demo/content-types'],
    ]
    for (const [status, method, path] of answers) {
      expect([(await visit(receiver.url, { method, path, headers })).status, method, path]).toEqual([
        status,
        method,
        path,
      ])
    }
    const wrong = { cookie: `${headers.cookie}x` }
    expect((await visit(receiver.url, { path: '/api/session', headers: wrong })).status).toBe(401)
  })

  it('outlives a restart with the same data, and not one without', async () => {
    for (const [folder, status] of [
      [data.path, 200],
      [':memory:', 401],
    ] as const) {
      const first = await start({ data: folder })
      const headers = await openPage(first)
      await first.close()
      const port = Number(new URL(first.url).port)
      const second = await start({ data: folder, port })
      expect(second.page).not.toBe(first.page)
      expect((await visit(second.url, { path: '/api/session', headers })).status).toBe(status)
      await second.close()
    }
  })
})

/** Adds a key to a receiver, and signs in with it. */
async function signedIn({ url, call }: Pick<Awaited<ReturnType<typeof start>>, 'url' | 'call'>, ...scopes: string[]) {
  const { id, key } = (await call('POST', '/api/keys', { scopes })).body
  const { headers } = await signIn(url, key)
  return { id, key, headers: { cookie: cookieOf(headers) } }
}

describe('a person without a session', () => {
  it('is asked for a key, on a page that needs neither a script nor a built page', async () => {
    const { url } = await start()
    const { status, headers, body } = await visit(url)
    expect(status).toBe(401)
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'same-origin' })
    expect(headers['content-security-policy']).toContain("form-action 'self'")
    expect(body).toContain('<input id="key" name="key" type="password"')
    expect(body).not.toMatch(/<script|<style| style=| on\w+=/)
    const style = await visit(url, { path: '/sign-in.css' })
    expect(style).toMatchObject({ status: 200, headers: { 'content-type': 'text/css; charset=utf-8' } })
  })

  it('opens a session with a key that may read, and comes to the view that was asked for', async () => {
    const { url, apiKey } = await start()
    const answer = await signIn(url, ` ${apiKey}\n`)
    expect(answer).toMatchObject({ status: 303, headers: { location: '/', 'cache-control': 'no-store' } })
    expect(answer.headers['set-cookie']).toEqual([
      expect.stringMatching(/^sluice-page-\d+-[\da-f]{32}=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/),
    ])
    const headers = { cookie: cookieOf(answer.headers) }
    for (const path of ['/', '/?token=a&token=b', '/api/logs/demo']) {
      expect([path, (await visit(url, { path, headers })).status]).toEqual([path, 200])
    }
    const form = { 'content-type': 'application/x-www-form-urlencoded', origin: url }
    const sent = { method: 'POST', path: '/?a=1&token=x', headers: form, body: `key=${apiKey}` }
    expect((await visit(url, sent)).headers.location).toBe('/?a=1')
  })

  it('gets the form again with one line where the key is wrong, or may not read', async () => {
    const { url, call } = await start()
    const { key } = (await call('POST', '/api/keys', { scopes: ['ingest'] })).body
    for (const [sent, status, line] of [
      ['slk_wrong', 401, 'The receiver does not know this key.'],
      ['', 401, 'The receiver does not know this key.'],
      ['"><b>', 401, 'The receiver does not know this key.'],
      [key, 403, 'the API key lacks the scope read; it has ingest'],
    ] as const) {
      const answer = await signIn(url, sent)
      expect([sent, answer.status, answer.headers['set-cookie']]).toEqual([sent, status, undefined])
      expect(answer.body).toContain(`role="alert">${line}</p>`)
      expect(answer.body).toContain('<form')
      if (sent !== '') expect(answer.body).not.toContain(sent)
    }
    expect((await visit(url, { method: 'POST', headers: { origin: url } })).status).toBe(401)
    expect((await call('GET', '/api/rejected')).body.items).toEqual([])
  })

  it('is not signed in by another site, nor under a name that is not ours, nor with a body that is no form', async () => {
    const { url, apiKey } = await start()
    for (const headers of [
      { origin: 'http://localhost:3000' },
      { origin: 'null' },
      { host: 'attacker.example', origin: 'http://attacker.example' },
    ] as Record<string, string>[]) {
      const answer = await signIn(url, apiKey!, headers)
      expect([headers, answer.status, answer.headers['set-cookie']]).toEqual([headers, 403, undefined])
    }
    expect((await visit(url, { headers: { host: 'attacker.example' } })).status).toBe(403)
    expect((await signIn(url, 'x'.repeat(5000))).status).toBe(413)
    expect((await signIn(url, apiKey!, { 'content-type': 'text/plain' })).status).toBe(415)
  })
})

describe('a session of a key', () => {
  it('reads all that the page shows, and changes what its key may change', async () => {
    const receiver = await start()
    const calls: [string, string, string | undefined][] = [
      ['GET', '/api/logs/demo', undefined],
      ['GET', '/api/session', undefined],
      ['GET', '/ng-cms/content-types/demo', undefined],
      ['DELETE', '/ng-cms/content-types/demo/nothing', 'content'],
      ['POST', '/api/test-record', 'ingest'],
    ]
    for (const scopes of [['read'], ['read', 'content'], ['read', 'ingest']]) {
      const { headers } = await signedIn(receiver, ...scopes)
      for (const [method, path, scope] of calls) {
        const { status } = await visit(receiver.url, { method, path, headers })
        const isAllowed = scope === undefined || scopes.includes(scope)
        expect([scopes, method, path, status !== 403]).toEqual([scopes, method, path, isAllowed])
      }
      expect((await visit(receiver.url, { path: '/api/keys', headers })).status).toBe(401)
    }
  })

  it('does not learn the key of the start, unless its own may administrate', async () => {
    const receiver = await start()
    for (const [apiKey, ...scopes] of [
      [null, 'read'],
      [receiver.apiKey, 'read', 'admin'],
    ] as [string | null, ...string[]][]) {
      const { headers } = await signedIn(receiver, ...scopes)
      expect(JSON.parse((await visit(receiver.url, { path: '/api/session', headers })).body).apiKey).toBe(apiKey)
    }
  })

  it('ends with its key at once, and so does its live stream', async () => {
    const receiver = await start()
    const { id, headers } = await signedIn(receiver, 'read')
    const stream = visit(receiver.url, { path: '/api/live?bucket=demo', headers })
    await vi.waitUntil(async () => (await receiver.call('GET', '/metrics')).body.includes('live_readers 1'))
    await receiver.call('DELETE', `/api/keys/${id}`)
    expect((await visit(receiver.url, { path: '/api/session', headers })).status).toBe(401)
    expect((await stream).body).toContain('event: hello')
  })

  it('ends after twenty others of the same key', async () => {
    const receiver = await start()
    const { key, headers } = await signedIn(receiver, 'read')
    const other = await signedIn(receiver, 'read')
    const later = await Promise.all(Array.from({ length: 20 }, () => signIn(receiver.url, key)))
    const statusOf = async (sent: Record<string, string>) =>
      (await visit(receiver.url, { path: '/api/session', headers: sent })).status
    expect(await statusOf(headers)).toBe(401)
    expect(await statusOf(other.headers)).toBe(200)
    for (const answer of later) expect(await statusOf({ cookie: cookieOf(answer.headers) })).toBe(200)
  })

  it('ends after thirty days', async () => {
    const first = await start({ data: data.path })
    const { headers } = await signedIn(first, 'read')
    await first.close()
    data.inDatabase((database) => database.exec(`UPDATE page_sessions SET created_at = created_at - 30 * 86400000`))
    const { url } = await start({ data: data.path, port: Number(new URL(first.url).port) })
    expect((await visit(url, { path: '/api/session', headers })).status).toBe(401)
  })
})

describe('DELETE /api/session', () => {
  it('ends the session at once, with its live streams, and takes the cookie away', async () => {
    const receiver = await start()
    const others = [await openPage(receiver), (await signedIn(receiver, 'read')).headers]
    for (const headers of others) {
      const stream = visit(receiver.url, { path: '/api/live?bucket=demo', headers })
      await vi.waitUntil(async () => (await receiver.call('GET', '/metrics')).body.includes('live_readers 1'))
      const foreign = { ...headers, origin: 'http://localhost:3000' }
      const end = { method: 'DELETE', path: '/api/session' }
      expect((await visit(receiver.url, { ...end, headers: foreign })).status).toBe(403)
      const answer = await visit(receiver.url, { ...end, headers })
      expect([answer.status, answer.body]).toEqual([200, '{"ended":true}'])
      expect(answer.headers['set-cookie']).toEqual([
        expect.stringMatching(new RegExp(`^${headers.cookie.split('=')[0]}=; Max-Age=0; Path=/; HttpOnly`)),
      ])
      expect((await stream).body).toContain('event: hello')
      expect((await visit(receiver.url, { path: '/api/session', headers })).status).toBe(401)
    }
    expect(
      (
        await visit(receiver.url, {
          method: 'DELETE',
          path: '/api/session',
          headers: { 'x-api-key': receiver.apiKey! },
        })
      ).status,
    ).toBe(404)
  })
})

describe('a request with the cookie of the page', () => {
  it.each([
    [200, { host: 'localhost:1' }],
    [200, { host: 'LOCALHOST' }],
    [200, { host: '192.168.1.7:18400' }],
    [200, { host: '[::1]:18400' }],
    [200, { host: 'logs.example.com' }],
    [403, { host: 'attacker.example' }],
    [403, { host: 'localhost.attacker.example' }],
    [403, { host: '127.0.0.1.attacker.example' }],
    [403, { host: 'localhost:1@attacker.example' }],
    [200, { host: 'localhost:1', origin: 'http://localhost:1' }],
    [403, { host: 'localhost:1', origin: 'http://localhost:2' }],
    [403, { host: 'localhost:1', origin: 'https://attacker.example' }],
    [403, { origin: 'null' }],
    [200, { 'sec-fetch-site': 'same-origin' }],
    [200, { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }],
    [403, { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }],
    // A page on another port of this machine is of the same site, so the browser sends it the cookie.
    [403, { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' }],
  ])('gets %s with %j', async (status, sent) => {
    const receiver = await start({ pageHost: 'logs.example.com:8443' })
    const headers = { ...(await openPage(receiver)), ...(sent as Record<string, string>) }
    expect((await visit(receiver.url, { path: '/api/session', headers })).status).toBe(status)
  })

  it('does nothing when another site has sent it', async () => {
    const receiver = await start()
    const headers = { ...(await openPage(receiver)), origin: 'http://localhost:3000' }
    expect((await visit(receiver.url, { method: 'POST', path: '/api/test-record', headers })).status).toBe(403)
    expect((await receiver.call('GET', '/api/logs/demo')).body.total).toBe(0)
  })

  it('is judged by its key alone where it has one', async () => {
    const receiver = await start()
    const headers = { host: 'attacker.example', 'x-api-key': receiver.apiKey! }
    expect((await visit(receiver.url, { path: '/api/session', headers })).status).toBe(200)
    const wrong = { ...(await openPage(receiver)), 'x-api-key': 'wrong' }
    expect((await visit(receiver.url, { path: '/api/session', headers: wrong })).status).toBe(401)
  })

  it('does not use the token under a name that is not ours', async () => {
    const { url, page } = await start()
    const headers = { host: 'attacker.example' }
    expect((await visit(url, { path: pathOf(page), headers })).status).toBe(403)
    expect((await visit(url, { path: pathOf(page) })).status).toBe(303)
  })
})

describe('the address of the page', () => {
  it.each([
    [undefined, /^http:\/\/127\.0\.0\.1:\d+\/\?token=/],
    ['logs.example.com', /^http:\/\/logs\.example\.com:[1-9]\d*\/\?token=/],
    ['localhost:9000', /^http:\/\/localhost:9000\/\?token=/],
  ])('with pageHost %s', async (pageHost, address) => {
    expect((await start({ pageHost })).page).toMatch(address)
  })

  it.each(['http://x', 'a b', '', 'x:y'])('cannot have the name %j', async (pageHost) => {
    await expect(start({ pageHost })).rejects.toMatchObject({
      name: 'ReceiverError',
      code: 'ADDRESS_UNUSABLE',
      message: expect.stringContaining('--page-host'),
    })
  })
})

describe('GET /api/session', () => {
  it('tells the page what an application needs', async () => {
    const receiver = await start()
    await receiver.call('POST', '/api/projects', { id: 'other' })
    const { body } = await visit(receiver.url, { path: '/api/session', headers: await openPage(receiver) })
    expect(JSON.parse(body)).toEqual({
      url: receiver.url,
      apiKey: receiver.apiKey,
      bucket: 'demo',
      projects: ['demo', 'other'],
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      startedAt: expect.stringMatching(/Z$/),
    })
  })

  it('has the names of the events in the catalogue of the start, by number', async () => {
    const events = data.file('events.json')
    const text = '{"order-placed":{"number":1001,"description":"a \\"b\\": {"},"order-paid":1002}'
    await writeFile(events, text)
    const receiver = await start({ events })
    const { body } = await receiver.call('GET', '/api/session')
    expect(body.events).toEqual({ 1001: 'order-placed', 1002: 'order-paid' })
  })

  it.each([
    ['{"a":{"number":1},"b":{"number":1}}', 'event b, number: the number 1 is that of a already'],
    ['{"a":{"number":-1}}', 'event a, number: expected a whole number from 0, got -1'],
    ['[1001]', 'expected an object with the events by name, got an array'],
    ['{"a":{"number":1},"b":2,"a":3}', 'event a: the name is there twice'],
    ['{', 'JSON'],
  ])('does not exist with a catalogue %s: the start fails', async (text, fault) => {
    const events = data.file('events.json')
    await writeFile(events, text)
    await expect(startReceiverForTest({ events })).rejects.toMatchObject({
      name: 'ReceiverError',
      code: 'EVENTS_UNUSABLE',
      message: expect.stringMatching(new RegExp(`^cannot use the events of .*events.json: .*${fault}`)),
    })
  })
})
