import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Service, startService } from './service.js'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

const operations: Record<string, [method: string, path: () => string, body?: object]> = {
  'Create a log': [
    'POST',
    () => `/logs/${service.project}`,
    { timeStamp: 1, level: 'info', message: 'm', appName: 'a' },
  ],
  'Create a value tracking': [
    'POST',
    () => `/value_tracking/${service.project}`,
    { timeStamp: 1, eventId: 1, appName: 'a' },
  ],
  'List content types': ['GET', () => `/ng-cms/content-types/${service.project}`],
  'Delete a content type': ['DELETE', () => `/ng-cms/content-types/${service.project}/no-such-type`],
  'Create a content entry': ['POST', () => `/ng-cms/content/${service.project}/no-such-type`, { fields: {} }],
  'Migrate a content entry': ['POST', () => `/ng-cms/content/${service.project}/no-such-type/migrate`, { fields: {} }],
}

describe.each(Object.entries(operations))('Authentication of: %s', (_, [method, path, body]) => {
  const call = (headers: Record<string, string | undefined>) => service.call(method, path(), { body, headers })

  it('Every request must be authenticated. Unauthenticated requests get status 401', async () => {
    const { status, body } = await call({ 'x-api-key': undefined })
    expect({ status, success: body.success }).toEqual({ status: 401, success: false })
  })

  it('401: missing or invalid credentials', async () => {
    expect((await call({ 'x-api-key': 'wrong' })).status).toBe(401)
    expect((await call({ 'x-api-key': undefined, authorization: 'Bearer wrong' })).status).toBe(401)
  })

  it('API-key scheme: the header `x-api-key`', async () => {
    expect((await call({})).status).not.toBe(401)
  })

  it('Which scheme each endpoint accepts is ambiguous: `Authorization: Bearer` is taken, too', async () => {
    const { status } = await call({ 'x-api-key': undefined, authorization: `Bearer ${service.key}` })
    expect(status).not.toBe(401)
  })
})

describe('Versioning', () => {
  it.each(Object.entries(operations))(
    'One sample path carries a `/v1/` prefix, the endpoints carry none: both answer the same to %s',
    async (_, [method, path, body]) => {
      const plain = await service.call(method, path(), { body })
      const prefixed = await service.call(method, `/v1${path()}`, { body })
      expect(prefixed.status).toBe(plain.status)
    },
  )
})
