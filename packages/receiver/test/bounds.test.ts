import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scopes } from '../dist/keys/scopes.js'
import { article, caller, log, refusal, startReceiverForTest, value } from './support.js'

let receiver: Awaited<ReturnType<typeof startReceiverForTest>>
/** Has every scope, for the project shop alone. */
let bound: Awaited<ReturnType<typeof keyFor>>
beforeAll(async () => {
  receiver = await startReceiverForTest()
  for (const id of ['shop', 'other']) {
    await receiver.call('POST', '/api/projects', { id })
    await receiver.call('POST', `/api/projects/${id}/content-types`, article)
    await receiver.call('POST', `/logs/${id}`, { ...log, appName: `app of ${id}` })
  }
  bound = await keyFor('shop')
})
afterAll(() => receiver.close())

async function keyFor(...projects: string[]) {
  const { status, body } = await receiver.call('POST', '/api/keys', { scopes, projects })
  expect([status, body.projects]).toEqual([201, projects])
  return { ...body, call: caller({ url: receiver.url, apiKey: body.key }) }
}

/** What a key that is bound to projects gets of the operations that name none. A new operation must name its project, or stand here. */
const unnamed: Readonly<Record<string, 'nothing' | 'own' | 'no secret'>> = {
  'GET /api/projects': 'own',
  'POST /api/projects': 'nothing',
  'GET /api/keys': 'own',
  'POST /api/keys': 'own',
  'DELETE /api/keys/{id}': 'own',
  'GET /api/rejected': 'own',
  'GET /api/session': 'own',
  'DELETE /api/session': 'own',
  'GET /api/views': 'nothing',
  'PUT /api/views/{name}': 'nothing',
  'DELETE /api/views/{name}': 'nothing',
  'GET /metrics': 'nothing',
  'GET /api/openapi.json': 'no secret',
  'GET /api/health': 'no secret',
  'GET /api/ready': 'no secret',
}

interface Operation {
  readonly name: string
  readonly method: string
  /** The path with the project. */
  readonly to: (project: string) => string
  readonly namesProject: boolean
}

/** The operations of the description, those of the API with the prefix, too, and with the methods that nobody describes. */
async function operations(): Promise<Operation[]> {
  type Described = Readonly<Record<string, { parameters?: { name: string; in: string }[]; tags: string[] }>>
  const { paths } = (await receiver.call('GET', '/api/openapi.json')).body as { paths: Record<string, Described> }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([described, { parameters = [], tags }]) => {
      const inQuery = parameters.some((parameter) => parameter.in === 'query' && parameter.name === 'bucket')
      const to = (project: string) => {
        const named = path.replace(/\{(projectId|bucketId)\}/, project).replaceAll(/\{\w+\}/g, 'article')
        return inQuery ? `${named}?bucket=${project}` : named
      }
      const method = described.toUpperCase()
      const namesProject = inQuery || /\{(projectId|bucketId)\}/.test(path)
      const operation = { name: `${method} ${path}`, method, to, namesProject }
      const prefixed = { ...operation, to: (project: string) => `/v1${to(project)}` }
      const head = method === 'GET' && path !== '/api/live' ? [{ ...operation, method: 'HEAD' }] : []
      return [operation, ...head, ...(tags.includes('API') ? [prefixed] : [])]
    }),
  )
}

/** The status, also of an answer that does not end. */
async function statusOf({ method, to }: Operation, project: string): Promise<number> {
  const response = await fetch(`${receiver.url}${to(project)}`, { method, headers: { 'x-api-key': bound.key } })
  await response.body?.cancel()
  return response.status
}

