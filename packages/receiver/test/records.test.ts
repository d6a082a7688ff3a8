import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { exchange, requestBytes, statuses } from './sockets.js'
import { log, startReceiverForTest, value } from './support.js'

let receiver: Awaited<ReturnType<typeof startReceiverForTest>>
beforeEach(async () => {
  receiver = await startReceiverForTest()
})
afterEach(() => receiver.close())

const accepted = { result: true, validationErrors: [], errors: [] }

describe('POST /logs/{bucketId}', () => {
  it('answers 201 and keeps every field', async () => {
    const full = {
      ...log,
      machineName: 'm',
      eventId: 7,
      env: 'qa',
      appVersion: '1.2.3',
      runtimeVersion: 'v20',
      runtime: 1,
    }
    expect(await receiver.call('POST', '/logs/demo', full)).toMatchObject({ status: 201, body: accepted })
    const { body } = await receiver.call('GET', '/api/logs/demo')
    expect(body).toEqual({ total: 1, list: [{ id: 1, receivedAt: expect.stringMatching(/^\d{4}-.*Z$/), ...full }] })
  })

  it('keeps texts as they came, to the last character', async () => {
    for (const message of ['', 'nul \u0000 end', 'lone \ud800', '😀 ünï', '\u001b[31mred', '"{}\\']) {
      await receiver.call('POST', '/logs/demo', { ...log, message })
      const { body } = await receiver.call('GET', '/api/logs/demo?limit=1')
      expect(body.list[0].message).toBe(message)
    }
  })

  it('answers 400 with one entry for each bad field, and null for what is missing', async () => {
    const { status, body } = await receiver.call('POST', '/logs/demo', {
      timeStamp: '1700000000000',
      level: 7,
      appName: 'shop',
      runtime: '1',
      colour: 'red',
    })
    expect(status).toBe(400)
    expect(body).toMatchObject({ result: false, errors: [] })
    expect([...body.validationErrors].sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
      {
        name: 'colour',
        attemptedValue: 'red',
        message: expect.stringMatching(/^colour is not a field of a log record, whose fields are timeStamp, level, /),
      },
      { name: 'level', attemptedValue: 7, message: 'level must be string' },
      { name: 'message', attemptedValue: null, message: 'message is required' },
      { name: 'runtime', attemptedValue: '1', message: 'runtime must be number' },
      { name: 'timeStamp', attemptedValue: '1700000000000', message: 'timeStamp must be number' },
    ])
    expect((await receiver.call('GET', '/api/logs/demo')).body.total).toBe(0)
  })

  it('files times in s, ms, µs and ns, and refuses those that are none', async () => {
    const ms = Date.parse('2026-01-31T12:00:00.123Z')
    const times = [ms / 1000, ms, ms * 1000, ms * 1_000_000]
    for (const timeStamp of times) {
      expect((await receiver.call('POST', '/logs/demo', { ...log, timeStamp })).status).toBe(201)
      expect((await receiver.call('POST', '/value_tracking/demo', { ...value, timeStamp })).status).toBe(201)
    }
    const range = 'since=2026-01-31T12:00:00Z&until=2026-01-31T12:00:01Z'
    const { body } = await receiver.call('GET', `/api/logs/demo?${range}`)
    expect(body.list.map(({ timeStamp }: { timeStamp: number }) => timeStamp).reverse()).toEqual(times)
    expect((await receiver.call('GET', `/api/values/demo?${range}`)).body.total).toBe(4)
    expect((await receiver.call('GET', '/api/logs/demo/counts')).body.lastSeen).toEqual({
      info: '2026-01-31T12:00:00.123Z',
    })
    for (const timeStamp of [1e20, -1e20, 1e300]) {
      const refused = await receiver.call('POST', '/logs/demo', { ...log, timeStamp })
      expect([refused.status, refused.body.validationErrors[0].message]).toEqual([
        400,
        'timeStamp must be a Unix time in s, ms, µs or ns, which its size tells: the API does not name the unit',
      ])
    }
  })

  it.each([
    ['', 'body'],
    ['{"timeStamp":', 'body'],
    ['[]', 'body'],
    ['null', 'body'],
    ['"text"', 'body'],
  ])('answers 400 to a body of %j', async (sent, name) => {
    const { status, body } = await receiver.call('POST', '/logs/demo', sent)
    expect(status).toBe(400)
    expect(body.validationErrors).toEqual([expect.objectContaining({ name, message: expect.any(String) })])
  })

  it('answers 413 to a body of more than 1 MiB and 415 to another content type', async () => {
    const large = { ...log, message: 'x'.repeat(1_100_000) }
    expect((await receiver.call('POST', '/logs/demo', large)).status).toBe(413)
    for (const type of ['text/xml', 'text/plain']) {
      expect((await receiver.call('POST', '/logs/demo', 'x', { 'content-type': type })).status).toBe(415)
    }
  })

  it('stores a record once, however often it comes with the same idempotency key, and echoes the key', async () => {
    for (let attempt = 0; attempt < 3; attempt++) {
      const { status, headers } = await receiver.call('POST', '/logs/demo', log, { 'idempotency-key': 'k-1' })
      expect(status).toBe(201)
      expect(headers.get('idempotency-key')).toBe('k-1')
    }
    await receiver.call('POST', '/logs/demo', log, { 'idempotency-key': 'k-2' })
    expect((await receiver.call('GET', '/api/logs/demo')).body).toMatchObject({ total: 2, list: { length: 2 } })
    await receiver.call('POST', '/value_tracking/demo', value, { 'idempotency-key': 'k-1' })
    expect((await receiver.call('GET', '/api/values/demo')).body).toMatchObject({ total: 1 })
  })
})

