import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { article, log, refusal, startReceiverForTest, value } from './support.js'

let receiver: Awaited<ReturnType<typeof startReceiverForTest>>
beforeEach(async () => {
  receiver = await startReceiverForTest()
  await receiver.call('POST', '/api/projects/demo/content-types', article)
})
afterEach(() => receiver.close())

const entry = { fields: { title: 'x' } }
const refusable = [
  ['GET', '/ng-cms/content-types/demo', undefined],
  ['DELETE', '/ng-cms/content-types/demo/nothing', undefined],
  ['POST', '/ng-cms/content/demo/article', entry],
] as const
const others = [
  ['POST', '/ng-cms/content/demo/article/migrate', entry],
  ['POST', '/logs/demo', log],
  ['POST', '/value_tracking/demo', value],
] as const
const ours = [
  ['GET', '/api/projects/demo/content/article', undefined],
  ['GET', '/api/logs/demo', undefined],
  ['GET', '/api/values/demo', undefined],
] as const

describe('every operation of the API', () => {
  const answersOf = async (prefix: string) => {
    const answers = []
    for (const [method, path, body] of [...refusable, ...others]) {
      for (const sent of body === undefined ? [undefined] : [body, { colour: 'red' }, '{']) {
        const { status, body: answer } = await receiver.call(method, `${prefix}${path}`, sent)
        const generalised = JSON.stringify(answer).replace(/[\da-f]{8}-[\da-f-]{27}/g, 'ID')
        answers.push(`${method} ${path} ${status} ${generalised}`)
      }
    }
    return answers
  }

  it('answers the same with the prefix /v1, and no other', async () => {
    const plain = await answersOf('')
    expect(await answersOf('/v1')).toEqual(plain)
    expect(plain.map((answer) => answer.split(' ')[2])).toEqual([
      '200',
      '404',
      '201',
      '400',
      '400',
      '201',
      '400',
      '400',
      '201',
      '400',
      '400',
      '201',
      '400',
      '400',
    ])
    expect((await receiver.call('POST', '/v2/logs/demo', log)).status).toBe(404)
  })

  it.each([...refusable, ...others, ...ours])(
    '%s %s answers 401 without valid credentials',
    async (method, path, body) => {
      for (const headers of [
        { 'x-api-key': '' },
        { 'x-api-key': 'wrong' },
        { 'x-api-key': '', authorization: 'Bearer x' },
      ]) {
        const answer = await receiver.call(method, path, body, headers as Record<string, string>)
        expect(answer).toMatchObject({ status: 401, body: refusal('') })
      }
    },
  )

  it.each([...refusable, ...others, ...ours])(
    '%s %s answers 404 for an unknown project',
    async (method, path, body) => {
      const answer = await receiver.call(method, path.replace('demo', 'elsewhere'), body)
      expect(answer).toMatchObject({ status: 404, body: refusal('elsewhere') })
    },
  )
})

describe('every operation, those beyond the API included', () => {
  it.each([...refusable, ...others, ...ours])(
    'takes the key as a bearer token, too: %s %s',
    async (method, path, body) => {
      const expected = (await receiver.call(method, path, body)).status
      for (const scheme of ['Bearer', 'bearer']) {
        const headers = { 'x-api-key': '', authorization: `${scheme} ${receiver.apiKey}` }
        expect((await receiver.call(method, path, body, headers)).status).toBe(expected)
      }
      expect(expected).not.toBe(401)
    },
  )
})

describe('PUT /api/projects/{projectId}/plan', () => {
  const plan = (content: unknown) => receiver.call('PUT', '/api/projects/demo/plan', { content })

  it('makes the content operations of the API answer 412, whatever is sent to them, until it is taken back', async () => {
    expect(await plan(false)).toMatchObject({ status: 200, body: { id: 'demo', plan: { content: false } } })
    for (const [method, path, body] of refusable) {
      for (const sent of body === undefined ? [undefined] : [body, '{']) {
        expect(await receiver.call(method, path, sent)).toMatchObject({
          status: 412,
          body: refusal('plan of project demo'),
        })
      }
    }
    expect((await receiver.call('GET', '/ng-cms/content-types/demo', undefined, { 'x-api-key': 'x' })).status).toBe(401)
    await plan(true)
    for (const [method, path, body] of refusable) expect((await receiver.call(method, path, body)).status).not.toBe(412)
  })

  it('does not affect migration, logs, values and the operations beyond the API', async () => {
    await plan(false)
    for (const [method, path, body] of others) expect((await receiver.call(method, path, body)).status).toBe(201)
    for (const [method, path] of ours) expect((await receiver.call(method, path)).status).toBe(200)
  })

  it('leaves other projects alone', async () => {
    await receiver.call('POST', '/api/projects', { id: 'other' })
    await plan(false)
    expect((await receiver.call('GET', '/ng-cms/content-types/other')).status).toBe(200)
  })

  it('answers 400 to a body that is not a plan, and 404 to an unknown project', async () => {
    expect((await plan('no')).body).toMatchObject({
      isValid: false,
      validationErrors: [{ name: 'content', attemptedValue: 'no' }],
    })
    expect((await receiver.call('PUT', '/api/projects/elsewhere/plan', { content: true })).status).toBe(404)
  })
})

describe('GET /api/projects', () => {
  it('lists the projects with their plans, oldest first, in pages', async () => {
    for (const id of ['shop', 'north']) await receiver.call('POST', '/api/projects', { id })
    await receiver.call('PUT', '/api/projects/shop/plan', { content: false })
    const [demo, shop, north] = [
      { id: 'demo', plan: { content: true } },
      { id: 'shop', plan: { content: false } },
      { id: 'north', plan: { content: true } },
    ]
    const list = async (query: string) => (await receiver.call('GET', `/api/projects${query}`)).body
    expect(await list('')).toEqual({ total: 3, list: [demo, shop, north] })
    expect(await list('?from=2&to=1')).toEqual({ total: 3, list: [shop] })
    expect(await list('?from=4')).toEqual({ total: 3, list: [] })
  })

  it('answers 400 to a page that cannot be, and 401 without a key', async () => {
    expect((await receiver.call('GET', '/api/projects?from=0')).body.validationErrors).toMatchObject([{ name: 'from' }])
    expect((await receiver.call('GET', '/api/projects', undefined, { 'x-api-key': '' })).status).toBe(401)
  })
})

describe('POST /api/projects', () => {
  it('makes a project, which is a bucket, too', async () => {
    expect(await receiver.call('POST', '/api/projects', { id: 'shop.north_1' })).toMatchObject({
      status: 201,
      body: { id: 'shop.north_1', plan: { content: true } },
    })
    expect((await receiver.call('POST', '/logs/shop.north_1', log)).status).toBe(201)
    expect((await receiver.call('GET', '/api/logs/demo')).body.total).toBe(0)
  })

  it('answers 409 to an existing name, and 400 to a name that cannot stand in a path', async () => {
    expect(await receiver.call('POST', '/api/projects', { id: 'demo' })).toMatchObject({
      status: 409,
      body: refusal('demo'),
    })
    for (const id of ['', 'a b', '../x', 'ü', 'x'.repeat(101), 7, null]) {
      const { status, body } = await receiver.call('POST', '/api/projects', { id })
      expect(status).toBe(400)
      expect(body.validationErrors).toMatchObject([{ name: 'id', attemptedValue: id }])
    }
  })
})
