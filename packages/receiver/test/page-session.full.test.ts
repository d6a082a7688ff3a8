import { writeFile } from 'node:fs/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { openPage, visit } from './browser.js'
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
    expect(second.body).toContain('Open the address that the receiver printed at its start')
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