describe('a key that is bound to a project', () => {
  it('is refused by every operation that names another, whether it exists or not, and the answer names it', async () => {
    const naming = (await operations()).filter(({ namesProject }) => namesProject)
    expect(naming.length).toBeGreaterThan(25)
    for (const { name, method, to } of naming) {
      for (const project of ['other', 'nothing', 'demo', 'Shop', 'shop%20']) {
        const { status, body } = await bound.call(method, to(project))
        expect([name, method, project, status]).toEqual([name, method, project, 403])
        if (method === 'HEAD') continue
        const message = `the API key does not hold for project ${decodeURIComponent(project)}; it holds for shop`
        expect([name, body]).toEqual([name, refusal(message)])
      }
    }
  })

  it('is let in by every operation that names its own', async () => {
    for (const operation of (await operations()).filter(({ namesProject }) => namesProject)) {
      const status = await statusOf(operation, 'shop')
      expect([operation.name, operation.method, status < 500 && ![401, 403].includes(status)]).toEqual([
        operation.name,
        operation.method,
        true,
      ])
    }
  })

  it('gets of every other operation what the table says', async () => {
    const others = (await operations()).filter(({ namesProject }) => !namesProject)
    expect(new Set(others.map(({ name }) => name))).toEqual(new Set(Object.keys(unnamed)))
    for (const operation of others.filter(({ name }) => unnamed[name] === 'nothing')) {
      // A query that the route does not know names nothing.
      for (const query of ['', '?bucket=shop', '?projectId=shop']) {
        const to = () => `${operation.to('')}${query}`
        expect([operation.name, await statusOf({ ...operation, to }, '')]).toEqual([operation.name, 403])
      }
    }
  })

  it('is refused where a query names two projects, or none', async () => {
    for (const path of ['/api/live?bucket=shop&bucket=other', '/api/account?bucket=other&bucket=shop', '/api/live']) {
      expect((await bound.call('GET', path)).status).toBe(403)
    }
    expect((await bound.call('POST', '/api/test-record', {})).body).toEqual(refusal('a request that names no project'))
    expect((await bound.call('POST', '/api/test-record?bucket=shop', {})).status).toBe(201)
  })

  it('sees its projects alone, in pages of them, and not the key of the start', async () => {
    const both = await keyFor('other', 'shop')
    expect((await bound.call('GET', '/api/projects')).body).toEqual({
      total: 1,
      list: [{ id: 'shop', plan: { content: true } }],
    })
    const { body } = await both.call('GET', '/api/projects?from=2&to=1')
    expect([body.total, body.list.map(({ id }: { id: string }) => id)]).toEqual([2, ['other']])
    const session = (await bound.call('GET', '/api/session')).body
    expect(session).toMatchObject({ apiKey: null, bucket: 'shop', projects: ['shop'] })
    expect((await receiver.call('GET', '/api/session')).body.apiKey).toBe(receiver.apiKey)
  })

  it('sees the rejected requests that named its projects alone', async () => {
    for (const path of ['/logs/shop', '/logs/other', '/nothing?bucket=shop', '/v1/value_tracking/shop']) {
      await receiver.call('POST', path, { message: 'not valid' })
    }
    const paths = (items: { path: string }[]) => items.map(({ path }) => path)
    const seen = paths((await bound.call('GET', '/api/rejected')).body.items)
    expect(seen).toEqual(expect.arrayContaining(['/logs/shop', '/v1/value_tracking/shop']))
    expect(seen.filter((path) => !path.split('/').includes('shop'))).toEqual([])
    expect(paths((await receiver.call('GET', '/api/rejected')).body.items)).toContain('/logs/other')
  })

  it('makes, sees and revokes only keys that are bound to some of its projects', async () => {
    const make = (projects?: string[]) => bound.call('POST', '/api/keys', { scopes: ['ingest'], projects })
    expect((await make()).body).toEqual(refusal('does not hold for all projects; it holds for shop'))
    expect((await make(['shop', 'other'])).body).toEqual(refusal('does not hold for project other'))
    expect((await make(['nothing'])).status).toBe(403)
    const { status, body: made } = await make(['shop'])
    expect([status, made.projects]).toEqual([201, ['shop']])
    const wider = await keyFor('shop', 'other')
    const list = (await bound.call('GET', '/api/keys')).body
    expect(list.list.map(({ id }: { id: string }) => id)).toEqual([bound.id, made.id])
    const [{ id: first }] = (await receiver.call('GET', '/api/keys')).body.list
    for (const id of [first, wider.id]) expect((await bound.call('DELETE', `/api/keys/${id}`)).status).toBe(404)
    expect((await bound.call('DELETE', `/api/keys/${made.id}`)).status).toBe(200)
    expect((await wider.call('GET', '/api/logs/other')).status).toBe(200)
  })

  it('reads and stores there, as any key', async () => {
    expect((await bound.call('POST', '/logs/shop', log)).status).toBe(201)
    expect((await bound.call('POST', '/value_tracking/shop', value)).status).toBe(201)
    expect((await bound.call('GET', '/api/values/shop')).body.total).toBeGreaterThan(0)
    const { apps } = (await bound.call('GET', '/api/facets/logs?bucket=shop')).body
    expect(Object.keys(apps)).not.toContain('app of other')
  })

  it('still needs the scope, and gets 404 for an unknown path', async () => {
    const { body } = await receiver.call('POST', '/api/keys', { scopes: ['ingest'], projects: ['shop'] })
    const { call } = { call: caller({ url: receiver.url, apiKey: body.key }) }
    expect((await call('GET', '/api/logs/shop')).body).toEqual(refusal('lacks the scope read'))
    expect((await call('POST', '/logs/shop', log)).status).toBe(201)
    expect((await call('POST', '/logs/other', log)).status).toBe(403)
    expect((await call('GET', '/nothing')).status).toBe(404)
  })
})

describe('a new key', () => {
  it.each([
    [['nothing'], 404],
    [[], 400],
    [['not a name'], 400],
    ['shop', 400],
  ])('for the projects %j gets %i', async (projects, status) => {
    expect((await receiver.call('POST', '/api/keys', { projects })).status).toBe(status)
  })

  it('without projects holds for all', async () => {
    const { body } = await receiver.call('POST', '/api/keys', { scopes: ['read'] })
    expect(body.projects).toBeNull()
    const call = caller({ url: receiver.url, apiKey: body.key })
    expect((await call('GET', '/api/logs/other')).status).toBe(200)
  })

  it('hold for the sessions that they open', async () => {
    const { url } = receiver
    const opened = await fetch(`${url}/`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: url },
      body: `key=${bound.key}`,
    })
    expect(opened.status).toBe(303)
    const cookie = opened.headers.get('set-cookie')!.split(';')[0]!
    const read = (path: string) => fetch(`${url}${path}`, { headers: { cookie, 'sec-fetch-site': 'same-origin' } })
    expect((await read('/api/logs/shop')).status).toBe(200)
    expect((await read('/api/logs/other')).status).toBe(403)
    expect((await read('/api/live?bucket=other')).status).toBe(403)
    const { list } = (await (await read('/api/projects')).json()) as { list: { id: string }[] }
    expect(list.map(({ id }) => id)).toEqual(['shop'])
  })
})
