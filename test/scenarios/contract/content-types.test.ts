import type { ContentTypeInfo } from 'sluice/content'
import { afterAll, describe, expect, it } from 'vitest'
import { articleSchema, startService, validFields } from './service.js'

const service = await startService()
afterAll(() => service.close())

const ours = service.ours!
const isOurs = service.ours !== undefined
const types = (project = service.project) => `/ng-cms/content-types/${project}`

describe('List content types', () => {
  it('200: PagedApiResponse<CmsContentTypeDto>: `total` (number), `list` (array of content types)', async () => {
    const { status, body } = await service.call('GET', types())
    expect(status).toBe(200)
    expect(body).toEqual({ total: expect.any(Number), list: expect.any(Array) })
    expect(body.total).toBeGreaterThanOrEqual(body.list.length)
  })

  const texts = ['id', 'projectId', 'name', 'key', 'description', 'displayField', 'updatedByName']
  const numbers = ['schemaVersion', 'fieldsCount', 'createdBy', 'updatedBy']
  it.skipIf(service.type === undefined)('CmsContentTypeDto: every field has its type', async () => {
    const { list } = (await service.call('GET', types())).body
    for (const type of list) {
      expect(type).toMatchObject(Object.fromEntries(texts.map((name) => [name, expect.any(String)])))
      expect(type).toMatchObject(Object.fromEntries(numbers.map((name) => [name, expect.any(Number)])))
      expect(type).toMatchObject({ isActive: expect.any(Boolean), schema: expect.any(Array) })
      expect(type).toMatchObject({ createdAt: iso8601, updatedAt: iso8601 })
    }
  })

  it.skipIf(service.type === undefined)('Field definition: key, label, type, required, and maxLength', async () => {
    const { list } = (await service.call('GET', types())).body
    for (const field of list.flatMap(({ schema }: ContentTypeInfo) => schema)) {
      expect(field).toMatchObject({
        key: expect.any(String),
        label: expect.any(String),
        type: expect.any(String),
        required: expect.any(Boolean),
      })
      if ('maxLength' in field) expect(field.maxLength).toEqual(expect.any(Number))
    }
  })

  it.skipIf(service.type === undefined)('projectId: owning project', async () => {
    const { list } = (await service.call('GET', types())).body
    expect(new Set(list.map(({ projectId }: ContentTypeInfo) => projectId))).toEqual(new Set([service.project]))
  })

  it.skipIf(service.type === undefined)('displayField: key of the schema field used for display', async () => {
    const { list } = (await service.call('GET', types())).body
    for (const { schema, displayField } of list as ContentTypeInfo[]) {
      expect(schema.map(({ key }) => key)).toContain(displayField)
    }
  })

  it.skipIf(service.type === undefined)('fieldsCount: number of fields in the schema', async () => {
    const { list } = (await service.call('GET', types())).body
    for (const { schema, fieldsCount } of list as ContentTypeInfo[]) expect(fieldsCount).toBe(schema.length)
  })

  it.skipIf(!isOurs)('A content type is listed as it was made', async () => {
    const made = await ours.makeType(articleSchema)
    const { list } = (await service.call('GET', `${types()}?to=1000`)).body
    expect(list).toContainEqual(made)
    expect(made).toMatchObject({ schema: articleSchema, fieldsCount: 2, isActive: true, displayField: 'title' })
  })

  it.skipIf(!isOurs)('schemaVersion: version counter of the schema', async () => {
    const { key, name, description, displayField, schemaVersion } = await ours.makeType(articleSchema)
    const body = { name, description, displayField, schema: articleSchema.slice(0, 1) }
    const changed = await service.call('PUT', `/api/projects/${service.project}/content-types/${key}`, { body })
    expect(changed.body).toMatchObject({ schemaVersion: schemaVersion + 1, fieldsCount: 1 })
  })

  it.skipIf(!isOurs)('Pagination `from` default 1, `to` default 20 (maximum items per page)', async () => {
    const project = await ours.makeProject()
    for (let number = 0; number < 25; number++) await ours.makeType(articleSchema, project)
    const first = await service.call('GET', types(project))
    expect({ total: first.body.total, items: first.body.list.length }).toEqual({ total: 25, items: 20 })
    expect((await service.call('GET', `${types(project)}?from=1&to=20`)).body).toEqual(first.body)
    expect((await service.call('GET', `${types(project)}?from=21`)).body.list).toHaveLength(5)
  })

  it('`from`: starting offset, 1-based; `to`: maximum number of items returned per page', async () => {
    for (let number = 0; isOurs && number < 5; number++) await ours.makeType(articleSchema)
    const all = (await service.call('GET', `${types()}?from=1&to=6`)).body.list
    const page = (await service.call('GET', `${types()}?from=2&to=3`)).body.list
    expect(page).toEqual(all.slice(1, 4))
  })

  it.skipIf(!isOurs)('400: invalid request; here for `from` and `to` that are no positions', async () => {
    for (const query of ['from=x', 'to=0', 'from=1.5']) {
      const { status, body } = await service.call('GET', `${types()}?${query}`)
      expect({ status, isValid: body.isValid }).toEqual({ status: 400, isValid: false })
    }
  })
})

describe('Delete a content type', () => {
  it.skipIf(!isOurs).each(['id', 'key'] as const)(
    '200: archived, by %s; ApiResponse<string> with `success`, `result` (id of the type), `errors` (empty)',
    async (by) => {
      const type = await ours.makeType(articleSchema)
      const { status, body } = await service.call('DELETE', `${types()}/${type[by]}`)
      expect({ status, body }).toEqual({ status: 200, body: { success: true, result: type.id, errors: [] } })
      const { list } = (await service.call('GET', `${types()}?to=1000`)).body
      expect(list.map(({ id }: ContentTypeInfo) => id)).not.toContain(type.id)
    },
  )

  it.skipIf(!isOurs)('active → archived; Condition: type exists. Here it takes no entries any more', async () => {
    const { key, schema } = await ours.makeType(articleSchema)
    await service.call('DELETE', `${types()}/${key}`)
    expect((await service.call('DELETE', `${types()}/${key}`)).status).toBe(404)
    const body = { fields: validFields(schema) }
    for (const path of ['', '/migrate']) {
      const { status } = await service.call('POST', `/ng-cms/content/${service.project}/${key}${path}`, { body })
      expect(status).toBe(404)
    }
  })

  it('404: content type does not exist for the given key/id', async () => {
    expect((await service.call('DELETE', `${types()}/no-such-type`)).status).toBe(404)
  })

  it.skipIf(!isOurs)('Body shape of 404: not shown; here `success` false and ErrorDetail', async () => {
    const { body } = await service.call('DELETE', `${types()}/no-such-type`)
    expect(body).toEqual({
      success: false,
      errors: [{ correlationId: expect.any(String), message: expect.any(String) }],
    })
  })
})

const iso8601 = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/)
