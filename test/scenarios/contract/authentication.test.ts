import { afterAll, describe, expect, it } from 'vitest'
import { startService } from './service.js'

const service = await startService()
afterAll(() => service.close())

const { project, ours } = service
const record = { timeStamp: 1_700_000_000_000, appName: 'contract' }
const operations: Readonly<Record<string, readonly [method: string, path: string, body?: object]>> = {
  'Create a log': ['POST', `/logs/${project}`, { ...record, level: 'info', message: 'm' }],
  'Create a value tracking': ['POST', `/value_tracking/${project}`, { ...record, eventId: 1 }],
  'List content types': ['GET', `/ng-cms/content-types/${project}`],
  'Delete a content type': ['DELETE', `/ng-cms/content-types/${project}/no-such-type`],
  'Create a content entry': ['POST', `/ng-cms/content/${project}/no-such-type`, { fields: {} }],
  'Migrate a content entry': ['POST', `/ng-cms/content/${project}/no-such-type/migrate`, { fields: {} }],
}
const shownWithToken = ['Delete a content type', 'Migrate a content entry']

describe.each(Object.entries(operations))('Authentication of: %s', (name, [method, path, body]) => {
  const call = (headers: Record<string, string | undefined>) =>
    service.call(method, path, { body, headers: { 'x-api-key': undefined, authorization: undefined, ...headers } })
  const withKey = { 'x-api-key': service.key }
  const withToken = { authorization: `Bearer ${service.token}` }

  it('Every request must be authenticated. Unauthenticated requests get status 401', async () => {
    expect((await call({})).status).toBe(401)
  })

  it('401: missing or invalid credentials', async () => {
    expect((await call({ 'x-api-key': 'wrong' })).status).toBe(401)
    expect((await call({ authorization: 'Bearer wrong' })).status).toBe(401)
  })

  const [shown, headers] = shownWithToken.includes(name)
    ? ['`Authorization: Bearer <ACCESS_TOKEN>`', withToken]
    : ['`x-api-key: <API_KEY>`', withKey]
  it(`is shown with the header ${shown}`, async () => {
    expect((await call(headers)).status).not.toBe(401)
  })

  it.skipIf(ours === undefined)('Which scheme each endpoint accepts is ambiguous: here both', async () => {
    expect((await call(withKey)).status).not.toBe(401)
    expect((await call(withToken)).status).not.toBe(401)
  })

  it.skipIf(ours === undefined)('Body shape of 401: not shown; here `success` false and ErrorDetail', async () => {
    const { body } = await call({})
    expect(body).toEqual({
      success: false,
      errors: [{ correlationId: expect.any(String), message: expect.any(String) }],
    })
  })
})

describe('Authentication of: Delete a content type', () => {
  it.skipIf(ours === undefined)('the delete operation’s 401 states that a valid bearer token is required', async () => {
    const [method, path] = operations['Delete a content type']!
    const { body } = await service.call(method, path, { headers: { authorization: undefined } })
    expect(body.errors[0].message).toContain('a valid bearer token')
  })
})

describe('Data is exchanged as JSON', () => {
  it.each(Object.entries(operations))('%s answers with it', async (_, [method, path, body]) => {
    const { headers } = await service.call(method, path, { body })
    expect(headers.get('content-type')).toMatch(/^application\/json\b/)
  })
})

describe('Versioning', () => {
  it.skipIf(ours === undefined).each(Object.entries(operations))(
    'One sample path carries a `/v1/` prefix, the endpoints carry none: here both answer the same to %s',
    async (_, [method, path, body]) => {
      const headers = { 'x-api-key': service.key }
      const plain = await service.call(method, path, { body, headers })
      const prefixed = await service.call(method, `/v1${path}`, { body, headers })
      expect(prefixed.status).toBe(plain.status)
    },
  )
})
