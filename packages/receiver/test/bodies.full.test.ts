import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { exchange, requestBytes, statuses } from './sockets.js'
import { article, log, startReceiverForTest } from './support.js'

let receiver: Awaited<ReturnType<typeof startReceiverForTest>>
beforeEach(async () => {
  receiver = await startReceiverForTest()
  await receiver.call('POST', '/api/projects/demo/content-types', article)
})
afterEach(() => receiver.close())

const entries = '/ng-cms/content/demo/article'
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
const stored = async () => (await receiver.call('GET', '/api/logs/demo')).body.total

/** Sends bytes unchanged. */
async function post(body: Uint8Array<ArrayBuffer>) {
  const response = await fetch(`${receiver.url}/logs/demo`, {
    method: 'POST',
    headers: { 'x-api-key': receiver.apiKey ?? '', 'content-type': 'application/json' },
    body,
  })
  return { status: response.status, body: JSON.parse(await response.text()) }
}

describe('a body', () => {
  it.each(['application/json', 'Application/JSON;charset=UTF-8', 'application/json ; charset="utf-8"'])(
    'may come as %s',
    async (type) => {
      expect((await receiver.call('POST', '/logs/demo', log, { 'content-type': type })).status).toBe(201)
    },
  )

  it.each([
    'text/plain',
    'application/problem+json',
    'application/x-www-form-urlencoded',
    'application/grpc',
    'nonsense',
  ])('must not come as %s: 415, in the envelope of its operation, says so', async (type) => {
    const failure = { name: 'body', attemptedValue: null, message: `body must be application/json, not ${type}` }
    const headers = { 'content-type': type }
    const ofLog = await receiver.call('POST', '/logs/demo', log, headers)
    expect([ofLog.status, ofLog.body]).toEqual([415, { result: false, validationErrors: [failure], errors: [] }])
    const ofEntry = await receiver.call('POST', entries, { fields: { title: 'x' } }, headers)
    expect([ofEntry.status, ofEntry.body]).toEqual([415, { isValid: false, validationErrors: [failure] }])
  })

  it('must have a content type', async () => {
    const { status, body } = await post(new Uint8Array())
    expect([status, body.validationErrors[0].message]).toEqual([400, 'body must be object'])
    const bytes = requestBytes({ apiKey: receiver.apiKey, body: JSON.stringify(log), headers: { connection: 'close' } })
    const answer = await exchange(receiver.url, bytes.replace('content-type: application/json\r\n', ''))
    expect(statuses(answer)).toEqual([415])
    expect(answer).toContain('body must be application/json, and has no content type')
  })

  it('must not be compressed', async () => {
    const { status, body } = await receiver.call('POST', '/logs/demo', log, { 'content-encoding': 'gzip' })
    expect(status).toBe(415)
    expect(body.validationErrors).toMatchObject([{ name: 'body', message: expect.stringContaining('gzip') }])
    expect((await receiver.call('POST', '/logs/demo', log, { 'content-encoding': 'identity' })).status).toBe(201)
  })

  it('that is not JSON is refused with the reason', async () => {
    const { status, body } = await receiver.call('POST', '/logs/demo', '{"timeStamp":1,}')
    expect(status).toBe(400)
    expect(body.validationErrors).toEqual([
      { name: 'body', attemptedValue: null, message: expect.stringMatching(/^body is not JSON: .*position 15/) },
    ])
  })

  it('is UTF-8, with or without a byte order mark, and is not repaired otherwise', async () => {
    const json = JSON.stringify({ ...log, message: 'ü' })
    expect((await post(new Uint8Array(Buffer.from(json, 'utf8')))).status).toBe(201)
    expect((await post(new Uint8Array(Buffer.from(`\ufeff${json}`, 'utf8')))).status).toBe(201)
    const { status, body } = await post(new Uint8Array(Buffer.from(json, 'latin1')))
    expect(status).toBe(400)
    expect(body.validationErrors).toEqual([{ name: 'body', attemptedValue: null, message: 'body is not UTF-8' }])
    expect(await stored()).toBe(2)
  })

  it.each([
    ['"__proto__":{"admin":true}', '__proto__', { admin: true }],
    ['"constructor":{"prototype":1}', 'constructor', { prototype: 1 }],
    ['"toString":null', 'toString', null],
  ])('may have no field %s: it is named like any other that is not listed', async (field, name, attemptedValue) => {
    const json = JSON.stringify(log).replace('}', `,${field}}`)
    const { status, body } = await receiver.call('POST', '/logs/demo', json)
    expect(status).toBe(400)
    expect(JSON.stringify(body.validationErrors)).toBe(
      JSON.stringify([{ name, attemptedValue, message: body.validationErrors[0].message }]),
    )
    expect(body.validationErrors[0].message).toMatch(`${name} is not a field of a log record`)
  })

  it('may have a key twice: the last one counts', async () => {
    await receiver.call('POST', '/logs/demo', JSON.stringify(log).replace('{', '{"message":"first",'))
    expect((await receiver.call('GET', '/api/logs/demo')).body.list).toMatchObject([{ message: log.message }])
  })

  it('may not have a number that JavaScript cannot hold', async () => {
    const { status, body } = await receiver.call(
      'POST',
      '/logs/demo',
      '{"timeStamp":1e999,"level":"","message":"","appName":""}',
    )
    expect(status).toBe(400)
    expect(body.validationErrors).toMatchObject([{ name: 'timeStamp', message: 'timeStamp must be number' }])
  })

  it.each([
    ['/logs/demo', `{"message":${nested(2400)}}`],
    ['/logs/demo', nested(2400)],
    ['/logs/demo', `{"colour":${nested(2400)}}`],
    [entries, `{"fields":{"title":${nested(2400)}}}`],
    [entries, `{"fields":{"colour":${nested(2400)}}}`],
    [`${entries}/migrate`, `{"fields":{"title":"x"},"createdAt":${nested(2400)}}`],
    ['/api/projects/demo/content-types', `{"key":${nested(2400)}}`],
  ])('of any depth is refused for what it is (%s)', async (path, sent) => {
    const { status, body } = await receiver.call('POST', path, sent)
    expect(status).toBe(400)
    expect(body.validationErrors.length).toBeGreaterThan(0)
    for (const { attemptedValue } of body.validationErrors) expect(attemptedValue).toBeNull()
  })

  it('that is nested no deeper than 100 levels comes back as it was attempted', async () => {
    const answers = [100, 101].map(async (levels) => {
      const { body } = await receiver.call('POST', entries, `{"fields":{"title":${nested(levels)}}}`)
      return JSON.stringify(body.validationErrors[0].attemptedValue)
    })
    expect(await Promise.all(answers)).toEqual([nested(100), 'null'])
  })

  it('is answered with a thousand failures at most, and with the number of the others', async () => {
    const fields = Object.fromEntries(Array.from({ length: 1100 }, (_, number) => [`f${number}`, number]))
    const { status, body } = await receiver.call('POST', entries, { fields })
    expect(status).toBe(400)
    expect(body.validationErrors).toHaveLength(1001)
    expect(body.validationErrors.slice(0, 2)).toMatchObject([{ name: 'title' }, { name: 'f0', attemptedValue: 0 }])
    expect(body.validationErrors.at(-1)).toEqual({
      name: 'body',
      attemptedValue: null,
      message: 'body has 101 further failures',
    })
  })

  it.each([
    ['fields', '/logs/demo', Object.fromEntries(Array.from({ length: 5001 }, (_, number) => [`field${number}`, 1]))],
    ['elements', '/api/keys', { scopes: Array(5001).fill('read') }],
    ['nested values', '/api/projects/demo/content-types', { schema: Array(5001).fill({ key: 1 }) }],
    ['levels', '/logs/demo', `{"message":${nested(400_000)}}`],
  ])('is refused before it is checked where it has thousands of %s', async (_, path, sent) => {
    const { status, body } = await receiver.call('POST', path, sent)
    expect(status).toBe(413)
    expect(body.validationErrors).toMatchObject([{ name: 'body', message: 'body must not have more than 5000 values' }])
  })

  it('of a DELETE is not looked at, whatever its content type says', async () => {
    for (const [number, sent] of [undefined, '', '{', '{"colour":"red"}'].entries()) {
      await receiver.call('POST', '/api/projects/demo/content-types', { ...article, key: `type-${number}` })
      const headers = { 'content-type': 'application/json' }
      const answer = await receiver.call('DELETE', `/ng-cms/content-types/demo/type-${number}`, sent, headers)
      expect(answer).toMatchObject({ status: 200, body: { success: true } })
    }
  })
})

