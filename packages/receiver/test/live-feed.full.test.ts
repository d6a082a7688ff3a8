import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { LiveFeed } from '../dist/live/live-feed.js'
import { SqliteStorage } from '../dist/storage/sqlite/sqlite-storage.js'
import { log } from './support.js'

let storage: SqliteStorage
let listeners = 0
let feed: LiveFeed
beforeEach(() => {
  storage = new SqliteStorage(':memory:')
  const onCommit = storage.records.onCommit.bind(storage.records)
  storage.records.onCommit = (listener) => {
    const end = onCommit(listener)
    listeners++
    return () => {
      listeners--
      end()
    }
  }
  feed = new LiveFeed(storage.records)
})
afterEach(async () => {
  feed.close()
  vi.restoreAllMocks()
  await storage.close()
})

/** A reader whose socket is a stream in memory. */
async function join() {
  const socket = new PassThrough()
  const position = await storage.records.position({ bucket: 'demo' })
  const hello = { resumed: false, startedAt: '' }
  feed.add({ response: socket as unknown as ServerResponse, bucket: 'demo', position, hello })
  return socket
}

const append = () => storage.records.append({ kind: 'logs', bucket: 'demo', idempotencyKey: undefined, record: log })

describe('the live feed', () => {
  it('listens to commits only while there are readers', async () => {
    expect(listeners).toBe(0)
    const [first, second] = [await join(), await join()]
    expect(listeners).toBe(1)
    first.destroy()
    await once(first, 'close')
    expect(listeners).toBe(1)
    second.destroy()
    await once(second, 'close')
    expect(listeners).toBe(0)
    ;(await join()).destroy()
    feed.close()
    expect(listeners).toBe(0)
    expect(feed.hasRoom).toBe(false)
  })

  it('reads once for readers at the same position', async () => {
    const arrivals = vi.spyOn(storage.records, 'arrivals')
    const sockets = [await join(), await join(), await join()]
    await append()
    const told = sockets.map(async (socket) => {
      for await (const chunk of socket) if (String(chunk).includes('event: logs')) return
    })
    await Promise.all(told)
    const [last] = arrivals.mock.calls.at(-1)!
    const same = arrivals.mock.calls.filter(([query]) => JSON.stringify(query) === JSON.stringify(last))
    expect(same.length).toBeLessThanOrEqual(2)
  })

  it('tells a reader that cannot follow how many records it has missed, and goes on with the newest', async () => {
    const { records } = storage
    const lane = { kind: 'logs', bucket: 'demo', idempotencyKey: undefined } as const
    const { arrivals } = records
    let next = 0
    let seen = 0
    // More arrive than an event has.
    vi.spyOn(records, 'arrivals').mockImplementation(async (query) => {
      if (query.kind === 'logs') {
        const batch = Array.from({ length: 600 }, () => ({ ...lane, record: { ...log, message: `${next++}` } }))
        await Promise.all(batch.map((record) => records.append(record)))
      }
      return arrivals(query)
    })
    const now = performance.now.bind(performance)
    let aheadMs = 0
    vi.spyOn(performance, 'now').mockImplementation(() => now() + aheadMs)
    const stream = createInterface({ input: await join() })
    let missed: number | undefined
    let event = ''
    for await (const line of stream) {
      if (line.startsWith('event: ')) event = line.slice(7)
      if (!line.startsWith('data: ') || event === 'hello') continue
      const data = JSON.parse(line.slice(6))
      if (event === 'missed') {
        missed = data.logs
        expect(data).toEqual({ logs: expect.any(Number), values: 0 })
        continue
      }
      expect(data[0].message).toBe(`${seen + (missed ?? 0)}`)
      seen += data.length
      if (missed !== undefined) break
      if (seen > 2000) aheadMs = 11_000
    }
    expect(missed).toBeGreaterThan(0)
  })

  it('ends a stream whose records cannot be read, and says so', async () => {
    const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    vi.spyOn(storage.records, 'arrivals').mockRejectedValue(new Error('disk gone'))
    const socket = await join()
    expect(await text(socket)).toMatch(/^event: hello\n/)
    expect(written.mock.calls.map(([line]) => line)).toEqual(['sluice-receiver: cannot read live records: disk gone\n'])
  })
})
