import { readFileSync, writeFileSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { openSqlite } from '../dist/storage/sqlite/database.js'
import { dataFolder } from './data-folder.js'
import { killAll, ready } from './processes.js'
import { article, caller, log, startReceiverForTest } from './support.js'

const mebibyte = 1_048_576
const data = dataFolder()
afterEach(killAll)

type Call = ReturnType<typeof caller>

/** All pages of a list, read by `next`. */
async function pagesOf(call: Call, path: string, cursor: 'before' | 'from') {
  const pages: { total: number; list: Record<string, unknown>[]; next?: number }[] = []
  for (let next: number | undefined = -1; next !== undefined; next = pages.at(-1)!.next) {
    const { status, body } = await call('GET', `${path}${next === -1 ? '' : `&${cursor}=${next}`}`)
    expect(status).toBe(200)
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(8.1 * mebibyte)
    pages.push(body)
  }
  return pages
}

describe.each(['a file', 'memory'])('a page from %s', (where) => {
  const start = () => startReceiverForTest({ data: where === 'memory' ? ':memory:' : data.path })

  it('of records ends at 8 MiB, and says where to read on, whatever they are filtered by', async () => {
    const { call, close } = await start()
    for (let number = 0; number < 20; number++) {
      const message = `word ${number} ${'x'.repeat(1_000_000)}`
      expect((await call('POST', '/logs/demo', { ...log, message, eventId: number % 3 })).status).toBe(201)
    }
    const numbers = (list: readonly Record<string, unknown>[]) =>
      list.map(({ message }) => Number(String(message).split(' ')[1]))
    for (const filter of ['', '&level=info', '&text=word', '&since=2020-01-01T00:00:00Z']) {
      const pages = await pagesOf(call, `/api/logs/demo?limit=1000${filter}`, 'before')
      expect(pages.map(({ list }) => list.length)).toEqual([8, 8, 4])
      expect(pages.map(({ next }) => next)).toEqual([pages[0]!.list[7]!.id, pages[1]!.list[7]!.id, undefined])
      expect(numbers(pages.flatMap(({ list }) => list))).toEqual(Array.from({ length: 20 }, (_, index) => 19 - index))
    }
    const few = await call('GET', '/api/logs/demo?limit=5')
    expect(few.body).not.toHaveProperty('next')
    expect(few.body.list).toHaveLength(5)
    await close()
  })

  it('of entries or content types ends at 8 MiB, and says where to read on', async () => {
    const { call, close } = await start()
    await call('POST', '/api/projects/demo/content-types', article)
    for (let number = 0; number < 12; number++) {
      const fields = { title: String(number), summary: 'x'.repeat(1_000_000) }
      expect((await call('POST', '/ng-cms/content/demo/article', { fields })).status).toBe(201)
    }
    const entries = await pagesOf(call, '/api/projects/demo/content/article?to=1000', 'from')
    expect(entries.map(({ list, next, total }) => [list.length, next, total])).toEqual([
      [8, 9, 12],
      [4, undefined, 12],
    ])
    const titles = entries.flatMap(({ list }) => list.map(({ fields }) => Number((fields as { title: string }).title)))
    expect(titles).toEqual(Array.from({ length: 12 }, (_, index) => 11 - index))

    const schema = Array.from({ length: 500 }, (_, index) => ({
      ...{ key: `f${index}`, label: '🚰'.repeat(200), type: 'text', required: false },
    }))
    for (let number = 0; number < 20; number++) {
      const key = `large-${number}`
      const type = { key, name: 'Large', schema }
      expect((await call('POST', '/api/projects/demo/content-types', type)).status).toBe(201)
    }
    const types = await pagesOf(call, '/ng-cms/content-types/demo?to=1000', 'from')
    expect(types.length).toBeGreaterThan(1)
    const keys = types.flatMap(({ list }) => list.map(({ key }) => key))
    expect(keys).toEqual(['article', ...Array.from({ length: 20 }, (_, index) => `large-${index}`)])
    await close()
  })
})

it('a page of a thousand records of 1 MiB takes little more memory than the page', async () => {
  const receiver = await ready('--data', data.path)
  const call = caller(receiver)
  const bytes = (name: 'VmRSS' | 'VmHWM') => {
    const status = readFileSync(`/proc/${receiver.child.pid}/status`, 'utf8')
    return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)![1]) * 1024
  }
  await call('POST', '/logs/demo', { ...log, message: 'x'.repeat(1_000_000) })
  data.inDatabase((database) =>
    database.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150)
      INSERT INTO records (lane, unused, received_at, time_ms, record)
      SELECT lane, unused, received_at, time_ms, record FROM records, n`),
  )
  await call('GET', '/api/logs/demo?limit=1')
  // This resets the peak.
  writeFileSync(`/proc/${receiver.child.pid}/clear_refs`, '5')
  const before = bytes('VmRSS')
  const { body } = await call('GET', '/api/logs/demo?limit=1000')
  expect(bytes('VmHWM') - before).toBeLessThan(150 * mebibyte)
  expect(body.list).toHaveLength(8)
})

it('content is read while the thread that writes waits for the disk', async () => {
  const { call, close } = await startReceiverForTest({ data: data.path })
  await call('POST', '/api/projects/demo/content-types', article)
  const { body } = await call('POST', '/ng-cms/content/demo/article', { fields: { title: 'x' } })
  const database = openSqlite(data.file('receiver.sqlite'))
  database.exec('BEGIN IMMEDIATE')
  let isWritten = false
  const writing = call('POST', '/logs/demo', log).then(() => {
    isWritten = true
  })
  for (const path of ['', `/${body.result}`]) {
    expect((await call('GET', `/api/projects/demo/content/article${path}`)).status).toBe(200)
  }
  expect((await call('GET', '/ng-cms/content-types/demo')).body.total).toBe(1)
  expect(isWritten).toBe(false)
  database.exec('COMMIT')
  database.close()
  await writing
  await close()
})
