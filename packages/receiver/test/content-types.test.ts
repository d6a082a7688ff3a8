import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { article, isoTime, refusal, startReceiverForTest } from './support.js'

let receiver: Awaited<ReturnType<typeof startReceiverForTest>>
beforeEach(async () => {
  receiver = await startReceiverForTest()
})
afterEach(() => receiver.close())

const list = '/ng-cms/content-types/demo'
const types = '/api/projects/demo/content-types'
const fields = (count: number, field = {}) =>
  Array.from({ length: count }, (_, number) => ({
    key: `f${number}`,
    label: 'x',
    type: 'text',
    required: false,
    ...field,
  }))
const make = async (type: Record<string, unknown> = {}) => receiver.call('POST', types, { ...article, ...type })

describe('GET /ng-cms/content-types/{projectId}', () => {
  it('answers with total and list, each type with every field of CmsContentTypeDto', async () => {
    expect(await receiver.call('GET', list)).toMatchObject({ status: 200, body: { total: 0, list: [] } })
    await make()
    const { body } = await receiver.call('GET', list)
    expect(body).toEqual({
      total: 1,
      list: [
        {
          id: expect.any(String),
          projectId: 'demo',
          ...article,
          schemaVersion: 1,
          fieldsCount: 3,
          isActive: true,
          createdBy: 0,
          updatedBy: 0,
          updatedByName: 'API key',
          createdAt: isoTime,
          updatedAt: isoTime,
        },
      ],
    })
  })

  it('takes from as the number of the first type, counted from 1, and to as the size of the page', async () => {
    for (let number = 1; number <= 25; number++) await make({ key: `type-${number}` })
    const keys = async (query: string) => {
      const { body } = await receiver.call('GET', `${list}${query}`)
      return { total: body.total, keys: body.list.map(({ key }: { key: string }) => Number(key.slice(5))) }
    }
    const numbers = (first: number, last: number) =>
      Array.from({ length: last - first + 1 }, (_, index) => first + index)
    expect(await keys('')).toEqual({ total: 25, keys: numbers(1, 20) })
    expect(await keys('?from=21')).toEqual({ total: 25, keys: numbers(21, 25) })
    expect(await keys('?from=4&to=3')).toEqual({ total: 25, keys: numbers(4, 6) })
    expect(await keys('?from=26')).toEqual({ total: 25, keys: [] })
    expect(await keys('?to=1000')).toEqual({ total: 25, keys: numbers(1, 25) })
  })

  it.each([
    'from=0',
    'from=-1',
    'from=1.5',
    'from=x',
    'from=',
    'from=1&from=2',
    'from=1000000001',
    'to=0',
    'to=1001',
    'until=3',
  ])('answers 400 to ?%s', async (query) => {
    const { status, body } = await receiver.call('GET', `${list}?${query}`)
    expect(status).toBe(400)
    expect(body).toEqual({ isValid: false, validationErrors: [expect.objectContaining({ name: query.split('=')[0] })] })
  })

  it('lists the types of this project only', async () => {
    await receiver.call('POST', '/api/projects', { id: 'other' })
    await make()
    expect((await receiver.call('GET', '/ng-cms/content-types/other')).body).toEqual({ total: 0, list: [] })
  })
})

describe('DELETE /ng-cms/content-types/{projectId}/{key}', () => {
  it.each(['key', 'id'] as const)(
    'archives a type by its %s: it is not listed, not found and takes no entries',
    async (by) => {
      const { body: type } = await make()
      const { body: other } = await make({ key: 'other' })
      expect(await receiver.call('DELETE', `${list}/${type[by]}`)).toMatchObject({
        status: 200,
        body: { success: true, result: type.id, errors: [] },
      })
      expect((await receiver.call('GET', list)).body).toMatchObject({ total: 1, list: [{ id: other.id }] })
      for (const path of ['', '/migrate']) {
        const entry = await receiver.call('POST', `/ng-cms/content/demo/article${path}`, { fields: { title: 'x' } })
        expect(entry).toMatchObject({ status: 404, body: refusal('article') })
      }
      expect((await receiver.call('DELETE', `${list}/${type[by]}`)).status).toBe(404)
      expect((await receiver.call('PUT', `${types}/article`, { ...article, key: undefined })).status).toBe(404)
    },
  )

  it('frees the key for a new type', async () => {
    const { body: first } = await make()
    await receiver.call('DELETE', `${list}/article`)
    const { status, body: second } = await make()
    expect(status).toBe(201)
    expect(second.id).not.toBe(first.id)
  })

  it('takes what is both a key and an id for a key', async () => {
    const { body: type } = await make()
    const { body: other } = await make({ key: type.id })
    expect((await receiver.call('DELETE', `${list}/${type.id}`)).body.result).toBe(other.id)
    expect((await receiver.call('DELETE', `${list}/${type.id}`)).body.result).toBe(type.id)
  })

  it('answers 404 to a key of no type, and to one of another project', async () => {
    const { body: type } = await make()
    await receiver.call('POST', '/api/projects', { id: 'other' })
    for (const path of [
      `${list}/nothing`,
      `/ng-cms/content-types/other/${type.id}`,
      '/ng-cms/content-types/other/article',
    ]) {
      expect(await receiver.call('DELETE', path)).toMatchObject({
        status: 404,
        body: refusal('there is no content type'),
      })
    }
  })
})