describe('attempts that arrive together', () => {
  it('store each key once per bucket and kind, and everything that has none', async () => {
    await receiver.call('POST', '/api/projects', { id: 'other' })
    // One write, so that they share a commit.
    const requests = ['/logs/demo', '/logs/other', '/value_tracking/demo'].flatMap((path) =>
      ['a', 'b', 'a', '', 'a', 'b', ''].map((key) => {
        const body = JSON.stringify(path.startsWith('/logs') ? log : value)
        const headers = key === '' ? {} : { 'idempotency-key': key }
        return requestBytes({ apiKey: receiver.apiKey, path, body, headers })
      }),
    )
    const last = requestBytes({
      apiKey: receiver.apiKey,
      method: 'GET',
      path: '/nothing',
      body: '',
      headers: { connection: 'close' },
    })
    const answers = statuses(await exchange(receiver.url, [...requests, last].join('')))
    expect(answers).toEqual([...requests.map(() => 201), 404])
    for (const path of ['logs/demo', 'logs/other', 'values/demo']) {
      const { total, list } = (await receiver.call('GET', `/api/${path}`)).body
      expect([path, total, list.length]).toEqual([path, 4, 4])
    }
  })
})

describe('POST /value_tracking/{bucketId}', () => {
  it('answers 201 and keeps every field', async () => {
    const full = { ...value, env: 'qa', appVersion: '1.2.3', runtimeVersion: 'v20', runtime: 1 }
    expect(await receiver.call('POST', '/value_tracking/demo', full)).toMatchObject({ status: 201, body: accepted })
    const { body } = await receiver.call('GET', '/api/values/demo')
    expect(body).toMatchObject({ total: 1, list: [full] })
  })

  it('answers 400 with an entry for each of its required fields', async () => {
    const { status, body } = await receiver.call('POST', '/value_tracking/demo', {})
    expect(status).toBe(400)
    expect(body.validationErrors.map(({ name }: { name: string }) => name)).toEqual(['timeStamp', 'eventId', 'appName'])
  })

  it('does not take the document’s sample body, whose fields it does not list', async () => {
    const sample = { name: 'n', slug: 's', section: 'x', imageUrl: 'u' }
    const { status, body } = await receiver.call('POST', '/value_tracking/demo', { ...value, ...sample })
    expect(status).toBe(400)
    expect(body.validationErrors.map(({ name }: { name: string }) => name).sort()).toEqual(Object.keys(sample).sort())
    expect(body.validationErrors[0].message).toContain('the sample body of the document')
  })
})
