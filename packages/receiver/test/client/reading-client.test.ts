import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ApiError, createReadingClient, type ReadingClient, type ReadingOptions } from 'sluice-receiver/client'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { ContentServer } from '../../../../test/support/content-server.js'
import { full } from '../../../../test/support/full.js'
import { startTestReceiver, type TestReceiver } from '../../../../test/support/receiver.js'

const noon = Date.UTC(2026, 0, 31, 12)
const minute = 60_000

let receiver: TestReceiver
let client: ReadingClient
const connect = (options: ReadingOptions = {}) =>
  createReadingClient({ url: receiver.url, apiKey: receiver.apiKey, retryBaseMs: 2, retryCapMs: 5, ...options })
beforeEach(async () => {
  receiver = await startTestReceiver()
  client = connect()
})
afterEach(async () => {
  await client.close()
  await receiver.close()
})

async function post(path: string, body: object): Promise<void> {
  const headers = { 'x-api-key': receiver.apiKey, 'content-type': 'application/json' }
  const { status } = await fetch(receiver.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (status !== 201) throw new Error(`${path} answered ${status}`)
}

const log = (message: string, more: object = {}) =>
  post('/logs/demo', { timeStamp: noon, level: 'info', message, appName: 'shop', ...more })
const value = (eventId: number, more: object = {}) =>
  post('/value_tracking/demo', { timeStamp: noon, eventId, appName: 'shop', ...more })
async function all<Item>(list: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = []
  for await (const item of list) items.push(item)
  return items
}

describe('a service whose pages do not go on', () => {
  const record = {
    id: 7,
    receivedAt: '2026-01-01T00:00:00.000Z',
    timeStamp: noon,
    appName: 'a',
    level: 'info',
    message: 'm',
  }

  /** Reads all logs from a service that answers these pages, the last one again and again. */
  async function readPages(...pages: object[]): Promise<{ read: unknown[]; error: unknown; requests: number }> {
    const server = await ContentServer.start()
    onTestFinished(() => server.close())
    server.fault = ({ number }) => ({ status: 200, body: JSON.stringify(pages[number] ?? pages.at(-1)) })
    const reading = connect({ url: server.url })
    const read: unknown[] = []
    const error = await (async () => {
      for await (const { id } of reading.logs('demo')) read.push(id)
    })().catch((reason: unknown) => reason)
    await reading.close()
    return { read, error, requests: server.requests.length }
  }

  it.each([{ next: 7 }, { next: 8 }])('ends with an error where it repeats one, or goes back: %j', async (last) => {
    const { read, error, requests } = await readPages({ list: [record], next: 7 }, { list: [record], ...last })
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({
      code: 'unreadable-answer',
      message: `read logs of bucket demo: the answer (200) cannot be read: expected a next page of older records than 7, got ${last.next}`,
    })
    expect([read, requests]).toEqual([[7, 7], 2])
  })

  it.each([1.5, -1, 1e300])('ends with an error where it names no id: %j', async (next) => {
    expect((await readPages({ list: [record], next })).error).toMatchObject({ code: 'unreadable-answer' })
  })

  it('ends where a page is empty, whatever comes next', async () => {
    expect(await readPages({ list: [record], next: 7 }, { list: [], next: 3 })).toEqual({
      read: [7],
      error: undefined,
      requests: 2,
    })
  })
})

describe('the reading client and the receiver', () => {
  it('read logs, newest first, with their id and time of arrival', async () => {
    await log('one', { machineName: 'm1' })
    await log('two', { level: 'error' })
    const logs = await all(client.logs('demo'))
    expect(logs.map(({ message, level }) => [message, level])).toEqual([
      ['two', 'error'],
      ['one', 'info'],
    ])
    expect(logs[0]!.id).toBeGreaterThan(logs[1]!.id)
    expect(Date.now() - Date.parse(logs[0]!.receivedAt)).toBeLessThan(60_000)
    expect(logs[1]).toMatchObject({ timeStamp: noon, appName: 'shop', machineName: 'm1' })
  })

  it('filter logs by everything that the receiver filters by', async () => {
    await log('paid by card', { level: 'warn', eventId: 5, env: 'prod', machineName: 'm1', appVersion: '1.2.0' })
    await log('paid by invoice', { level: 'error', timeStamp: noon + minute })
    await log('health', { level: 'debug' })
    const found = async (filter: Parameters<ReadingClient['logs']>[1]) =>
      (await all(client.logs('demo', filter))).map(({ message }) => message)
    expect(await found({ level: ['warn', 'debug'] })).toEqual(['health', 'paid by card'])
    expect(await found({ level: 'warn' })).toEqual(['paid by card'])
    expect(await found({ minLevel: 'warn', notText: 'card' })).toEqual(['paid by invoice'])
    expect(await found({ notLevel: ['debug', 'error'] })).toEqual(['paid by card'])
    expect(await found({ text: 'PAID by', since: new Date(noon + 1) })).toEqual(['paid by invoice'])
    expect(await found({ until: new Date(noon + minute), minLevel: 'info' })).toEqual(['paid by card'])
    expect(await found({ since: '5m' })).toEqual([])
    const exact = { eventId: 5, appName: 'shop', env: 'prod', machineName: 'm1', appVersion: '1.2.0' }
    expect(await found(exact)).toEqual(['paid by card'])
    expect(await found({ env: undefined, eventId: 6 })).toEqual([])
  })

  it('read one page with its total, the pages after it, and what has arrived since', async () => {
    for (const message of ['a', 'b', 'c']) await log(message)
    const list = client.logs('demo')
    const first = await list.page({ limit: 2 })
    expect({ ...first, list: first.list.map(({ message }) => message) }).toEqual({ total: 3, list: ['c', 'b'] })
    const second = await list.page({ limit: 2, before: first.list[1]!.id })
    expect(second.list.map(({ message }) => message)).toEqual(['a'])
    await log('d')
    expect((await list.page({ after: first.list[0]!.id })).list.map(({ message }) => message)).toEqual(['d'])
    expect((await client.logs('demo', { appName: 'shp' }).page()).hint).toBe(
      'no record of bucket demo has appName shp; known: shop; did you mean shop?',
    )
  })

  it.runIf(full)('iterate over more than a page', async () => {
    await Promise.all(Array.from({ length: 1003 }, (_, number) => value(number)))
    expect(new Set((await all(client.values('demo'))).map(({ eventId }) => eventId)).size).toBe(1003)
    const few: number[] = []
    for await (const { id } of client.values('demo', { eventId: 7 })) few.push(id)
    expect(few).toHaveLength(1)
  })

  it('count logs by level and values by event, in all and by steps', async () => {
    await log('one')
    await log('two', { level: 'error', timeStamp: noon + minute })
    await value(1001)
    await value(1001, { timeStamp: noon + 2 * minute })
    await value(7)
    const logs = await client.countLogs('demo', { step: '1m' })
    expect(logs).toEqual({
      by: 'level',
      total: 2,
      totals: { info: 1, error: 1 },
      lastSeen: { info: '2026-01-31T12:00:00.000Z', error: '2026-01-31T12:01:00.000Z' },
      stepMs: minute,
      list: [
        { time: '2026-01-31T12:00:00.000Z', counts: { info: 1 } },
        { time: '2026-01-31T12:01:00.000Z', counts: { error: 1 } },
      ],
    })
    expect(await client.countValues('demo', { eventId: 1001 })).toMatchObject({
      by: 'event',
      total: 2,
      totals: { 1001: 2 },
    })
    expect(await client.countLogs('demo', { level: ['warn'] })).toMatchObject({ total: 0, totals: {} })
  })

  it('group errors by their kind', async () => {
    const stack = 'TypeError: no order 17\n    at pay (/srv/shop/src/pay.js:3:1)'
    await log(`checkout failed\n${stack}`, { level: 'error', appVersion: '1.0' })
    await log('all is well')
    await log(`checkout failed\n${stack}`, { level: 'error', appVersion: '1.1', timeStamp: noon + minute })
    await log('late', { level: 'fatal', appVersion: '1.1', env: 'prod', timeStamp: noon + minute })
    const found = await client.errors('demo')
    expect(found).toEqual({
      total: 2,
      list: [
        {
          id: expect.stringMatching(/^[0-9a-f]{16}$/),
          type: 'TypeError',
          message: 'no order <n>',
          frame: 'pay (src/pay.js)',
          count: 2,
          firstSeen: '2026-01-31T12:00:00.000Z',
          lastSeen: '2026-01-31T12:01:00.000Z',
          apps: ['shop'],
          versions: ['1.0', '1.1'],
          sample: (await all(client.logs('demo', { level: 'error' })))[0]!.id,
          steps: [1, 1],
        },
        expect.objectContaining({ type: null, message: 'late', frame: null, count: 1, new: true, steps: [0, 1] }),
      ],
      from: '2026-01-31T12:00:00.000Z',
      stepMs: minute,
    })
    expect(await client.errors('demo', { limit: 1 })).toMatchObject({ total: 2, list: [{ count: 2 }] })
    expect(await client.errors('demo', { env: 'prod' })).toMatchObject({ total: 1, list: [{ message: 'late' }] })
    expect(await client.errors('demo', { since: new Date(noon + minute) })).toMatchObject({
      total: 2,
      list: [{ count: 1 }, { count: 1 }],
    })
    expect(await client.errors('demo', { app: 'mail' })).toMatchObject({ total: 0, list: [] })
  })

  it('show the values of the fields of logs', async () => {
    await log('one', { env: 'prod' })
    await log('two', { level: 'error' })
    expect(await client.logFacets('demo', { level: 'info' })).toEqual({
      levels: { info: 1 },
      apps: { shop: 1 },
      machines: {},
      envs: { prod: 1 },
      versions: {},
      eventIds: {},
    })
  })

  it('list projects, page by page or one page', async () => {
    for (let number = 1; number <= 24; number++) await post('/api/projects', { id: `p${number}` })
    const projects = await all(client.projects())
    expect(projects.map(({ id }) => id)).toEqual(['demo', ...Array.from({ length: 24 }, (_, index) => `p${index + 1}`)])
    expect(projects[0]).toEqual({ id: 'demo', plan: { content: true } })
    expect(await client.projects().page({ from: 25, to: 5 })).toMatchObject({ total: 25, list: [{ id: 'p24' }] })
  })
})

describe('an error of the reading client', () => {
  it('is an ApiError that says what was read and why it failed', async () => {
    const failure = async (operation: Promise<unknown>) => {
      const error = await operation.catch((reason: unknown) => reason)
      if (error instanceof ApiError) return { code: error.code, message: error.message }
      throw error
    }
    expect(await failure(client.logs('nothing').page())).toMatchObject({
      code: 'not-found',
      message: expect.stringContaining('read logs of bucket nothing'),
    })
    expect(await failure(client.countValues('demo', { step: '30s' }))).toMatchObject({
      code: 'validation-failed',
      message: expect.stringContaining('count values of bucket demo'),
    })
    const wrong = connect({ apiKey: 'wrong' })
    expect(await failure(wrong.projects().page())).toMatchObject({ code: 'unauthorized' })
    await wrong.close()
  })

  it('comes from a service that is not the receiver', async () => {
    const server = await ContentServer.start()
    const elsewhere = createReadingClient(server.options)
    for (const [body, operation] of [
      ['{"total":1}', () => elsewhere.logs('demo').page()],
      ['{"total":1,"list":[{}]}', () => elsewhere.values('demo').page()],
      ['{"total":1}', () => elsewhere.countLogs('demo')],
      ['{"apps":{}}', () => elsewhere.logFacets('demo')],
      ['{"list":[]}', () => elsewhere.projects().page()],
    ] as const) {
      server.fault = () => ({ status: 200, body })
      await expect(operation()).rejects.toMatchObject({ code: 'unreadable-answer' })
    }
    await elsewhere.close()
    await server.close()
  })

  it('is a TypeError for a bucket that cannot be in a path, and for an invalid Date', async () => {
    expect(() => client.logs('')).toThrow('bucket: expected a name, got ""')
    await expect(client.logs('demo', { since: new Date('x') }).page()).rejects.toThrow('since: expected a valid Date')
    await expect(client.countLogs('..')).rejects.toThrow(TypeError)
  })

  it('is the reason of the signal that aborts it', async () => {
    const reason = new Error('enough')
    await expect(client.logs('demo', { signal: AbortSignal.abort(reason) }).page()).rejects.toBe(reason)
    await expect(client.projects({ signal: AbortSignal.abort(reason) }).page()).rejects.toBe(reason)
  })
})

describe('a reading client', () => {
  it('reads the key of a file again when it is refused', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-reading-'))
    const file = join(folder, 'key')
    writeFileSync(file, 'old')
    process.env.SLUICE_API_KEY_FILE = file
    try {
      const renewing = createReadingClient({ url: receiver.url })
      writeFileSync(file, receiver.apiKey)
      expect((await renewing.projects().page()).total).toBe(1)
      await renewing.close()
    } finally {
      delete process.env.SLUICE_API_KEY_FILE
      rmSync(folder, { recursive: true })
    }
  })

  it('needs a URL and a key', () => {
    expect(() => createReadingClient()).toThrow(/SLUICE_URL/)
    expect(() => createReadingClient({ url: receiver.url })).toThrow(/SLUICE_API_KEY/)
  })
})