describe('POST and PUT /api/projects/{projectId}/content-types', () => {
  it('answers 201 with the type, and 409 to a key that is taken', async () => {
    expect(await make()).toMatchObject({ status: 201, body: { ...article, schemaVersion: 1 } })
    expect(await make()).toMatchObject({ status: 409, body: refusal('article') })
  })

  it('takes the first field for display, and no description, where they are left out', async () => {
    const { body } = await make({ displayField: undefined, description: undefined })
    expect(body).toMatchObject({ displayField: 'title', description: '' })
  })

  it('changes everything but the key and counts schemaVersion up', async () => {
    const { body: type } = await make()
    const schema = [{ key: 'name', label: 'Name', type: 'text', required: true }]
    const changed = await receiver.call('PUT', `${types}/article`, { name: 'Story', schema })
    const expected = {
      id: type.id,
      key: 'article',
      name: 'Story',
      description: '',
      displayField: 'name',
      schema,
      fieldsCount: 1,
    }
    expect(changed).toMatchObject({ status: 200, body: { ...expected, schemaVersion: 2, createdAt: type.createdAt } })
    expect((await receiver.call('GET', list)).body.list).toEqual([changed.body])
    expect((await receiver.call('POST', '/ng-cms/content/demo/article', { fields: { name: 'x' } })).status).toBe(201)
    expect((await receiver.call('POST', '/ng-cms/content/demo/article', { fields: { title: 'x' } })).status).toBe(400)
  })

  it('takes the whole type with its key, too, and refuses another key', async () => {
    await make()
    const changed = await receiver.call('PUT', `${types}/article`, { ...article, name: 'Story' })
    expect(changed).toMatchObject({ status: 200, body: { ...article, name: 'Story', schemaVersion: 2 } })
    const renamed = await receiver.call('PUT', `${types}/article`, { ...article, key: 'story' })
    expect(renamed).toMatchObject({
      status: 400,
      body: {
        validationErrors: [{ name: 'key', attemptedValue: 'story', message: 'key cannot change: it is article' }],
      },
    })
  })

  it.each(['nul \u0000 end', '\u0000', 'lone \ud800', '\u0001', '\u0001"x"', '😀 ünï'])(
    'keeps texts as they came, to the last character: %j',
    async (text) => {
      const type = { name: text, description: text }
      expect((await make(type)).body).toMatchObject(type)
      expect((await receiver.call('GET', list)).body.list).toMatchObject([type])
      const changed = await receiver.call('PUT', `${types}/article`, { ...article, ...type })
      expect(changed.body).toMatchObject(type)
    },
  )

  it('answers 400 with all failures of a type', async () => {
    const { status, body } = await make({
      key: 'a key',
      name: 7,
      colour: 'red',
      schema: [
        { key: '1st', label: 'x', type: 'number', required: 'yes', maxLength: 0 },
        { label: 'x', type: 'text', required: false, size: 1 },
      ],
    })
    expect(status).toBe(400)
    expect(body.isValid).toBe(false)
    const messages = Object.fromEntries(
      body.validationErrors.map(({ name, message }: { name: string; message: string }) => [name, message]),
    )
    expect(Object.keys(messages).sort()).toEqual(
      ['colour', 'key', 'name', 'schema.0.key', 'schema.0.maxLength', 'schema.0.required', 'schema.0.type'].concat([
        'schema.1.key',
        'schema.1.size',
      ]),
    )
    expect(messages['schema.0.type']).toBe('schema.0.type must be "text" or "richtext"')
    expect(messages['schema.1.key']).toBe('schema.1.key is required')
    expect(messages.key).toMatch(/^key must be a name of at most 100 letters/)
  })

  it.each<[string, Record<string, unknown>, string | undefined]>([
    ['a key of 100 characters', { key: `0.${'x'.repeat(98)}` }, undefined],
    ['a key of 101', { key: 'x'.repeat(101) }, 'key'],
    ['a key that begins with a dot', { key: '.x' }, 'key'],
    ['the key of a field that begins with an underscore', { schema: fields(1, { key: '_x-0' }) }, undefined],
    ['the key of a field with a dot', { schema: fields(1, { key: 'x.y' }) }, 'schema.0.key'],
    ['the key of a field of 101 characters', { schema: fields(1, { key: 'x'.repeat(101) }) }, 'schema.0.key'],
    ['no fields', { schema: [] }, 'schema'],
    ['500 fields', { schema: fields(500) }, undefined],
    ['501 fields', { schema: fields(501) }, 'schema'],
    ['a name of 200 characters', { name: 'x'.repeat(200) }, undefined],
    ['a name of 201', { name: 'x'.repeat(201) }, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a label of 201', { schema: fields(1, { label: 'x'.repeat(201) }) }, 'schema.0.label'],
    ['a description of 10,000', { description: 'x'.repeat(10_000) }, undefined],
    ['a description of 10,001', { description: 'x'.repeat(10_001) }, 'description'],
  ])('bounds what a type may be: %s', async (_what, type, refused) => {
    const { status, body } = await make({ displayField: undefined, ...type })
    expect([status, body.validationErrors?.map(({ name }: { name: string }) => name)]).toEqual(
      refused === undefined ? [201, undefined] : [400, [refused]],
    )
  })

  it('answers 400 where two fields share a key, and where displayField is none of them', async () => {
    const field = { key: 'title', label: 'Title', type: 'text', required: true }
    const { status, body } = await make({ displayField: 'colour', schema: [field, field] })
    expect(status).toBe(400)
    expect(body.validationErrors.map(({ name }: { name: string }) => name)).toEqual(['schema.1.key', 'displayField'])
  })
})
