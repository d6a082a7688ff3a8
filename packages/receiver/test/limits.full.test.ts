import { describe, expect, it } from 'vitest'
import { dataFolder } from './data-folder.js'
import { exchange } from './sockets.js'
import { article, caller, log, refusal, startReceiverForTest, value } from './support.js'

const data = dataFolder()

describe('an idempotency key', () => {
  const key = { 'idempotency-key': 'k' }
  const entries = '/ng-cms/content/demo/article'
  const sendAll = async (call: ReturnType<typeof caller>) => {
    for (const answer of [
      await call('POST', '/logs/demo', log, key),
      await call('POST', '/value_tracking/demo', value, key),
      await call('POST', entries, { fields: { title: 'x' } }, key),
    ]) {
      expect(answer.status).toBe(201)
      expect(answer.headers.get('idempotency-key')).toBe('k')
    }
  }
  const totals = async (call: ReturnType<typeof caller>) => {
    const paths = ['logs/demo', 'values/demo', 'projects/demo/content/article']
    return Promise.all(paths.map(async (path) => (await call('GET', `/api/${path}`)).body.total))
  }

  it('is remembered over a restart, and for 24 hours', async () => {
    const first = await startReceiverForTest({ data: data.path })
    await first.call('POST', '/api/projects/demo/content-types', article)
    await sendAll(first.call)
    await first.close()

    const second = await startReceiverForTest({ data: data.path })
    const call = caller({ url: second.url, apiKey: first.apiKey })
    const age = (ms: number) =>
      data.inDatabase((database) => database.prepare('UPDATE attempts SET at = at - ?').run(ms))
    await sendAll(call)
    expect(await totals(call)).toEqual([1, 1, 1])
    age(23 * 60 * 60 * 1000)
    await sendAll(call)
    expect(await totals(call)).toEqual([1, 1, 1])
    age(60 * 60 * 1000 + 1)
    await sendAll(call)
    await sendAll(call)
    expect(await totals(call)).toEqual([2, 2, 2])
    await second.close()
  })

  it('is deleted afterwards, so that the table does not grow', async () => {
    const receiver = await startReceiverForTest({ data: data.path })
    const kept = () =>
      data.inDatabase((database) => database.prepare('SELECT count(*) AS kept FROM attempts').get() as { kept: number })
    const send = (day: number, number: number) =>
      receiver.call('POST', '/logs/demo', log, { 'idempotency-key': `${day}-${number}` })
    for (let day = 0; day < 3; day++) {
      for (let number = 0; number < 20; number++) await send(day, number)
      expect(kept()).toEqual({ kept: 20 })
      data.inDatabase((database) => database.exec('UPDATE attempts SET at = at - 86400001'))
    }
    // Expired keys count as new and move to the end of the queue.
    for (let number = 0; number < 20; number++) await send(2, number)
    expect(kept()).toEqual({ kept: 20 })
    expect((await receiver.call('GET', '/api/logs/demo')).body.total).toBe(80)
    await receiver.close()
  })

  it('belongs to its bucket and type: elsewhere it is another', async () => {
    const { call, close } = await startReceiverForTest()
    await call('POST', '/api/projects', { id: 'other' })
    await call('POST', '/api/projects/demo/content-types', article)
    await call('POST', '/api/projects/demo/content-types', { ...article, key: 'note' })
    const ids = new Set<string>()
    for (const path of ['article', 'note', 'article/migrate', 'note/migrate']) {
      ids.add((await call('POST', `/ng-cms/content/demo/${path}`, { fields: { title: 'x' } }, key)).body.result)
    }
    expect(ids.size).toBe(4)
    for (const bucket of ['demo', 'other']) await call('POST', `/logs/${bucket}`, log, key)
    expect((await call('GET', '/api/logs/other')).body.total).toBe(1)
    await close()
  })
})

describe('a request that does not arrive', () => {
  it.each(['POST /logs/demo HTTP/1.1\r\nhost: x\r\n', 'POST /logs/demo HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n'])(
    'is answered with 408 after the time-out, with a correlation id (%j)',
    async (half) => {
      const receiver = await startReceiverForTest({ requestTimeoutMs: 100 })
      const key = `x-api-key: ${receiver.apiKey}\r\n`
      const answer = await exchange(
        receiver.url,
        `${half}${key}${half.includes('length') ? 'content-type: application/json\r\n\r\n{' : ''}`,
      )
      const [head = '', body = ''] = answer.split('\r\n\r\n')
      expect(head).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/)
      expect(head).toContain(`x-correlation-id: ${JSON.parse(body).errors[0].correlationId}`)
      expect(JSON.parse(body)).toEqual(refusal('did not arrive in time'))
      await receiver.close()
    },
  )

  it.each([
    ['nonsense\r\n\r\n', 400],
    [`GET / HTTP/1.1\r\nhost: x\r\nlong: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ])('because it is not one that the receiver reads is answered, too', async (bytes, status) => {
    const receiver = await startReceiverForTest()
    const answer = await exchange(receiver.url, bytes)
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(JSON.parse(answer.split('\r\n\r\n')[1]!)).toEqual(refusal(''))
    await receiver.close()
  })
})

describe('a body', () => {
  it('may have 1 MiB to the byte, and no more', async () => {
    const receiver = await startReceiverForTest()
    const empty = Buffer.byteLength(JSON.stringify({ ...log, message: '' }))
    const sized = (bytes: number) => ({ ...log, message: 'x'.repeat(bytes - empty) })
    expect((await receiver.call('POST', '/logs/demo', sized(1_048_576))).status).toBe(201)
    const { status, body } = await receiver.call('POST', '/logs/demo', sized(1_048_577))
    expect(status).toBe(413)
    expect(body).toEqual({ result: false, validationErrors: [expect.objectContaining({ name: 'body' })], errors: [] })
    await receiver.close()
  })
})
