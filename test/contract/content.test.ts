import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { articleSchema, type ContentType, type Service, startService } from './service.js'

let service: Service
let article: ContentType
const ours = (process.env.CONTRACT_URL ?? '') === ''
beforeAll(async () => {
  service = await startService()
  if (service.makeType !== undefined) article = await service.makeType(articleSchema)
})
afterAll(() => service.close())

const made = () => ({ makeType: service.makeType!, makeProject: service.makeProject! })
const entries = (type: { readonly key: string } = article) => `/ng-cms/content/${service.project}/${type.key}`
const types = (project = service.project) => `/ng-cms/content-types/${project}`
const valid = { title: 'Hello', body: '<p>world</p>' }

describe('List content types', () => {
  it('200: PagedApiResponse<CmsContentTypeDto>: `total` (number), `list` (array of content types)', async () => {
    const { status, body } = await service.call('GET', types())
    expect(status).toBe(200)
    expect(body).toEqual({ total: expect.any(Number), list: expect.any(Array) })
  })

  it.skipIf(!ours)('every field of CmsContentTypeDto has its type', async () => {
    const { body } = await service.call('GET', types())
    expect(body.list).toContainEqual({
      id: article.id,
      projectId: service.project,
      name: expect.any(String),
      key: article.key,
      description: 'made by the contract',
      displayField: 'title',
      schema: articleSchema,
      schemaVersion: expect.any(Number),
      fieldsCount: 2,
      isActive: true,
      createdBy: expect.any(Number),
      updatedBy: expect.any(Number),
      updatedByName: expect.any(String),
      createdAt: expect.stringMatching(iso8601),
      updatedAt: expect.stringMatching(iso8601),
    })
  })

  it.skipIf(!ours)('Pagination `from` default 1, `to` default 20 (maximum items per page)', async () => {
    const project = await made().makeProject()
    for (let number = 0; number < 25; number++) await made().makeType(articleSchema, project)
    const first = await service.call('GET', types(project))
    expect({ total: first.body.total, items: first.body.list.length }).toEqual({ total: 25, items: 20 })
    expect((await service.call('GET', `${types(project)}?from=1&to=20`)).body).toEqual(first.body)
  })

  it.skipIf(!ours)('`from`: starting offset, 1-based; `to`: maximum number of items returned per page', async () => {
    const project = await made().makeProject()
    for (let number = 0; number < 5; number++) await made().makeType(articleSchema, project)
    const all = (await service.call('GET', types(project))).body.list
    const page = await service.call('GET', `${types(project)}?from=2&to=3`)
    expect(page.body).toEqual({ total: 5, list: all.slice(1, 4) })
  })

  it('400: invalid request, for what is no number', async () => {
    expect((await service.call('GET', `${types()}?from=x`)).status).toBe(400)
    expect((await service.call('GET', `${types()}?to=0`)).status).toBe(400)
  })
})

describe.skipIf(!ours)('Delete a content type', () => {
  it.each(['id', 'key'] as const)(
    '200: archived by %s; ApiResponse<string> with `result` (id of the deleted type)',
    async (by) => {
      const type = await made().makeType(articleSchema)
      const { status, body } = await service.call('DELETE', `${types()}/${type[by]}`)
      expect({ status, body }).toEqual({ status: 200, body: { success: true, result: type.id, errors: [] } })
      const { list } = (await service.call('GET', `${types()}?to=100`)).body
      expect(list.map(({ id }: ContentType) => id)).not.toContain(type.id)
    },
  )

  it('active → archived: it takes no entries any more', async () => {
    const type = await made().makeType(articleSchema)
    await service.call('DELETE', `${types()}/${type.key}`)
    expect((await service.call('POST', entries(type), { body: { fields: valid } })).status).toBe(404)
  })

  it('404: content type does not exist for the given key/id', async () => {
    const { status, body } = await service.call('DELETE', `${types()}/no-such-type`)
    expect({ status, success: body.success }).toEqual({ status: 404, success: false })
  })
})

describe.skipIf(!ours)('Create a content entry', () => {
  it('201: ApiResponse<string> with `result` = new entry id', async () => {
    const { status, body } = await service.call('POST', entries(), { body: { fields: valid } })
    expect(status).toBe(201)
    expect(body).toEqual({ success: true, result: expect.stringMatching(/.+/), errors: [] })
    const again = await service.call('POST', entries(), { body: { fields: valid } })
    expect(again.body.result).not.toBe(body.result)
  })

  it('(none) → Draft', async () => {
    const { body } = await service.call('POST', entries(), { body: { fields: valid } })
    const shown = await service.call('GET', `/api/projects/${service.project}/content/${article.key}/${body.result}`)
    expect((shown.body.result ?? shown.body).state).toMatch(/^draft$/i)
  })

  it.each<[string, object, string[]]>([
    ['keys must match field keys in the type schema', { ...valid, colour: 'red' }, ['colour']],
    ['required: the field must be supplied', { body: '<p>x</p>' }, ['title']],
    ['maxLength: maximum length constraint', { title: 'x'.repeat(21) }, ['title']],
    ['type: text', { title: 7 }, ['title']],
    ['type: richtext', { title: 'x', body: 7 }, ['body']],
    ['all failures at once', { colour: 'red', body: 7 }, ['body', 'colour', 'title']],
  ])('400: %s; body has `isValid` false and `validationErrors`', async (_, fields, names) => {
    const { status, body } = await service.call('POST', entries(), { body: { fields } })
    expect({ status, isValid: body.isValid }).toEqual({ status: 400, isValid: false })
    const failures: { name: string; attemptedValue: unknown; message: string }[] = body.validationErrors
    expect(failures.map(({ name }) => name.replace(/^fields\./, '')).sort()).toEqual(names)
    for (const failure of failures) {
      expect(failure).toEqual({
        name: expect.any(String),
        attemptedValue: failure.attemptedValue,
        message: expect.any(String),
      })
    }
  })

  it('404: no content type with that typeKey in the project', async () => {
    const { status, body } = await service.call('POST', entries({ key: 'no-such-type' }), { body: { fields: valid } })
    expect({ status, success: body.success }).toEqual({ status: 404, success: false })
  })
})

