import { expect, it } from 'vitest'
import { maxSessions, maxViews, type Storage, type StoredKey } from '../../dist/storage/storage.js'
import { onEachStore, times } from './stores.js'

/** Another instance sees a change at the latest after this time, in ms; here it is allowed more, for a busy machine. */

onEachStore((store) => {
  it('adds a project once, also in two instances at once, and lists projects with the oldest first', async () => {
    const before = (await store.one.projects.list()).length
    for (const id of ['b', 'a', 'a\0', 'É']) {
      const added = await Promise.all([store.one.projects.add(id), store.other.projects.add(id)])
      expect(added.filter((project) => project !== undefined)).toEqual([{ id, plan: { content: true } }])
      expect(await store.one.projects.add(id)).toBeUndefined()
    }
    for (const { projects } of store.instances) {
      expect((await projects.list()).slice(before)).toEqual(['b', 'a', 'a\0', 'É'])
      const page = await projects.page({ offset: before + 1, limit: 2 })
      expect(page.total).toBe(before + 4)
      expect(page.list.map(({ id }) => id)).toEqual(['a', 'a\0'])
      expect(await projects.find('a\0')).toEqual({ id: 'a\0', plan: { content: true } })
      expect(await projects.find('none')).toBeUndefined()
    }
  })

  it('changes the plan of a project for all instances', async () => {
    await store.one.projects.add('plan')
    expect(await store.other.projects.find('plan')).toMatchObject({ plan: { content: true } })
    const changed = { id: 'plan', plan: { content: false } }
    expect(await store.one.projects.changePlan('plan', { content: false })).toEqual(changed)
    expect(await store.one.projects.find('plan')).toEqual(changed)
    await store.other.projects.renew?.()
    expect(await store.other.projects.find('plan')).toEqual(changed)
    expect(await store.one.projects.changePlan('none', { content: false })).toBeUndefined()
    expect(await store.one.projects.find('none')).toBeUndefined()
  })

  it('keeps keys, their last use, and forgets those that are revoked', async () => {
    const keys = ['c', 'a', 'b'].map(
      (id, index): StoredKey => ({
        id,
        hash: `hash of ${id}`,
        name: `name\0 of ${id} \ud800`,
        scopes: id === 'a' ? ['ingest', 'admin'] : ['read'],
        projects: { a: null, b: ['shop'], c: ['shop', 'other.one'] }[id]!,
        createdAt: 1000 + index,
        lastUsed: null,
      }),
    )
    for (const key of keys) await store.one.keys.add(key)
    expect(await store.other.keys.list()).toEqual(keys)
    await store.other.keys.used(['a', 'c', 'none'], '2026-01-31')
    expect((await store.one.keys.list()).map(({ lastUsed }) => lastUsed)).toEqual(['2026-01-31', '2026-01-31', null])
    expect(await store.other.keys.revoke('a')).toBe(true)
    expect(await store.one.keys.revoke('a')).toBe(false)
    expect(await store.one.keys.revoke('a\0')).toBe(false)
    expect((await store.one.keys.list()).map(({ id }) => id)).toEqual(['c', 'b'])
  })

  it('refuses a key whose hash exists', async () => {
    const allowed = { scopes: ['read'], projects: null } as const
    const key = { id: 'x', hash: 'the hash', name: '', ...allowed, createdAt: 1, lastUsed: null } as const
    await store.one.keys.add(key)
    await expect(store.other.keys.add({ ...key, id: 'y' })).rejects.toThrow()
    expect((await store.one.keys.list()).filter(({ hash }) => hash === key.hash)).toEqual([key])
  })

  it('keeps the sessions of the page with their keys, oldest first, until they end', async () => {
    const sessions = times(3, (number) => ({ hash: `session ${number}`, keyId: number === 1 ? null : 'k' }))
    for (const session of sessions) expect(await store.one.pageSessions.add(session)).toEqual([])
    expect(await store.other.pageSessions.list()).toEqual(sessions)
    await store.other.pageSessions.end('session 1')
    await store.other.pageSessions.end('nothing')
    expect(await store.one.pageSessions.list()).toEqual([sessions[0], sessions[2]])
  })

  it('keeps at most twenty sessions of one key: the oldest goes', async () => {
    const of = (keyId: string | null) => times(maxSessions, (number) => ({ hash: `${keyId} ${number}`, keyId }))
    for (const session of [...of('many'), ...of(null)]) await store.one.pageSessions.add(session)
    expect(await store.other.pageSessions.add({ hash: 'many more', keyId: 'many' })).toEqual(['many 0'])
    expect(await store.other.pageSessions.add({ hash: 'null more', keyId: null })).toEqual(['null 0'])
    const hashes = (await store.one.pageSessions.list()).filter(({ keyId }) => keyId === 'many').map(({ hash }) => hash)
    expect(hashes).toEqual([
      ...of('many')
        .slice(1)
        .map(({ hash }) => hash),
      'many more',
    ])
  })

  it('begins a session with a token once, and knows the address that the last receiver has noted', async () => {
    const { pageSessions } = store.one
    expect(await pageSessions.addToken('the token')).toBeNull()
    for (const address of ['http://localhost:1', 'https://logs.example.com']) await pageSessions.noteAddress(address)
    expect(await store.other.pageSessions.addToken('another token')).toBe('https://logs.example.com')
    const tries = await Promise.all(
      times(4, (number) =>
        store.instances[number % store.instances.length]!.pageSessions.add(
          { hash: `by token ${number}`, keyId: 'token' },
          'the token',
        ),
      ),
    )
    expect(tries.filter((gone) => gone !== undefined)).toEqual([[]])
    expect((await pageSessions.list()).filter(({ keyId }) => keyId === 'token')).toHaveLength(1)
    expect(await pageSessions.add({ hash: 'x', keyId: null }, 'no token')).toBeUndefined()
  })

  it('keeps saved views by name, two hundred at most', async () => {
    const names = times(maxViews, (number) => `view ${number} é \ud800`)
    for (const name of names) expect(await store.one.views.save({ name, hash: '#logs' })).toBe(true)
    expect(await store.other.views.save({ name: 'one more', hash: '#logs' })).toBe(false)
    expect(await store.other.views.save({ name: names[7]!, hash: '#values' })).toBe(true)
    const list = await store.one.views.list()
    expect(list).toHaveLength(maxViews)
    expect(list.filter(({ hash }) => hash === '#values')).toEqual([{ name: names[7], hash: '#values' }])
    expect([await store.other.views.remove(names[8]!), await store.one.views.remove(names[8]!)]).toEqual([true, false])
    expect(await store.one.views.save({ name: 'one more', hash: '#logs' })).toBe(true)
  })

  it('can be used, and says its size', async () => {
    const check = async (storage: Storage) => {
      await storage.check()
      expect(await storage.bytes()).toBeGreaterThan(0)
    }
    await Promise.all(store.instances.map(check))
  })
})
