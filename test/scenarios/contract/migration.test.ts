import { afterAll, describe, expect, it } from 'vitest'
import { startService, validFields } from './service.js'
import { brokenFields } from './violations.js'

const service = await startService()
afterAll(() => service.close())

const { ours, project } = service
const type = service.type!
const schema = service.type?.schema ?? []
const migrate = (body: object, { key = service.type?.key, of = project } = {}) =>
  service.call('POST', `/ng-cms/content/${of}/${key}/migrate`, { body })

describe.skipIf(service.type === undefined)('Migrate a content entry', () => {
  const fields = validFields(schema)
  const times = {
    createdAt: '2020-01-02T03:04:05.000Z',
    updatedAt: '2021-02-03T04:05:06.000Z',
    publishedAt: '2022-03-04T05:06:07.000Z',
  }

  it('201: ApiResponse<string>; `success` true, `result` = id of the new entry, `errors` empty', async () => {
    const { status, body } = await migrate({ fields })
    expect(status).toBe(201)
    expect(body).toEqual({ success: true, result: expect.stringMatching(/.+/), errors: [] })
    expect((await migrate({ fields })).body.result).not.toBe(body.result)
  })

  it('createdAt, updatedAt, publishedAt: not required, ISO 8601 UTC', async () => {
    for (const [name, time] of Object.entries(times)) {
      expect((await migrate({ fields, [name]: time })).status).toBe(201)
    }
  })

  it.skipIf(ours === undefined)(
    'Supplied createdAt, updatedAt, publishedAt are preserved on the new entry',
    async () => {
      const { body } = await migrate({ fields, ...times })
      const entry = await ours!.readEntry(type.key, body.result)
      for (const [name, time] of Object.entries(times)) expect(Date.parse(entry[name])).toBe(Date.parse(time))
    },
  )

  it('typeKey: key or id of the content type', async () => {
    expect((await migrate({ fields }, { key: type.id })).status).toBe(201)
    expect((await migrate({ fields }, { key: type.key })).status).toBe(201)
  })

  it.skipIf(ours === undefined)('contentTypeKey: optional override of the content type', async () => {
    const other = await ours!.makeType([{ key: 'name', label: 'Name', type: 'text', required: true }])
    const { status, body } = await migrate({ fields: { name: 'x' }, contentTypeKey: other.key })
    expect(status).toBe(201)
    expect(await ours!.readEntry(other.key, body.result)).toMatchObject({ id: body.result })
  })

  it.each(brokenFields(schema))(
    '400: %s; body with `isValid` false and `validationErrors`',
    async (_, broken, names) => {
      const { status, body } = await migrate({ fields: broken })
      expect({ status, isValid: body.isValid }).toEqual({ status: 400, isValid: false })
      const failures: { name: string }[] = body.validationErrors
      expect(failures.map(({ name }) => name.replace(/^fields\./, '')).sort()).toEqual(names)
    },
  )

  it.each<[string, object, string]>([
    ['fields: required', {}, 'fields'],
    ['createdAt: ISO 8601', { fields, createdAt: 'yesterday' }, 'createdAt'],
    ['updatedAt: UTC', { fields, updatedAt: '2020-01-01T00:00:00+02:00' }, 'updatedAt'],
    ['publishedAt: a date that exists', { fields, publishedAt: '2020-02-30T00:00:00Z' }, 'publishedAt'],
  ])('400: %s; body with `isValid` false and `validationErrors`', async (_, body, name) => {
    const answer = await migrate(body)
    expect({ status: answer.status, isValid: answer.body.isValid }).toEqual({ status: 400, isValid: false })
    expect(answer.body.validationErrors.map((failure: { name: string }) => failure.name)).toEqual([name])
  })

  it('404: project not found', async () => {
    expect((await migrate({ fields }, { of: 'no-such-project' })).status).toBe(404)
  })
})

describe('Migrate a content entry', () => {
  it('404: content type not found', async () => {
    expect((await migrate({ fields: {} }, { key: 'no-such-type' })).status).toBe(404)
  })
})
