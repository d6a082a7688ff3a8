import { text } from 'node:stream/consumers'
import pg from 'pg'
import { startReceiver } from 'sluice-receiver'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { full } from '../../../../test/support/full.js'
import { cookieOf, signIn, visit } from '../browser.js'
import { failure, killAll, ready, start } from '../processes.js'
import { caller, log } from '../support.js'
import { Cluster } from './cluster.js'
import { postgresInstalled, withPostgres } from './installation.js'
import { queryOf, stopServers } from './server.js'

/** A change that one receiver makes counts at the others after this time, in ms. */
const withinMs = 2000

describe.skipIf(!postgresInstalled)(withPostgres('two receivers over one database'), { timeout: 60_000 }, () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await Cluster.start()
  })
  afterEach(killAll)
  afterAll(stopServers)

  it.runIf(full)('have the same keys, plans and sessions within two seconds', async () => {
    const database = await cluster.createDatabase()
    const one = await ready('--database', database)
    const other = await startReceiver({ port: 0, database })
    expect(other.apiKey).toBeNull()
    const admin = caller({ url: one.url, apiKey: one.apiKey })
    const poll = { timeout: withinMs, interval: 50 }

    const { body: key } = await admin('POST', '/api/keys', { scopes: ['ingest'] })
    const call = caller({ url: other.url, apiKey: key.key })
    await expect.poll(async () => (await call('POST', '/logs/demo', log)).status, poll).toBe(201)

    const entries = async () =>
      (await caller({ url: other.url, apiKey: one.apiKey })('GET', '/ng-cms/content-types/demo')).status
    const before = await entries()
    expect(before).not.toBe(412)
    await admin('PUT', '/api/projects/demo/plan', { content: false })
    await expect.poll(entries, poll).toBe(412)

    const { body: reader } = await admin('POST', '/api/keys', { scopes: ['read'] })
    const sessions: { cookie: string }[] = []
    for (const sent of [reader.key, reader.key, one.apiKey]) {
      sessions.push({ cookie: cookieOf((await signIn(one.url, sent)).headers) })
    }
    const at = (url: string, headers: { cookie: string }) => async () =>
      (await visit(url, { path: '/api/session', headers })).status
    for (const headers of sessions) await expect.poll(at(other.url, headers), poll).toBe(200)
    const [ended, ofKey, kept] = sessions as [{ cookie: string }, { cookie: string }, { cookie: string }]
    expect((await visit(one.url, { method: 'DELETE', path: '/api/session', headers: ended })).status).toBe(200)
    await expect.poll(at(other.url, ended), poll).toBe(401)
    await admin('DELETE', `/api/keys/${reader.id}`)
    expect(await at(one.url, ofKey)()).toBe(401)
    await expect.poll(at(other.url, ofKey), poll).toBe(401)
    expect(await at(other.url, kept)()).toBe(200)

    const { child } = start('page', '--database', database, '--json')
    const { search } = new URL(JSON.parse(await text(child.stdout)).page)
    expect((await visit(one.url, { path: `/${search}` })).status).toBe(303)
    expect((await visit(other.url, { path: `/${search}` })).status).toBe(401)

    await admin('DELETE', `/api/keys/${key.id}`)
    await expect.poll(async () => (await call('POST', '/logs/demo', log)).status, poll).toBe(401)
    await other.close()
  })

  it('show each other what arrives', async () => {
    const database = await cluster.createDatabase()
    const [one, other] = [await ready('--database', database), await ready('--database', database)]
    const response = await fetch(`${one.url}/api/live?bucket=demo`, { headers: { 'x-api-key': one.apiKey! } })
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    const until = async (word: string) => {
      while (!text.includes(word)) text += (await reader.read()).value
    }
    await until('event: hello')
    await caller({ url: other.url, apiKey: one.apiKey })('POST', '/logs/demo', { ...log, message: 'from the other' })
    await until('from the other')
    await reader.cancel()
  })

  it.runIf(full)('have keys that are made, listed and revoked by command', async () => {
    const database = await cluster.createDatabase()
    const receiver = await ready('--database', database)
    const run = async (...args: string[]) => {
      const { child, exit } = start('keys', ...args, '--database', database, '--json')
      let out = ''
      child.stdout!.on('data', (chunk) => {
        out += chunk
      })
      const [status] = await exit
      return { status, out }
    }
    const made = JSON.parse((await run('add', '--scope', 'read', '--name', 'ops')).out)
    const call = caller({ url: receiver.url, apiKey: made.key })
    await expect.poll(async () => (await call('GET', '/api/logs/demo')).status).toBe(200)
    expect((await run('list')).out).toContain('"name":"ops"')
    expect((await run('revoke', made.id)).status).toBe(0)
    await expect.poll(async () => (await call('GET', '/api/logs/demo')).status).toBe(401)
  })

  it.runIf(full)('store records while nobody can read keys and projects', async () => {
    const database = await cluster.createDatabase()
    const receiver = await ready('--database', database)
    const post = async () => (await caller(receiver)('POST', '/logs/demo', log)).status
    expect(await post()).toBe(201)
    const holder = new pg.Client(database)
    await holder.connect()
    await holder.query('BEGIN')
    await holder.query('LOCK TABLE sluice_keys, sluice_projects IN ACCESS EXCLUSIVE MODE')
    // They are read again each second.
    const waiting = (table: string) =>
      cluster.primary.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND strpos(query, $1) > 0", [
        table,
      ])
    for (const table of ['sluice_keys', 'sluice_projects']) await expect.poll(() => waiting(table)).toHaveLength(1)
    expect(await post()).toBe(201)
    await holder.end()
  })

  it.runIf(full)('refuse a database that cannot be used, without its password', async () => {
    const url = new URL(await cluster.createDatabase())
    url.username = 'nobody'
    url.password = 'secret'
    const { child, exit } = start('--database', url.href)
    let err = ''
    child.stderr!.on('data', (chunk) => {
      err += chunk
    })
    expect((await exit)[0]).toBe(1)
    expect(err).toContain(`cannot use the database: no server of the database ${url.host}`)
    expect(err).toContain('role "nobody" does not exist')
    expect(err).not.toContain('secret')
  })

  it.runIf(full)('refuse a database that cannot keep every text, and make no tables there', async () => {
    await cluster.primary.query(
      "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0",
    )
    const url = cluster.primary.urlOf('latin')
    expect(await failure('--database', url)).toContain(
      `cannot use the database: ${new URL(url).host}/latin has the encoding LATIN1: expected UTF8, as records have any text`,
    )
    expect(await queryOf(url, "SELECT 1 FROM pg_class WHERE relname LIKE 'sluice%'")).toEqual([])
  })
})
