import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { article, log, refusal, startReceiverForTest, value } from './support.js'

// The receiver's choices where the API's document leaves a question open, if no other test covers them.

let receiver: Awaited<ReturnType<typeof startReceiverForTest>>
beforeEach(async () => {
  receiver = await startReceiverForTest()
  await receiver.call('POST', '/api/projects/demo/content-types', article)
})
afterEach(() => receiver.close())

const entries = '/ng-cms/content/demo/article'
const types = '/api/projects/demo/content-types'

describe('where the API’s document leaves a question open', () => {
  it('x-api-key counts where both credentials are sent, and one that is empty is none', async () => {
    const status = async (key: string, token: string) => {
      const headers = { 'x-api-key': key, authorization: token }
      return (await receiver.call('GET', '/ng-cms/content-types/demo', undefined, headers)).status
    }
    const key = receiver.apiKey ?? ''
    expect(await status(key, 'Bearer wrong')).toBe(200)
    expect(await status('wrong', `Bearer ${key}`)).toBe(401)
    expect(await status('', `Bearer ${key}`)).toBe(200)
    for (const token of [key, `Basic ${key}`, `Bearer`, `Bearer ${key} more`]) expect(await status('', token)).toBe(401)
  })

  it('a key may do everything in every project', async () => {
    await receiver.call('POST', '/api/projects', { id: 'other' })
    expect((await receiver.call('POST', '/logs/other', log)).status).toBe(201)
    expect((await receiver.call('POST', '/api/projects/other/content-types', article)).status).toBe(201)
    expect((await receiver.call('DELETE', '/ng-cms/content-types/other/article')).status).toBe(200)
  })

  it('401 comes before 404 of the project, 412, 400 of what is not JSON, 404 of the type and 400 of the fields', async () => {
    await receiver.call('POST', '/api/projects', { id: 'refused' })
    await receiver.call('PUT', '/api/projects/refused/plan', { content: false })
    const status = async (path: string, sent: string, key = receiver.apiKey ?? '') =>
      (await receiver.call('POST', `/ng-cms/content/${path}`, sent, { 'x-api-key': key })).status
    expect(await status('nothing/nothing', '{', 'wrong')).toBe(401)
    expect(await status('nothing/nothing', '{')).toBe(404)
    expect(await status('refused/nothing', '{')).toBe(412)
    expect(await status('demo/nothing', '{')).toBe(400)
    expect(await status('demo/nothing', '{"fields":{"colour":1}}')).toBe(404)
    expect(await status('demo/article', '{"fields":{"colour":1}}')).toBe(400)
    expect(await status('nothing/nothing/migrate', '{')).toBe(404)
    expect(await status('refused/nothing/migrate', '{')).toBe(400)
    expect(await status('refused/nothing/migrate', '{"fields":{}}')).toBe(404)
  })

  it.each<[string, string, Record<string, unknown>]>([
    ['POST', '/logs/demo', log],
    ['POST', '/value_tracking/demo', value],
    ['POST', entries, { fields: { title: 'x' } }],
    ['POST', `${entries}/migrate`, { fields: { title: 'x' } }],
    ['POST', '/api/projects', { id: 'other' }],
    ['PUT', '/api/projects/demo/plan', { content: true }],
    ['POST', types, { ...article, key: 'other' }],
    ['PUT', `${types}/article`, article],
  ])('fields that are not listed are refused, each with the reason: %s %s', async (method, path, good) => {
    const { status, body } = await receiver.call(method, path, { ...good, colour: 'red', size: { of: 1 } })
    expect(status).toBe(400)
    expect(body.validationErrors).toEqual([
      {
        name: 'colour',
        attemptedValue: 'red',
        message: expect.stringMatching(/^colour is not a field of a .*, whose fields are /),
      },
      { name: 'size', attemptedValue: { of: 1 }, message: expect.stringMatching(/^size is not a field of a /) },
    ])
    expect((await receiver.call(method, path, good)).status).toBeLessThan(300)
  })

  it.each([0, -1, 1_700_000_000, 1_700_000_000_000.5, 1e19])(
    'the unit of timeStamp (%d) and the values of level are the sender’s',
    async (timeStamp) => {
      for (const level of ['ERROR', 'trace', '', '30']) {
        const record = { ...log, timeStamp, level }
        expect((await receiver.call('POST', '/logs/demo', record)).status).toBe(201)
        expect((await receiver.call('GET', '/api/logs/demo?limit=1')).body.list).toMatchObject([record])
      }
    },
  )

  it('the bodies of 401, 404, 409 and 412 are success and ErrorDetail, without codes or stacks', async () => {
    await receiver.call('PUT', '/api/projects/demo/plan', { content: false })
    for (const [status, { body }] of [
      [401, await receiver.call('POST', '/logs/demo', log, { 'x-api-key': 'wrong' })],
      [404, await receiver.call('POST', '/logs/nothing', log)],
      [409, await receiver.call('POST', types, article)],
      [412, await receiver.call('GET', '/ng-cms/content-types/demo')],
    ] as const) {
      expect([status, body]).toEqual([status, refusal('')])
    }
  })

  it('answers are JSON for any accept header, and no header lets browsers read them', async () => {
    const headers = { accept: 'text/html', origin: 'https://elsewhere.example' }
    const answer = await receiver.call('POST', '/logs/demo', log, headers)
    expect(answer.status).toBe(201)
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([])
  })

  it('the entries of an archived type are not shown', async () => {
    const { body } = await receiver.call('POST', entries, { fields: { title: 'x' } })
    await receiver.call('DELETE', '/ng-cms/content-types/demo/article')
    const shown = '/api/projects/demo/content/article'
    expect((await receiver.call('GET', shown)).status).toBe(404)
    await receiver.call('POST', types, article)
    expect((await receiver.call('GET', shown)).body.total).toBe(0)
    expect((await receiver.call('GET', `${shown}/${body.result}`)).status).toBe(404)
  })

  it('a change of a type leaves its entries as they are, and says which schema they were checked against', async () => {
    await receiver.call('POST', entries, { fields: { title: 'x' } })
    const schema = [{ key: 'name', label: 'Name', type: 'text', required: true }]
    await receiver.call('PUT', `${types}/article`, { name: 'Story', schema })
    await receiver.call('POST', entries, { fields: { name: 'y' } })
    expect((await receiver.call('GET', '/api/projects/demo/content/article')).body.list).toMatchObject([
      { fields: { name: 'y' }, schemaVersion: 2 },
      { fields: { title: 'x' }, schemaVersion: 1 },
    ])
  })
})
