import { afterAll, describe, expect, it } from 'vitest'
import { articleSchema, startService, validFields } from './service.js'

const service = await startService()
afterAll(() => service.close())

const ours = service.ours!

describe.skipIf(service.ours === undefined)('Access can be refused with 412 depending on the project’s plan', () => {
  it.each<[string, string, (project: string) => string, object?]>([
    ['list content types', 'GET', (project) => `/ng-cms/content-types/${project}`],
    ['delete content type', 'DELETE', (project) => `/ng-cms/content-types/${project}/article`],
    ['create content entry', 'POST', (project) => `/ng-cms/content/${project}/article`, { fields: {} }],
  ])('Status 412 is listed for %s', async (_, method, path, body) => {
    const project = await ours.makeProject({ content: false })
    const answer = await service.call(method, path(project), { body })
    expect(answer).toMatchObject({ status: 412, body: { success: false } })
    expect(answer.body.errors).toEqual([{ correlationId: expect.any(String), message: expect.any(String) }])
  })

  it('Status 412 is not listed for migrate: here it is exempt', async () => {
    const project = await ours.makeProject()
    const type = await ours.makeType(articleSchema, project)
    await service.call('PUT', `/api/projects/${project}/plan`, { body: { content: false } })
    const body = { fields: validFields(articleSchema) }
    expect((await service.call('POST', `/ng-cms/content/${project}/${type.key}/migrate`, { body })).status).toBe(201)
  })

  it('Access to content-type and content-entry operations: records are taken all the same', async () => {
    const project = await ours.makeProject({ content: false })
    const body = { timeStamp: 1, level: 'info', message: 'm', appName: 'contract', eventId: 1 }
    expect((await service.call('POST', `/logs/${project}`, { body })).status).toBe(201)
  })
})
