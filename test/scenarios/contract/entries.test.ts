import { afterAll, describe, expect, it } from 'vitest'
import { startService, validFields } from './service.js'
import { brokenFields } from './violations.js'

const service = await startService()
afterAll(() => service.close())

const { project, ours } = service
const type = service.type!
const schema = service.type?.schema ?? []
const post = (body: object, key = type.key) => service.call('POST', `/ng-cms/content/${project}/${key}`, { body })

describe.skipIf(service.type === undefined)('Create a content entry', () => {
  const fields = validFields(schema)

  it('201: ApiResponse<string>: `success` true, `result` = new entry id, `errors` empty on success', async () => {
    const { status, body } = await post({ fields })
    expect(status).toBe(201)
    expect(body).toEqual({ success: true, result: expect.stringMatching(/.+/), errors: [] })
    expect((await post({ fields })).body.result).not.toBe(body.result)
  })

  it.skipIf(ours === undefined)('(none) → Draft; Entry id returned', async () => {
    const { body } = await post({ fields })
    expect(await ours!.readEntry(type.key, body.result)).toMatchObject({ id: body.result, state: 'Draft', fields })
  })

  it.each(brokenFields(schema))(
    '400: %s; body has `isValid` false and `validationErrors`',
    async (_, broken, names) => {
      const { status, body } = await post({ fields: broken })
      expect({ status, isValid: body.isValid }).toEqual({ status: 400, isValid: false })
      const failures: { name: string }[] = body.validationErrors
      expect(failures.map(({ name }) => name.replace(/^fields\./, '')).sort()).toEqual(names)
    },
  )

  it('ValidationError: `name` (the field that failed), `attemptedValue` (the submitted value), `message`', async () => {
    const { body } = await post({ fields: { ...fields, 'no-such-field': { some: ['value'] } } })
    expect(body.validationErrors).toEqual([
      {
        name: expect.stringContaining('no-such-field'),
        attemptedValue: { some: ['value'] },
        message: expect.stringMatching(/.+/),
      },
    ])
  })

  it('400: invalid request, for a body without `fields` and one that is not JSON', async () => {
    for (const body of [{}, { fields: 'x' }, '{"fields":']) {
      const answer = await service.call('POST', `/ng-cms/content/${project}/${type.key}`, { body })
      expect({ status: answer.status, isValid: answer.body.isValid }).toEqual({ status: 400, isValid: false })
    }
  })

  it.skipIf(ours === undefined)('createdAt, updatedAt, publishedAt: settable only by migration', async () => {
    for (const name of ['createdAt', 'updatedAt', 'publishedAt']) {
      const { status, body } = await post({ fields, [name]: '2020-01-01T00:00:00Z' })
      expect({ status, names: body.validationErrors.map((failure: { name: string }) => failure.name) }).toEqual({
        status: 400,
        names: [name],
      })
    }
  })
})

describe('Create a content entry', () => {
  it('404: no content type with that typeKey in the project', async () => {
    expect((await post({ fields: {} }, 'no-such-type')).status).toBe(404)
  })
})
