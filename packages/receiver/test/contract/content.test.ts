import { expect, it } from 'vitest'
import type { NewContentType } from '../../dist/storage/content-storage.js'
import { isoTime } from '../support.js'
import { newRecord, onEachStore, times } from './stores.js'

const unusual = 'a\0b \ud800 \u{1f600} \u0001"x" 𝒳'
const field = (key: string) => ({ key, label: unusual, type: 'text', required: false }) as const

onEachStore((store) => {
  let projects = 0
  async function project(): Promise<string> {
    const id = `project-${projects++}`
    await store.one.projects.add(id)
    return id
  }
  const typeOf = (projectId: string, key: string, name = unusual): NewContentType => ({
    projectId,
    key,
    name,
    description: unusual,
    displayField: 'title',
    schema: [field('title')],
  })
  const addEntry = async (
    type: NonNullable<Awaited<ReturnType<typeof store.one.content.addType>>>,
    { title = 'x', key, at = store.one }: { title?: string; key?: string; at?: typeof store.one } = {},
  ) =>
    at.content.addEntry({
      type,
      state: 'Draft',
      fields: { title },
      attempt: key === undefined ? undefined : { scope: `entry ${type.id}`, key },
    })

  it('reads a type back as it was sent, by key or id', async () => {
    const projectId = await project()
    const sent = typeOf(projectId, 'article')
    const added = await store.one.content.addType(sent)
    expect(added).toMatchObject({ ...sent, schemaVersion: 1, fieldsCount: 1, isActive: true, createdAt: isoTime })
    const { content } = store.other
    expect(await content.findType({ projectId, key: 'article' })).toEqual(added)
    expect(await content.findType({ projectId, key: added!.id })).toEqual(added)
    expect(await content.findType({ projectId, key: added!.id, byId: false })).toBeUndefined()
    expect(await content.findType({ projectId, key: 'article\0' })).toBeUndefined()
    expect(await content.findType({ projectId: await project(), key: 'article' })).toBeUndefined()
    expect(await content.findType({ projectId: await project(), key: added!.id })).toBeUndefined()
  })

  it('adds a key once, also in two instances at once', async () => {
    const projectId = await project()
    for (const key of times(5, (number) => `type-${number}`)) {
      const added = await Promise.all(
        [store.one, store.other, store.one].map(({ content }) => content.addType(typeOf(projectId, key))),
      )
      expect(added.filter((type) => type !== undefined)).toHaveLength(1)
    }
    expect((await store.one.content.listTypes({ projectId, offset: 0, limit: 10 })).total).toBe(5)
  })

  it('changes a type and counts its versions', async () => {
    const projectId = await project()
    const added = await store.one.content.addType(typeOf(projectId, 'article'))
    const change = { ...typeOf(projectId, 'article', 'new'), schema: [field('title'), field('body')] }
    const changed = await store.other.content.changeType(change)
    expect(changed).toMatchObject({ ...change, id: added!.id, schemaVersion: 2, fieldsCount: 2 })
    expect(await store.one.content.findType({ projectId, key: 'article' })).toEqual(changed)
    await Promise.all(
      times(6, (number) => store.instances[number % store.instances.length]!.content.changeType(change)),
    )
    expect(await store.one.content.findType({ projectId, key: 'article' })).toMatchObject({ schemaVersion: 8 })
    expect(await store.one.content.changeType(typeOf(projectId, 'none'))).toBeUndefined()
  })

  it('archives a type: it is not found, takes nothing, and its key is free', async () => {
    const projectId = await project()
    const first = (await store.one.content.addType(typeOf(projectId, 'article')))!
    await addEntry(first)
    expect(await store.other.content.archiveType({ projectId, key: 'article' })).toBe(first.id)
    const { content } = store.one
    expect(await content.findType({ projectId, key: first.id })).toBeUndefined()
    expect(await content.archiveType({ projectId, key: 'article' })).toBeUndefined()
    expect(await content.changeType(typeOf(projectId, 'article'))).toBeUndefined()
    expect(await addEntry(first)).toBeUndefined()
    const second = await content.addType(typeOf(projectId, 'article'))
    expect(second!.id).not.toBe(first.id)
    expect(await addEntry(first)).toBeUndefined()
    expect((await content.listEntries({ type: second!, offset: 0, limit: 10 })).total).toBe(0)
    expect((await content.listTypes({ projectId, offset: 0, limit: 10 })).list).toEqual([second])
  })

  it('lists types with the oldest first, and entries with the newest first, page by page', async () => {
    const projectId = await project()
    const types = []
    for (const key of ['z', 'a', 'm']) types.push((await store.one.content.addType(typeOf(projectId, key)))!)
    const ids = []
    for (const number of times(7, (each) => each)) ids.unshift(await addEntry(types[0]!, { title: `${number}` }))
    const { content } = store.other
    expect(await content.listTypes({ projectId, offset: 1, limit: 5 })).toEqual({ total: 3, list: types.slice(1) })
    const page = await content.listEntries({ type: types[0]!, offset: 2, limit: 3 })
    expect(page.total).toBe(7)
    expect(page.list.map(({ id }) => id)).toEqual(ids.slice(2, 5))
    expect(await content.listEntries({ type: types[0]!, offset: 7, limit: 3 })).toEqual({ total: 7, list: [] })
    expect(await content.listEntries({ type: types[1]!, offset: 0, limit: 3 })).toEqual({ total: 0, list: [] })
  })

  it('reads an entry back as it was sent, with its times', async () => {
    const projectId = await project()
    const type = (await store.one.content.addType(typeOf(projectId, 'article')))!
    const fields = JSON.parse(`{"title": ${JSON.stringify(unusual)}, "__proto__": [1, null], "": 1.5e300}`)
    const times = {
      createdAt: '2020-01-01T00:00:00.000Z',
      updatedAt: '2021-01-01T00:00:00.000Z',
      publishedAt: '2022-01-01T00:00:00.000Z',
    }
    const id = await store.one.content.addEntry({ type, state: 'Published', fields, attempt: undefined, ...times })
    const entry = await store.other.content.findEntry({ type, id: id! })
    const own = {
      id,
      projectId,
      contentTypeId: type.id,
      contentTypeKey: 'article',
      schemaVersion: 1,
      state: 'Published',
    }
    expect(entry).toMatchObject({ ...own, ...times })
    expect(Object.entries(entry!.fields)).toEqual(Object.entries(fields))
    const usual = await addEntry(type)
    const found = await store.other.content.findEntry({ type, id: usual! })
    expect(found).toMatchObject({ createdAt: isoTime, updatedAt: found!.createdAt, publishedAt: null })
    for (const none of ['', 'none', `${id}\0`]) {
      expect(await store.one.content.findEntry({ type, id: none })).toBeUndefined()
    }
    const other = (await store.one.content.addType(typeOf(projectId, 'other')))!
    expect(await store.one.content.findEntry({ type: other, id: id! })).toBeUndefined()
  })

  it('makes one entry of all attempts, also in two instances at once', async () => {
    const type = (await store.one.content.addType(typeOf(await project(), 'article')))!
    for (const key of ['a', 'A', 'a ', 'á']) {
      const ids = await Promise.all([store.one, store.other, store.one].map((at) => addEntry(type, { key, at })))
      expect(new Set(ids).size).toBe(1)
      expect(ids[0]).toEqual(expect.any(String))
      expect(await addEntry(type, { key, title: 'other', at: store.other })).toBe(ids[0])
      expect(await store.other.content.findAttempt({ scope: `entry ${type.id}`, key })).toBe(ids[0])
    }
    expect((await store.one.content.listEntries({ type, offset: 0, limit: 10 })).total).toBe(4)
    expect(await store.one.content.findAttempt({ scope: `entry ${type.id}`, key: 'none' })).toBeUndefined()
    expect(await store.one.content.findAttempt({ scope: 'none', key: 'a' })).toBeUndefined()
  })

  it('takes no entry whose type has changed since its fields were checked', async () => {
    const projectId = await project()
    const old = (await store.one.content.addType(typeOf(projectId, 'article')))!
    const changed = (await store.other.content.changeType(typeOf(projectId, 'article')))!
    expect(await addEntry(old, { key: 'a' })).toBeUndefined()
    expect(await store.one.content.findAttempt({ scope: `entry ${old.id}`, key: 'a' })).toBeUndefined()
    const id = await addEntry(changed, { key: 'a' })
    expect(id).toEqual(expect.any(String))
    // An entry that was made is told also after a change.
    expect(await addEntry(old, { key: 'a' })).toBe(id)
  })

  it('refuses an entry, and keeps all that others store at the same time', async () => {
    const projectId = await project()
    const old = (await store.one.content.addType(typeOf(projectId, 'article')))!
    const type = (await store.one.content.changeType(typeOf(projectId, 'article')))!
    const ids = times(8, (number) => `${projectId}-${number}`)
    const refused = addEntry(old, { key: 'a' })
    const others: Promise<unknown>[] = []
    for (const id of ids) {
      others.push(store.one.projects.add(id), store.one.pageSessions.add({ hash: id, keyId: null }))
      others.push(addEntry(type, { key: id }))
      others.push(store.one.records.append(newRecord('logs', { bucket: id })))
      // The next ones begin a little later, in the midst of what the first have begun.
      await undefined
    }
    expect(await refused).toBeUndefined()
    await Promise.all(others)
    expect(await store.one.projects.list()).toEqual(expect.arrayContaining(ids))
    expect((await store.one.pageSessions.list()).map(({ hash }) => hash)).toEqual(expect.arrayContaining(ids))
    expect((await store.one.content.listEntries({ type, offset: 0, limit: 10 })).total).toBe(8)
    for (const bucket of ids) expect((await store.one.records.read({ kind: 'logs', bucket, limit: 1 })).total).toBe(1)
  })

  it('cuts a page of entries that is too large, and names the next', async () => {
    const type = (await store.one.content.addType(typeOf(await project(), 'article')))!
    const ids = []
    for (const letter of ['a', 'b', 'c']) ids.unshift(await addEntry(type, { title: letter.repeat(3_500_000) }))
    const { total, list, next } = await store.other.content.listEntries({ type, offset: 0, limit: 3 })
    expect({ total, ids: list.map(({ id }) => id), next }).toEqual({ total: 3, ids: ids.slice(0, 2), next: 3 })
  })
})
