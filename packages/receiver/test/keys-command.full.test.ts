import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { full } from '../../../test/support/full.js'
import { openPage, visit } from './browser.js'
import { dataFolder } from './data-folder.js'
import { killAll, ready, start } from './processes.js'
import { caller, log, startReceiverForTest } from './support.js'

const data = dataFolder()
afterEach(killAll)

/** Runs `sluice-receiver keys`, or another command that ends by itself. */
async function run(...args: string[]) {
  const { child, exit } = start(...args)
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exit])
  return { stdout, stderr, code }
}

const keys = (...args: string[]) => lines('keys', ...args)
const projects = (...args: string[]) => lines('projects', ...args)

async function lines(...args: string[]) {
  const { stdout, stderr, code } = await run(...args, '--data', data.path, '--json')
  expect([stderr, code]).toEqual(['', 0])
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

const today = () => new Date().toISOString().slice(0, 10)

describe('sluice-receiver keys', () => {
  it('adds, lists and revokes keys beside a running receiver, which heeds it within two seconds', async () => {
    const { url, apiKey } = await ready('--data', data.path)
    const [added] = await keys('add', '--scope', 'read,ingest', '--name', 'the shop')
    expect(added).toMatchObject({ name: 'the shop', scopes: ['ingest', 'read'], projects: null, lastUsed: null })
    const { call } = { call: caller({ url, apiKey: added.key }) }
    const status = async () => (await call('POST', '/logs/demo', log)).status
    await vi.waitUntil(async () => (await status()) === 201, { timeout: 2000, interval: 20 })
    expect((await call('GET', '/api/keys')).status).toBe(403)

    await vi.waitUntil(async () => (await keys('list')).at(-1)?.lastUsed === today(), { timeout: 10_000, interval: 20 })
    const listed = await keys('list')
    expect(listed).toEqual([
      expect.objectContaining({ name: '', scopes: ['ingest', 'content', 'read', 'admin'] }),
      { ...added, key: undefined, lastUsed: today() },
    ])
    expect((await caller({ url, apiKey })('GET', '/api/keys')).body.list).toMatchObject(
      listed.map(({ id }: { id: string }) => ({ id })),
    )

    expect(await keys('revoke', added.id)).toEqual([{ id: added.id }])
    await vi.waitUntil(async () => (await status()) === 401, { timeout: 2000, interval: 20 })
    expect(await keys('list')).toHaveLength(1)
  })

  it.runIf(full)('shows a person the key once, and a table without it', async () => {
    await (await startReceiverForTest({ data: data.path })).close()
    const { stdout } = await run('keys', 'add', '--name', 'x', '--data', data.path)
    const [, id, key] = /^Key (\w{12}) with ingest\. It is shown only now:\n\n {2}(slk_\S+)\n\n$/.exec(stdout)!
    const list = await run('keys', 'list', '--data', data.path)
    expect(list.stdout).toMatch(new RegExp(`\n${id} +${today()} +never +ingest +all +x\n$`))
    expect(list.stdout).not.toContain(key)
    expect((await run('keys', 'revoke', id!, '--data', data.path)).stdout).toBe(`Key ${id} is revoked.\n`)
  })

  it.runIf(full).each([
    [['lst'], 'expected add, list or revoke, got "lst"', 2],
    [['add', '--scope', 'ingest,red'], '--scope: expected some of ingest, content, read, admin', 2],
    [['add', '--name', 'a\nb'], '--name', 2],
    [['add', '--port', '1'], '--port', 2],
    [['add', '--project', 'dmeo'], 'there is no project dmeo; did you mean demo?', 1],
    [['revoke'], 'expected one id', 2],
    [['revoke', 'nothing'], 'there is no key nothing', 1],
    [['list', '--data', ':memory:'], 'in memory', 1],
    [['list', '--data', '/nowhere'], 'there is no store in /nowhere', 1],
  ])('says in one line what is wrong with %j', async (args, named, status) => {
    await (await startReceiverForTest({ data: data.path })).close()
    const { stderr, code } = await run('keys', ...args, ...(args.includes('--data') ? [] : ['--data', data.path]))
    expect(stderr).toMatch(/^sluice-receiver: [^\n]+\n$/)
    expect(stderr).toContain(named)
    expect(code).toBe(status)
  })
})

describe('sluice-receiver page', () => {
  it('prints an address of the running receiver that opens one browser, once', async () => {
    const { url } = await ready('--data', data.path)
    const { stdout, stderr, code } = await run('page', '--data', data.path)
    expect([stderr, code]).toEqual(['', 0])
    expect(stdout).toMatch(new RegExp(`^${url}/\\?token=[\\w-]{43}\n$`))
    const headers = await openPage({ url, page: stdout.trim() })
    expect((await visit(url, { path: '/api/session', headers })).status).toBe(200)
    expect((await visit(stdout.trim())).status).toBe(401)
  })

  it('has the name that the receiver was given, and its token is over after ten minutes and without a receiver', async () => {
    const first = await startReceiverForTest({ data: data.path, pageHost: 'logs.example.com:8443' })
    const { page } = JSON.parse((await run('page', '--data', data.path, '--json')).stdout)
    expect(page).toMatch(/^http:\/\/logs\.example\.com:8443\/\?token=/)
    data.inDatabase((database) => database.exec('UPDATE page_tokens SET created_at = created_at - 600000'))
    expect((await visit(first.url, { path: new URL(page).search })).status).toBe(401)
    const again = JSON.parse((await run('page', '--data', data.path, '--json')).stdout)
    expect((await visit(first.url, { path: new URL(again.page).search })).status).toBe(303)
    data.inDatabase((database) => {
      expect(database.prepare('SELECT * FROM page_tokens').all()).toEqual([])
      const kept = JSON.stringify(database.prepare('SELECT * FROM page_sessions').all())
      expect(kept).not.toContain(new URL(again.page).searchParams.get('token'))
    })
    await first.close()
  })

  it.runIf(full).each([
    [['x'], 'page: unexpected "x"', 2],
    [['--port', '1'], '--port', 2],
    [['--data', ':memory:'], 'in memory', 1],
    [['--data', '/nowhere'], 'no receiver runs on /nowhere (there is no such folder: /nowhere): start one with', 1],
    [[], 'page: no receiver runs on /', 1],
  ])('says in one line what is wrong with %j', async (args, named, status) => {
    await (await startReceiverForTest({ data: data.path })).close()
    const { stderr, code } = await run('page', ...args, ...(args.includes('--data') ? [] : ['--data', data.path]))
    expect(stderr).toMatch(/^sluice-receiver: [^\n]+\n$/)
    expect(stderr).toContain(named)
    expect(code).toBe(status)
  })
})

describe('sluice-receiver projects', () => {
  it('adds and lists projects, changes plans, and binds keys, beside a running receiver, which heeds it within two seconds', async () => {
    const { url, apiKey } = await ready('--data', data.path)
    const call = caller({ url, apiKey })
    expect(await projects('add', 'shop')).toEqual([{ id: 'shop', plan: { content: true } }])
    expect((await call('POST', '/logs/shop', log)).status).toBe(201)
    const types = async () => (await call('GET', '/ng-cms/content-types/shop')).status
    expect(await types()).toBe(200)
    expect(await projects('plan', 'shop', '--no-content')).toEqual([{ id: 'shop', plan: { content: false } }])
    await vi.waitUntil(async () => (await types()) === 412, { timeout: 2000, interval: 20 })
    expect(await projects('list')).toEqual([
      { id: 'demo', plan: { content: true } },
      { id: 'shop', plan: { content: false } },
    ])
    await projects('plan', 'shop', '--content')
    await vi.waitUntil(async () => (await types()) === 200, { timeout: 2000, interval: 20 })

    const [bound] = await keys('add', '--project', 'shop', '--scope', 'ingest', '--scope', 'read')
    expect(bound).toMatchObject({ scopes: ['ingest', 'read'], projects: ['shop'] })
    expect((await keys('add', '--project', 'demo,shop', '--project', 'shop'))[0].projects).toEqual(['demo', 'shop'])
    const send = async (project: string) =>
      (await caller({ url, apiKey: bound.key })('POST', `/logs/${project}`, log)).status
    await vi.waitUntil(async () => (await send('shop')) === 201, { timeout: 2000, interval: 20 })
    expect(await send('demo')).toBe(403)
  })

  it.runIf(full)('shows a person a line, and a table', async () => {
    await (await startReceiverForTest({ data: data.path })).close()
    const shown = async (...args: string[]) => (await run(...args, '--data', data.path)).stdout
    expect(await shown('projects', 'add', 'shop')).toBe('Project shop has a plan with content.\n')
    expect(await shown('projects', 'plan', 'shop', '--no-content')).toBe('Project shop has a plan without content.\n')
    expect(await shown('projects', 'list')).toBe('id    plan\ndemo  with content\nshop  without content\n')
    expect(await shown('keys', 'add', '--project', 'shop')).toMatch(
      /^Key \w{12} with ingest for shop\. It is shown only now:/,
    )
    expect(await shown('keys', 'list')).toMatch(/ all\n.* shop\n$/s)
  })

  it.runIf(full).each([
    [['projects', 'lst'], 'expected add, list or plan, got "lst"', 2],
    [['projects', 'add'], 'expected one id', 2],
    [['projects', 'add', 'a/b'], 'expected a name of at most 100 letters', 2],
    [['projects', 'add', 'demo'], 'there is a project demo', 1],
    [['projects', 'plan', 'demo'], '--content or --no-content', 2],
    [['projects', 'plan', 'nothing', '--content'], 'there is no project nothing', 1],
    [['projects', 'list', 'x'], 'unexpected "x"', 2],
    [['keys', 'add', '--project', 'nothing'], 'there is no project nothing', 1],
    [['keys', 'add', '--project', ''], '--project: expected ids of projects', 2],
    [['keys', 'add', '--project', 'demo,'], '--project: expected ids of projects', 2],
  ])('says in one line what is wrong with %j', async (args, named, status) => {
    await (await startReceiverForTest({ data: data.path })).close()
    const { stderr, code } = await run(...args, '--data', data.path)
    expect(stderr).toMatch(/^sluice-receiver: [^\n]+\n$/)
    expect(stderr).toContain(named)
    expect(code).toBe(status)
  })
})

describe('the keys of a store', () => {
  it('that an earlier version has made may do everything', async () => {
    const receiver = await startReceiverForTest({ data: data.path })
    await receiver.close()
    data.inDatabase((database) => {
      database.exec(`
        DROP INDEX records_by_receipt; DROP TABLE uncounted_names; ALTER TABLE identity DROP COLUMN last_forgotten_id;
        DROP INDEX keys_by_id; DROP TABLE page_tokens; DROP TABLE saved_views;
        DROP TABLE errors; DROP TABLE error_steps; DROP TABLE error_kinds;
        ALTER TABLE page_sessions DROP COLUMN key_id; ALTER TABLE identity DROP COLUMN page;
        ALTER TABLE keys DROP COLUMN id; ALTER TABLE keys DROP COLUMN name;
        ALTER TABLE keys DROP COLUMN scopes; ALTER TABLE keys DROP COLUMN last_used; ALTER TABLE keys DROP COLUMN projects;
      `)
      database.exec('PRAGMA user_version = 4')
    })
    expect(await keys('list')).toMatchObject([
      { id: expect.stringMatching(/^[\da-f]{12}$/), scopes: ['ingest', 'content', 'read', 'admin'] },
    ])
    const again = await startReceiverForTest({ data: data.path })
    expect((await caller({ ...receiver, url: again.url })('GET', '/api/keys')).status).toBe(200)
    await again.close()
  })

  it.runIf(full)('can be revoked all: the next start makes a new one', async () => {
    const first = await startReceiverForTest({ data: data.path })
    const [{ id }] = (await first.call('GET', '/api/keys')).body.list
    expect(await first.call('DELETE', `/api/keys/${id}`)).toMatchObject({ status: 200, body: { id } })
    expect((await first.call('GET', '/api/keys')).status).toBe(401)
    await first.close()
    const second = await startReceiverForTest({ data: data.path })
    expect((await second.call('GET', '/api/keys')).status).toBe(200)
    await second.close()
  })
})