describe('a body that is refused', () => {
  it('for its size is answered while the client is still sending', async () => {
    for (let attempt = 0; attempt < 3; attempt++) {
      const { status, body } = await receiver.call('POST', '/logs/demo', 'x'.repeat(20_000_000))
      expect(status).toBe(413)
      expect(body.validationErrors).toEqual([
        { name: 'body', attemptedValue: null, message: 'body must not have more than 1048576 bytes' },
      ])
    }
  })

  it.each<[string, number, (apiKey: string | null) => string]>([
    ['is not JSON', 400, (apiKey) => requestBytes({ apiKey, body: '{' })],
    ['is too large', 413, (apiKey) => requestBytes({ apiKey, body: 'x'.repeat(2_000_000) })],
    [
      'is too large, and in chunks',
      413,
      (apiKey) => {
        const chunks = `10000\r\n${'x'.repeat(65_536)}\r\n`.repeat(20)
        const head = requestBytes({ apiKey, body: '', headers: { 'transfer-encoding': 'chunked' } })
        return `${head.replace('content-length: 0\r\n', '')}${chunks}0\r\n\r\n`
      },
    ],
    [
      'is not even for a bucket',
      404,
      (apiKey) => requestBytes({ apiKey, path: '/logs/nothing', body: 'x'.repeat(9999) }),
    ],
  ])('because it %s leaves its connection to the requests behind it', async (_why, status, bad) => {
    const { apiKey } = receiver
    const body = JSON.stringify(log)
    const good = [{}, { connection: 'close' }].map((headers) => requestBytes({ apiKey, body, headers }))
    expect(statuses(await exchange(receiver.url, [bad(apiKey), ...good].join('')))).toEqual([status, 201, 201])
    expect(await stored()).toBe(2)
  })
})
