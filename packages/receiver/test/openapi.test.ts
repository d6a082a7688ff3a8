import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newEntrySchema } from '../dist/schemas/entries.js'
import { logRecordSchema, valueRecordSchema } from '../dist/schemas/records.js'
import { article, log, startReceiverForTest, value } from './support.js'

interface Operation {
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: object } } }
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: object }[]
  readonly responses: Readonly<
    Record<string, { readonly content: { readonly 'application/json': { readonly schema: object } } }>
  >
}

let receiver: Awaited<ReturnType<typeof startReceiverForTest>>
let description: { openapi: string; paths: Record<string, Record<string, Operation>>; security: unknown }
beforeAll(async () => {
  receiver = await startReceiverForTest()
  description = (await receiver.call('GET', '/api/openapi.json')).body
})
afterAll(() => receiver.close())

const ajv = new Ajv2020({ strict: false })
formats.default(ajv)

/** Finds a called path in the description. */
function operation(method: string, path: string): Operation {
  const [plain = ''] = path.split('?')
  const template = Object.keys(description.paths).find((each) =>
    new RegExp(`^${each.replace(/\{\w+\}/g, '[^/]+')}$`).test(plain),
  )
  return description.paths[template!]![method.toLowerCase()]!
}

describe('GET /api/openapi.json', () => {
  it('describes every operation, those beyond the API included, in OpenAPI 3.1', () => {
    expect(description.openapi).toBe('3.1.0')
    expect(description.security).toEqual([{ apiKey: [] }, { bearer: [] }])
    const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(operations.sort()).toEqual(
      [
        'GET /ng-cms/content-types/{projectId}',
        'DELETE /ng-cms/content-types/{projectId}/{key}',
        'POST /ng-cms/content/{projectId}/{typeKey}',
        'POST /ng-cms/content/{projectId}/{typeKey}/migrate',
        'POST /logs/{bucketId}',
        'POST /value_tracking/{bucketId}',
        'POST /otlp/{bucketId}/v1/logs',
        'POST /api/projects',
        'PUT /api/projects/{projectId}/plan',
        'POST /api/projects/{projectId}/content-types',
        'PUT /api/projects/{projectId}/content-types/{key}',
        'GET /api/projects/{projectId}/content/{typeKey}',
        'GET /api/projects/{projectId}/content/{typeKey}/{entryId}',
        'GET /api/logs/{bucketId}',
        'GET /api/values/{bucketId}',
        'GET /api/logs/{bucketId}/counts',
        'GET /api/logs/{bucketId}/errors',
        'GET /api/values/{bucketId}/counts',
        'GET /api/health',
        'GET /metrics',
        'GET /api/keys',
        'POST /api/keys',
        'DELETE /api/keys/{id}',
        'GET /api/ready',
        'GET /api/projects',
        'GET /api/openapi.json',
        'GET /api/live',
        'GET /api/rejected',
        'GET /api/session',
        'DELETE /api/session',
        'GET /api/views',
        'PUT /api/views/{name}',
        'DELETE /api/views/{name}',
        'GET /api/facets/logs',
        'GET /api/account',
        'POST /api/test-record',
      ].sort(),
    )
  })

  it.each([
    ['/logs/demo', logRecordSchema],
    ['/value_tracking/demo', valueRecordSchema],
    ['/ng-cms/content/demo/article', newEntrySchema],
  ])('has the very schema that validates the body of POST %s', (path, schema) => {
    const described = operation('POST', path).requestBody?.content['application/json'].schema
    expect(described).toEqual(JSON.parse(JSON.stringify(schema)))
  })

  it('describes queries with their bounds, and the header that names an attempt', () => {
    const parameter = (method: string, path: string, wanted: string) =>
      operation(method, path).parameters?.find(({ name }) => name === wanted)
    const to = { type: 'integer', minimum: 1, maximum: 1000, default: 20 }
    expect(parameter('GET', '/ng-cms/content-types/demo', 'to')).toMatchObject({ in: 'query', schema: to })
    expect(parameter('POST', '/logs/demo', 'idempotency-key')).toMatchObject({ in: 'header' })
  })

  it('describes what is really answered, field by field', async () => {
    const entries = '/ng-cms/content/demo/article'
    const types = '/api/projects/demo/content-types'
    const calls: [number, string, string, unknown?, Record<string, string>?][] = [
      [201, 'POST', types, article],
      [409, 'POST', types, article],
      [400, 'POST', types, { ...article, key: '' }],
      [200, 'PUT', `${types}/article`, { ...article, key: undefined }],
      [404, 'PUT', `${types}/nothing`, { ...article, key: undefined }],
      [201, 'POST', entries, { fields: { title: 'x' } }],
      [400, 'POST', entries, { fields: {} }],
      [404, 'POST', '/ng-cms/content/demo/nothing', { fields: {} }],
      [201, 'POST', `${entries}/migrate`, { fields: { title: 'x' }, publishedAt: '2020-01-01T00:00:00Z' }],
      [400, 'POST', `${entries}/migrate`, { fields: {}, createdAt: 'x' }],
      [200, 'GET', '/api/projects/demo/content/article'],
      [200, 'GET', '/ng-cms/content-types/demo'],
      [400, 'GET', '/ng-cms/content-types/demo?from=0'],
      [413, 'POST', entries, { fields: { title: 'x'.repeat(1_100_000) } }],
      [415, 'POST', entries, 'x', { 'content-type': 'text/plain' }],
      [404, 'DELETE', '/ng-cms/content-types/demo/nothing'],
      [200, 'DELETE', '/ng-cms/content-types/demo/article'],
      [201, 'POST', '/api/projects', { id: 'other' }],
      [400, 'POST', '/api/projects', {}],
      [409, 'POST', '/api/projects', { id: 'other' }],
      [200, 'GET', '/api/keys'],
      [201, 'POST', '/api/keys', { name: 'reader', scopes: ['read'] }],
      [400, 'POST', '/api/keys', { scopes: ['red'] }],
      [404, 'DELETE', '/api/keys/nothing'],
      [200, 'PUT', '/api/projects/demo/plan', { content: false }],
      [412, 'GET', '/ng-cms/content-types/demo'],
      [412, 'DELETE', '/ng-cms/content-types/demo/article'],
      [412, 'POST', entries, {}],
      [201, 'POST', '/logs/demo', log],
      [400, 'POST', '/logs/demo', { colour: 'red' }],
      [401, 'POST', '/logs/demo', log, { 'x-api-key': 'wrong' }],
      [404, 'POST', '/logs/nothing', log],
      [413, 'POST', '/logs/demo', { ...log, message: 'x'.repeat(1_100_000) }],
      [415, 'POST', '/logs/demo', 'x', { 'content-type': 'text/plain' }],
      [201, 'POST', '/value_tracking/demo', value],
      [200, 'GET', '/api/logs/demo'],
      [200, 'GET', '/api/values/demo?since=2020-01-01T00:00:00Z'],
      [200, 'GET', '/api/logs/demo?appName=none'],
      [200, 'GET', '/api/logs/demo/counts?step=1m'],
      [200, 'GET', '/api/values/demo/counts'],
      [400, 'GET', '/api/values/demo/counts?by=level'],
      [404, 'GET', '/api/values/nothing/counts'],
      [200, 'GET', '/api/health'],
      [200, 'GET', '/api/ready'],
      [200, 'GET', '/api/projects'],
      [400, 'GET', '/api/projects?to=0'],
      [401, 'GET', '/api/projects', undefined, { 'x-api-key': 'wrong' }],
      [200, 'GET', '/api/openapi.json'],
      [200, 'GET', '/api/session'],
      [404, 'DELETE', '/api/session'],
      [200, 'PUT', '/api/views/late%20lines', { hash: '#logs?level=warn' }],
      [400, 'PUT', '/api/views/late', { hash: 'javascript:x' }],
      [400, 'PUT', '/api/views/a%0Ab', { hash: '#logs' }],
      [200, 'GET', '/api/views'],
      [200, 'DELETE', '/api/views/late%20lines'],
      [404, 'DELETE', '/api/views/late%20lines'],
      [200, 'GET', '/api/rejected'],
      [401, 'GET', '/api/rejected', undefined, { 'x-api-key': 'wrong' }],
      [200, 'GET', '/api/facets/logs?bucket=demo'],
      [400, 'GET', '/api/facets/logs'],
      [404, 'GET', '/api/facets/logs?bucket=nothing'],
      [200, 'GET', '/api/account?bucket=demo'],
      [400, 'GET', '/api/account'],
      [404, 'GET', '/api/account?bucket=nothing'],
      [201, 'POST', '/api/test-record'],
      [404, 'POST', '/api/test-record?bucket=nothing'],
      [400, 'GET', '/api/live'],
      [404, 'GET', '/api/live?bucket=nothing'],
      [401, 'GET', '/api/openapi.json', undefined, { 'x-api-key': 'wrong' }],
    ]
    for (const [status, method, path, body, headers] of calls) {
      const answer = await receiver.call(method, path, body, headers)
      expect([method, path, answer.status]).toEqual([method, path, status])
      expect(answer.headers.get('x-correlation-id')).toMatch(/^[\da-f-]{36}$/)
      const schema = operation(method, path).responses[status]?.content['application/json'].schema
      expect([method, path, status, schema]).not.toContain(undefined)
      const valid = ajv.validate(schema!, answer.body)
      expect([method, path, valid ? [] : ajv.errors]).toEqual([method, path, []])
    }
  })
})
