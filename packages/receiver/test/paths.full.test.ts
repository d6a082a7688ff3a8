import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { scopes } from '../dist/keys/scopes.js'
import { openPage, visit } from './browser.js'
import { article, log, refusal, startReceiverForTest } from './support.js'

let receiver: Awaited<ReturnType<typeof startReceiverForTest>>
beforeEach(async () => {
  receiver = await startReceiverForTest()
})
afterEach(() => receiver.close())

describe('an unknown path or method', () => {
  it.each([
    ['PUT', '/'],
    ['GET', '/logs/demo'],
    ['PUT', '/logs/demo'],
    ['PATCH', '/logs/demo'],
    ['DELETE', '/logs/demo'],
    ['OPTIONS', '/logs/demo'],
    ['PROPFIND', '/logs/demo'],
    ['POST', '/logs/demo/'],
    ['POST', '/logs//demo'],
    ['POST', '/LOGS/demo'],
    ['POST', '/logs/demo/more'],
    ['POST', '/v1/v1/logs/demo'],
    ['POST', '/v1/api/projects'],
    ['PUT', '/ng-cms/content/demo/article/migrate'],
    ['GET', '/api/nothing'],
  ])('is 404: %s %s', async (method, path) => {
    const answer = await receiver.call(method, path)
    expect(answer).toMatchObject({ status: 404, body: refusal(`there is no ${method} ${path}`) })
    expect(answer.headers.get('x-correlation-id')).toBe(answer.body.errors[0].correlationId)
  })

  it('is 404 whatever the body, and 401 without a key', async () => {
    for (const headers of [{}, { 'content-type': 'text/xml' }] as Record<string, string>[]) {
      for (const sent of ['{', 'x'.repeat(2_000_000)]) {
        expect((await receiver.call('PUT', '/logs/demo', sent, headers)).status).toBe(404)
        const anonymous = await receiver.call('PUT', '/logs/demo', sent, { ...headers, 'x-api-key': 'wrong' })
        expect(anonymous.status).toBe(401)
      }
    }
  })
})

describe('HEAD', () => {
  it('answers as GET does, without the body', async () => {
    const path = '/ng-cms/content-types/demo'
    const [head, get] = [await receiver.call('HEAD', path), await receiver.call('GET', path)]
    expect([head.status, head.body]).toEqual([200, undefined])
    expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'))
    expect((await receiver.call('HEAD', path, undefined, { 'x-api-key': 'wrong' })).status).toBe(401)
    expect((await receiver.call('HEAD', '/ng-cms/content-types/nothing')).status).toBe(404)
  })

  it('lets in whom GET lets in, and nobody else', async () => {
    const { paths } = (await receiver.call('GET', '/api/openapi.json')).body
    const read = Object.keys(paths).filter((path) => paths[path].get !== undefined && path !== '/api/live')
    expect(read.length).toBeGreaterThan(12)
    const keys = await Promise.all(
      scopes.map(async (scope) => (await receiver.call('POST', '/api/keys', { scopes: [scope] })).body.key),
    )
    const callers = [{}, await openPage(receiver), ...keys.map((key) => ({ 'x-api-key': key }))]
    for (const path of [...read, '/', '/metrics']) {
      const url = `${path.replaceAll(/\{\w+\}/g, 'demo')}${/facets|account/.test(path) ? '?bucket=demo' : ''}`
      for (const headers of callers) {
        const { status } = await visit(receiver.url, { path: url, headers })
        const head = await visit(receiver.url, { method: 'HEAD', path: url, headers })
        expect([url, headers, head.status, head.body]).toEqual([url, headers, status, ''])
      }
    }
  })
})

describe('an id in a path', () => {
  it.each([
    ['/logs/%64em%6F', 201],
    ['/logs/demo%00', 404],
    ['/logs/%00', 404],
    ['/logs/', 404],
    ['/logs/%20demo', 404],
    ['/logs/Demo', 404],
    ['/logs/demo%2Fmore', 404],
    ['/logs/%C3%BC', 404],
    ['/logs/__proto__', 404],
    ['/logs/constructor', 404],
    [`/logs/${'x'.repeat(101)}`, 404],
    [`/logs/${'x'.repeat(8000)}`, 404],
  ])('is taken to the letter: %s', async (path, status) => {
    const answer = await receiver.call('POST', path, log)
    expect(answer.status).toBe(status)
    if (status === 404) expect(answer.body).toEqual(refusal('there is no bucket'))
  })

  it.each(['article%00', '', '%00', 'constructor', '__proto__', 'x'.repeat(200)])(
    'of a content type that there is not is 404: %j',
    async (key) => {
      await receiver.call('POST', '/api/projects/demo/content-types', article)
      const fields = { title: 'x' }
      const { key: _key, ...change } = article
      for (const answer of [
        await receiver.call('DELETE', `/ng-cms/content-types/demo/${key}`),
        await receiver.call('POST', `/ng-cms/content/demo/${key}`, { fields }),
        await receiver.call('POST', `/ng-cms/content/demo/${key}/migrate`, { fields }),
        await receiver.call('POST', '/ng-cms/content/demo/article/migrate', { fields, contentTypeKey: decodeURI(key) }),
        await receiver.call('PUT', `/api/projects/demo/content-types/${key}`, change),
        await receiver.call('GET', `/api/projects/demo/content/${key}`),
        await receiver.call('GET', `/api/projects/demo/content/article/${key || 'x'}`),
      ]) {
        expect(answer).toMatchObject({ status: 404, body: refusal('') })
      }
    },
  )

  it('that cannot be decoded is 400, to those with a key', async () => {
    const { status, body, headers } = await receiver.call('POST', '/logs/%ZZ', log)
    expect(status).toBe(400)
    expect(body.validationErrors).toEqual([
      { name: 'path', attemptedValue: '/logs/%ZZ', message: expect.stringMatching(/^path has a %/) },
    ])
    expect(headers.get('x-correlation-id')).toBeTruthy()
    const anonymous = await receiver.call('POST', '/logs/%ZZ', log, { 'x-api-key': 'wrong' })
    expect(anonymous).toMatchObject({ status: 401, body: refusal('not valid') })
    expect(anonymous.headers.get('x-correlation-id')).toBe(anonymous.body.errors[0].correlationId)
  })
})
