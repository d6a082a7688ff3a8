import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Scope, scopes } from '../dist/keys/scopes.js'
import { openPage, visit } from './browser.js'
import { article, caller, log, refusal, startReceiverForTest, value } from './support.js'

let receiver: Awaited<ReturnType<typeof startReceiverForTest>>
beforeAll(async () => {
  receiver = await startReceiverForTest()
})
afterAll(() => receiver.close())

/** Makes a key over the API. */
async function callerWith(...wanted: Scope[]) {
  const { status, body } = await receiver.call('POST', '/api/keys', { scopes: wanted })
  expect(status).toBe(201)
  return { ...body, call: caller({ url: receiver.url, apiKey: body.key }) }
}

const types = '/api/projects/demo/content-types'
const needed: [string, Scope, unknown?][] = [
  ['POST /logs/demo', 'ingest', log],
  ['POST /v1/value_tracking/demo', 'ingest', value],
  ['POST /otlp/demo/v1/logs', 'ingest', { resourceLogs: [] }],
  ['POST /api/test-record', 'ingest', {}],
  [`POST ${types}`, 'content', article],
  [`PUT ${types}/article`, 'content', { ...article, key: undefined }],
  ['GET /ng-cms/content-types/demo', 'content'],
  ['POST /ng-cms/content/demo/article', 'content', { fields: { title: 'x' } }],
  ['POST /v1/ng-cms/content/demo/article/migrate', 'content', { fields: { title: 'x' } }],
  ['GET /api/projects/demo/content/article', 'read'],
  ['GET /api/projects/demo/content/article/1', 'read'],
  ['DELETE /ng-cms/content-types/demo/article', 'content'],
  ['GET /api/logs/demo', 'read'],
  ['GET /api/values/demo', 'read'],
  ['GET /api/logs/demo/counts', 'read'],
  ['GET /api/logs/demo/errors', 'read'],
  ['GET /api/values/demo/counts', 'read'],
  ['GET /api/projects', 'read'],
  ['GET /api/openapi.json', 'read'],
  ['GET /api/live?bucket=nothing', 'read'],
  ['GET /metrics', 'read'],
  ['GET /api/rejected', 'read'],
  ['GET /api/session', 'read'],
  ['DELETE /api/session', 'read'],
  ['GET /api/views', 'read'],
  ['PUT /api/views/late', 'read', { hash: '#logs' }],
  ['DELETE /api/views/late', 'read'],
  ['GET /api/facets/logs?bucket=demo', 'read'],
  ['GET /api/account?bucket=demo', 'read'],
  ['POST /api/projects', 'admin', { id: 'other' }],
  ['PUT /api/projects/demo/plan', 'admin', { content: true }],
  ['GET /api/keys', 'admin'],
  ['POST /api/keys', 'admin', {}],
  ['DELETE /api/keys/nothing', 'admin'],
]

describe('the scopes of an API key', () => {
  it('are named in 403 where one is missing, and let in where it is there', async () => {
    const owners = new Map<Scope, Awaited<ReturnType<typeof callerWith>>>()
    const others = new Map<Scope, Awaited<ReturnType<typeof callerWith>>>()
    for (const scope of scopes) {
      owners.set(scope, await callerWith(scope))
      others.set(scope, await callerWith(...scopes.filter((each) => each !== scope)))
    }
    for (const [operation, scope, body] of needed) {
      const [method = '', path = ''] = operation.split(' ')
      const refused = await others.get(scope)!.call(method, path, body)
      const names = scopes.filter((each) => each !== scope).join(', ')
      expect([operation, refused.status]).toEqual([operation, 403])
      expect(refused.body).toEqual(refusal(`the API key lacks the scope ${scope}; it has ${names}`))
      const answered = await owners.get(scope)!.call(method, path, body)
      expect([operation, answered.status < 500 && ![401, 403].includes(answered.status)]).toEqual([operation, true])
    }
  })

  it('cover every operation of the description', async () => {
    const { paths } = (await receiver.call('GET', '/api/openapi.json')).body
    const described = Object.entries(paths as Record<string, object>).flatMap(([path, methods]) =>
      Object.keys(methods).map(
        (method) => new RegExp(`^${method.toUpperCase()} (/v1)?${path.replace(/\{\w+\}/g, '[^/?]+')}(\\?|$)`),
      ),
    )
    const left = described.filter((wanted) => !needed.some(([operation]) => wanted.test(operation)))
    expect(left.map(({ source }) => source.replaceAll('\\/', '/'))).toEqual([
      expect.stringContaining('/api/health'),
      expect.stringContaining('/api/ready'),
    ])
  })

  it('of a key without any named are ingest alone', async () => {
    const { body } = await receiver.call('POST', '/api/keys', {})
    expect(body).toMatchObject({ scopes: ['ingest'], name: '', lastUsed: null, key: expect.stringMatching(/^slk_/) })
  })

  it('do not matter for an unknown path, nor for those that need no key', async () => {
    const { call } = await callerWith('content')
    expect((await call('GET', '/api/nothing')).status).toBe(404)
    expect((await call('GET', '/api/health')).status).toBe(200)
  })

  it('keep the key of the start from those that may not administrate', async () => {
    const { call } = await callerWith('read')
    expect((await call('GET', '/api/session')).body.apiKey).toBeNull()
    expect((await receiver.call('GET', '/api/session')).body.apiKey).toBe(receiver.apiKey)
  })

  it('let a key with read open the page, and no other', async () => {
    const page = async (...wanted: Scope[]) => {
      const { key } = await callerWith(...wanted)
      return (await fetch(receiver.url, { headers: { 'x-api-key': key } })).status
    }
    expect(await page('read')).toBe(200)
    expect(await page('ingest', 'content', 'admin')).toBe(403)
  })

  it('leave the session of the page as it is: it reads, and makes no keys', async () => {
    const { cookie } = await openPage(receiver)
    const asPage = { headers: { cookie } }
    expect((await visit(receiver.url, { path: '/api/logs/demo', ...asPage })).status).toBe(200)
    expect((await visit(receiver.url, { path: '/api/keys', ...asPage })).status).toBe(401)
  })

  it('end with the key, and so do its live streams', async () => {
    const { id, key, call } = await callerWith('read')
    const stream = await fetch(`${receiver.url}/api/live?bucket=demo`, { headers: { 'x-api-key': key } })
    expect(stream.status).toBe(200)
    expect((await receiver.call('DELETE', `/api/keys/${id}`)).status).toBe(200)
    expect(await stream.text()).toContain('event: hello')
    expect((await call('GET', '/api/logs/demo')).status).toBe(401)
  })

  it('that are missing show among the rejected requests of applications', async () => {
    const { call } = await callerWith('read')
    await call('POST', '/logs/demo', { ...log, message: 'no scope' })
    const [newest] = (await receiver.call('GET', '/api/rejected')).body.items
    expect(newest).toMatchObject({ status: 403, path: '/logs/demo', reason: expect.stringContaining('scope ingest') })
  })
})
