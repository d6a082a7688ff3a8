import { rmSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { openToRead } from '../dist/storage/sqlite/database.js'
import { RecordReader } from '../dist/storage/sqlite/record-reader.js'
import { dataFolder } from './data-folder.js'
import { killAll, ready } from './processes.js'
import { caller, log } from './support.js'

const data = dataFolder()
afterEach(killAll)

/** A message of a hundred words. */
const messageOf = (number: number) =>
  `${Array.from({ length: 98 }, (_, word) => ((number * (word + 1)) % 9973).toString(36)).join(' ')} the end`
const logRecords = Array.from({ length: 10_000 }, (_, number) => ({ body: { stringValue: messageOf(number) } }))

/** A receiver that must index many records before it can search by words, which takes longer than a search may take. */
async function withoutIndex() {
  const first = await ready('--data', data.path)
  for (let turn = 0; turn < 30; turn++) {
    const timed = logRecords.map((record) => ({ ...record, timeUnixNano: `${turn + 1}000000` }))
    const { status } = await fetch(`${first.url}/otlp/demo/v1/logs`, {
      method: 'POST',
      headers: { 'x-api-key': first.apiKey!, 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: gzipSync(JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: timed }] }] })),
    })
    expect(status).toBe(200)
  }
  first.child.kill('SIGTERM')
  await first.exit
  for (const file of ['-wal', '-shm', '']) rmSync(data.file(`receiver-texts.sqlite${file}`), { force: true })
  return { ...(await ready('--data', data.path)), apiKey: first.apiKey }
}

describe('searches that take long', () => {
  it('hold up nothing but searches, end after 5 s and with their clients, and have a bound for each key', async () => {
    const receiver = await withoutIndex()
    const call = caller(receiver)
    const search = (from: ReturnType<typeof caller>) => from('GET', '/api/logs/demo?notText=the&text=nothing')
    const { key } = (await call('POST', '/api/keys', { scopes: ['read'] })).body
    const leaving = new AbortController()
    const headers = { 'x-api-key': receiver.apiKey! }
    const refused: number[] = []
    const asked = Array.from({ length: 30 }, async () => {
      const { status } = await fetch(`${receiver.url}/api/logs/demo?text=nothing`, { headers, signal: leaving.signal })
      refused.push(status)
    })
    const many = Promise.allSettled(asked)
    // One runs, twenty wait.
    await vi.waitUntil(() => refused.length === 9)
    expect(new Set(refused)).toEqual(new Set([429]))

    expect((await call('GET', '/api/logs/demo?limit=1')).status).toBe(200)
    expect((await call('POST', '/logs/demo', log)).status).toBe(201)
    expect((await call('GET', '/api/projects')).status).toBe(200)
    expect(refused).toHaveLength(9)
    const other = search(caller({ url: receiver.url, apiKey: key }))
    leaving.abort()
    await many

    // Nothing waits any more.
    const answer = await search(call)
    expect(answer).toMatchObject({ status: 503, body: { success: false } })
    expect(answer.body.errors[0].message).toMatch(/^the search took more than 5 s: narrow it/)
    expect(answer.headers.get('retry-after')).toBe('1')
    // The index goes on meanwhile.
    await vi.waitUntil(async () => (await search(call)).status === 200, { timeout: 120_000 })
    expect([200, 503]).toContain((await other).status)

    void call('GET', '/api/logs/demo?text=nothing').catch(() => {})
    await call('GET', '/api/logs/demo?limit=1')
    receiver.child.kill('SIGTERM')
    expect(await receiver.exit).toEqual([0, null])

    const database = openToRead(data.file('receiver.sqlite'))
    const reader = new RecordReader(database, data.file('receiver-texts.sqlite'))
    const query = { kind: 'logs', bucket: 'demo', limit: 1, text: 'end' } as const
    expect(reader.read(query).list).toHaveLength(1)
    expect(() => reader.until(new Int32Array([1])).read(query)).toThrow('the search has been ended')
    database.close()
  })
})
