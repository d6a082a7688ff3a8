import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Access } from '../dist/http/access.js'
import { buildApp } from '../dist/http/app.js'
import { Connections } from '../dist/http/connections.js'
import { Keys } from '../dist/keys/keys.js'
import { PageSessions } from '../dist/keys/page-sessions.js'
import { scopes } from '../dist/keys/scopes.js'
import { LiveFeed } from '../dist/live/live-feed.js'
import { SqliteStorage } from '../dist/storage/sqlite/sqlite-storage.js'
import { visit } from './browser.js'

const html = '<!doctype html><title>the page</title>'
let web: string
let app: Awaited<ReturnType<typeof appWithPage>>
beforeEach(async () => {
  web = await mkdtemp(join(tmpdir(), 'receiver-web-'))
  await writeFile(join(web, 'index.html'), html)
  await writeFile(join(web, 'app-1a2b.js'), 'export {}')
  app = await appWithPage()
})
afterEach(async () => {
  await app.close()
  await rm(web, { recursive: true })
})

/** The receiver's app with a page of its own. */
async function appWithPage() {
  const storage = new SqliteStorage(':memory:')
  const keys = await Keys.load(storage.keys)
  const sessions = await PageSessions.load(storage.pageSessions)
  const server = buildApp({
    storage,
    keys,
    access: new Access({ keys, sessions, hosts: [], store: 'test' }),
    feed: new LiveFeed(storage.records),
    start: { url: '', apiKey: null, project: 'demo', startedAt: new Date().toISOString() },
    web: pathToFileURL(`${web}/`),
    requestTimeoutMs: 30_000,
    connections: new Connections(),
  })
  const url = await server.listen({ port: 0, host: '127.0.0.1' })
  const { headers } = await visit(url, { path: `/?token=${sessions.token}` })
  return {
    url,
    apiKey: (await keys.make({ scopes })).key,
    cookie: headers['set-cookie']![0]!.split(';')[0]!,
    close: async () => {
      await server.close()
      await storage.close()
    },
  }
}

describe('the page', () => {
  it('is served to its session, and to an API key, and is never kept', async () => {
    for (const headers of [{ cookie: app.cookie }, { 'x-api-key': app.apiKey }] as Record<string, string>[]) {
      const page = await visit(app.url, { headers })
      expect(page).toMatchObject({ status: 200, body: html })
      expect(page.headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'content-security-policy':
          "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
          "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
      })
    }
  })

  it('has files that a browser keeps, for its session only', async () => {
    const path = '/assets/app-1a2b.js'
    const file = await visit(app.url, { path, headers: { cookie: app.cookie } })
    expect(file).toMatchObject({ status: 200, body: 'export {}' })
    expect(file.headers).toMatchObject({
      'content-type': 'application/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    })
    expect((await visit(app.url, { path })).status).toBe(401)
  })

  it.each(['/assets/', '/assets/index.html', '/assets/nothing.js', '/assets/..%2f..%2fpackage.json'])(
    'has no file %s',
    async (path) => {
      expect((await visit(app.url, { path, headers: { cookie: app.cookie } })).status).toBeGreaterThanOrEqual(400)
    },
  )

  it('says so where it is not built', async () => {
    await rm(join(web, 'index.html'))
    const page = await visit(app.url, { headers: { cookie: app.cookie } })
    expect(page.status).toBe(404)
    expect(page.body).toContain('not built')
  })
})