describe.skipIf(!ours)('Migrate a content entry', () => {
  const times = {
    createdAt: '2020-01-02T03:04:05.000Z',
    updatedAt: '2021-02-03T04:05:06.000Z',
    publishedAt: '2022-03-04T05:06:07.000Z',
  }
  const migrate = (body: object, type = article.key) =>
    service.call('POST', `/ng-cms/content/${service.project}/${type}/migrate`, { body })
  const shown = async (id: string, type = article.key) => {
    const { body } = await service.call('GET', `/api/projects/${service.project}/content/${type}/${id}`)
    return body.result ?? body
  }

  it('201: ApiResponse<string>; `success` true, `result` = id of the new entry, `errors` empty', async () => {
    const { status, body } = await migrate({ fields: valid })
    expect(status).toBe(201)
    expect(body).toEqual({ success: true, result: expect.stringMatching(/.+/), errors: [] })
  })

  it('createdAt, updatedAt, publishedAt: ISO 8601 UTC, preserved', async () => {
    const { body } = await migrate({ fields: valid, ...times })
    const entry = await shown(body.result)
    for (const [name, time] of Object.entries(times)) expect(Date.parse(entry[name])).toBe(Date.parse(time))
  })

  it('typeKey: key or id of the content type', async () => {
    expect((await migrate({ fields: valid }, article.id)).status).toBe(201)
  })

  it('contentTypeKey: optional override of the content type', async () => {
    const other = await made().makeType([{ key: 'name', label: 'Name', type: 'text', required: true }])
    const { status, body } = await migrate({ fields: { name: 'x' }, contentTypeKey: other.key })
    expect(status).toBe(201)
    expect(await shown(body.result, other.key)).toMatchObject({ id: body.result })
  })

  it.each<[string, object, string]>([
    ['fields: required', {}, 'fields'],
    ['createdAt is ISO 8601 UTC', { fields: valid, createdAt: 'yesterday' }, 'createdAt'],
    ['updatedAt is UTC', { fields: valid, updatedAt: '2020-01-01T00:00:00+02:00' }, 'updatedAt'],
    ['publishedAt is a date that exists', { fields: valid, publishedAt: '2020-02-30T00:00:00Z' }, 'publishedAt'],
    ['fields match the schema', { fields: { title: 'x'.repeat(21) } }, 'title'],
  ])('400: %s; body with `isValid` false and `validationErrors`', async (_, body, name) => {
    const answer = await migrate(body)
    expect({ status: answer.status, isValid: answer.body.isValid }).toEqual({ status: 400, isValid: false })
    const names = answer.body.validationErrors.map((failure: { name: string }) => failure.name.replace(/^fields\./, ''))
    expect(names).toEqual([name])
  })

  it('404: content type or project not found', async () => {
    expect((await migrate({ fields: valid }, 'no-such-type')).status).toBe(404)
    const elsewhere = `/ng-cms/content/no-such-project/${article.key}/migrate`
    expect((await service.call('POST', elsewhere, { body: { fields: valid } })).status).toBe(404)
  })
})

describe.skipIf(!ours)('Plan restriction: access to content operations can be refused with 412', () => {
  it.each<[string, string, (project: string) => string, object?]>([
    ['list content types', 'GET', (project) => types(project)],
    ['delete content type', 'DELETE', (project) => `${types(project)}/article`],
    ['create content entry', 'POST', (project) => `/ng-cms/content/${project}/article`, { fields: {} }],
  ])('412 is listed for %s', async (_, method, path, body) => {
    const project = await made().makeProject({ content: false })
    const answer = await service.call(method, path(project), { body })
    expect({ status: answer.status, success: answer.body.success }).toEqual({ status: 412, success: false })
    expect(answer.body.errors).toEqual([
      expect.objectContaining({ correlationId: expect.any(String), message: expect.any(String) }),
    ])
  })

  it('412 is not listed for migrate', async () => {
    const project = await made().makeProject()
    const type = await made().makeType(articleSchema, project)
    await service.call('PUT', `/api/projects/${project}/plan`, { body: { content: false } })
    const path = `/ng-cms/content/${project}/${type.key}/migrate`
    expect((await service.call('POST', path, { body: { fields: valid } })).status).toBe(201)
  })
})

const iso8601 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/
