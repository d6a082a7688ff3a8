import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { openPage, signIn } from './browser.js'
import { killAll, ready, start } from './processes.js'
import { connected } from './sockets.js'
import { caller, log } from './support.js'

afterEach(killAll)

const args = ['--data', ':memory:', '--access-log']

/** The next lines of a stream. */
async function next(stream: Readable, count: number) {
  const lines = createInterface({ input: stream })[Symbol.asyncIterator]()
  const read: string[] = []
  while (read.length < count) read.push((await lines.next()).value)
  return read
}

describe('--access-log', () => {
  it('prints a line for each request, with the id of its key', async () => {
    const receiver = await ready(...args)
    const call = caller(receiver)
    const lines = next(receiver.child.stderr, 5)
    const { headers } = await call('POST', '/logs/demo', log)
    await call('GET', '/api/logs/demo?limit=1')
    await call('GET', '/api/nothing', undefined, { 'x-api-key': 'wrong' })
    await call('GET', '/%zz')
    const [{ id }] = (await call('GET', '/api/keys')).body.list
    const read = (await lines).map((line) => JSON.parse(line))
    const about = { level: 30, time: expect.stringMatching(/^\d{4}-.*Z$/), remote: '127.0.0.1' }
    expect(read).toMatchObject([
      { ...about, method: 'POST', path: '/logs/demo', status: 201, key: id, id: headers.get('x-correlation-id') },
      { ...about, method: 'GET', path: '/api/logs/demo?limit=1', status: 200, key: id },
      { ...about, method: 'GET', path: '/api/nothing', status: 401, key: null },
      { ...about, method: 'GET', path: '/%zz', status: 400, key: id },
      { ...about, method: 'GET', path: '/api/keys', status: 200, key: id },
    ])
    for (const { ms } of read) expect(ms).toBeGreaterThanOrEqual(0)
    expect(receiver.lines).toHaveLength(1)
  })

  it('never prints a key or the token of the page', async () => {
    const receiver = await ready(...args)
    const { apiKey, page, url } = receiver
    const token = new URL(page).searchParams.get('token')!
    const lines = next(receiver.child.stderr, 6)
    await openPage({ url, page: `${page}&view=1` })
    await fetch(`${url}/?view=2&%74oken=${token}`)
    await signIn(url, apiKey!)
    await signIn(url, `${apiKey}x`)
    await caller(receiver)('GET', `/api/logs/demo?key=${apiKey}`)
    await caller(receiver)('GET', `/${apiKey!.replace('_', '%5F')}`)
    const read = (await lines).map((line) => JSON.parse(line).path)
    expect(read).toEqual(['/?view=1', '/?view=2', '/', '/', '/api/logs/demo?key=slk_…', '/slk_…'])
  })

  it.each([
    ['an escape sequence', '\u001b[31m'],
    ['its beginning in one byte', '\u009b31m'],
    ['its beginning in UTF-8', '\u00c2\u009b31m'],
    ['a change of the writing direction', '\u00e2\u0080\u00ae'],
    ['another line', '\n{}'],
  ])('has no line with %s in its path: that is no request', async (_, hostile) => {
    const receiver = await ready(...args)
    const lines = next(receiver.child.stderr, 1)
    const socket = await connected(receiver.url)
    socket.write(Buffer.from(`GET /a${hostile} HTTP/1.1\r\nhost: x\r\n\r\n`, 'latin1'))
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /)
    await caller(receiver)('GET', `/after${encodeURI(hostile)}`)
    const [line = ''] = await lines
    expect(line).toMatch(/^[\x20-\x7e]+$/)
    expect(JSON.parse(line).path).toMatch(/^\/after/)
  })

  it('marks an answer of which the client did not see the end', async () => {
    const receiver = await ready(...args)
    const lines = next(receiver.child.stderr, 1)
    const stop = new AbortController()
    const headers = { 'x-api-key': receiver.apiKey! }
    await fetch(`${receiver.url}/api/live?bucket=demo`, { headers, signal: stop.signal })
    stop.abort()
    expect(JSON.parse((await lines)[0]!)).toMatchObject({ path: '/api/live?bucket=demo', status: 200, aborted: true })
  })

  it('goes to stdout without --json, after the greeting, and is whole when the receiver ends', async () => {
    const { child, exit } = start('--port', '0', ...args)
    let printed = ''
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk
    })
    const url = await vi.waitUntil(() => /SLUICE_URL=(\S+)/.exec(printed)?.[1], { timeout: 30_000 })
    await Promise.all(Array.from({ length: 100 }, () => fetch(`${url}/api/health`).then((answer) => answer.text())))
    child.kill('SIGTERM')
    await Promise.all([exit, once(child.stdout, 'close')])
    expect(printed.split('\n').filter((line) => line.includes('"path":"/api/health"'))).toHaveLength(100)
  })

  it('is off by default', async () => {
    const receiver = await ready('--data', ':memory:')
    await caller(receiver)('GET', '/api/logs/demo')
    receiver.child.kill('SIGTERM')
    expect(await text(receiver.child.stderr)).toBe('')
    expect(receiver.lines).toHaveLength(1)
  })
})
