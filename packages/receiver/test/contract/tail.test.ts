import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { Position, RecordKind } from '../../dist/storage/record-storage.js'
import { readAll } from './reading.js'
import { newRecord, onEachStore, type StoreUnderTest, times } from './stores.js'

type Message = Readonly<Record<string, unknown>>

interface Follower {
  readonly bucket: string
  readonly kind: RecordKind
  after: number
}

/** Reads what has arrived since the last time. */
async function follow(store: StoreUnderTest, follower: Follower, limit: number): Promise<Record<string, unknown>[]> {
  const { bucket, kind, after } = follower
  const { count, json, last, hasMore } = await store.other.records.arrivals({ bucket, kind, after, limit })
  const records = JSON.parse(json) as Record<string, unknown>[]
  expect(records.length).toBe(count)
  expect(count).toBeLessThanOrEqual(limit)
  if (hasMore) expect(count).toBeGreaterThan(0)
  follower.after = last
  return records
}

const sameStore = ({ store }: Position) => store

onEachStore((store) => {
  it('follows from a position: each later record once, as it is read back', async () => {
    const bucket = store.bucket()
    await store.append(times(20, (number) => newRecord('logs', { bucket, message: `early ${number}` })))
    const position = await store.other.records.position({ bucket })
    const follower: Follower = { bucket, kind: 'logs', after: position.logs }
    let left = store.instances.length
    const writing = store.instances.map(async ({ records }, instance) => {
      for (let number = 0; number < 40; number++) {
        const group = times(5, (each) => newRecord('logs', { bucket, message: `${instance} ${number} ${each}` }))
        await Promise.all(group.map((record) => records.append(record)))
      }
      left--
    })
    const seen: Record<string, unknown>[] = []
    while (left > 0) {
      seen.push(...(await follow(store, follower, 7)))
      // A store in this thread answers at once: its writers need a turn.
      await setImmediate()
    }
    await Promise.all(writing)
    const later = (await readAll(store.one.records, { kind: 'logs', bucket })).filter(
      ({ message }) => !String(message).startsWith('early'),
    )
    await expect
      .poll(async () => {
        seen.push(...(await follow(store, follower, 1000)))
        return seen.length
      })
      .toBeGreaterThanOrEqual(later.length)
    const byMessage = (a: Message, b: Message) => (String(a.message) < String(b.message) ? -1 : 1)
    expect(seen.sort(byMessage)).toEqual(later.sort(byMessage))
    expect(await follow(store, follower, 10)).toEqual([])
  })

  it('shows every record to a reader that begins while writing goes on', async () => {
    const bucket = store.bucket()
    const sent = new Set<string>()
    let isBegun = false
    const writing = store.instances.map(async ({ records }, instance) => {
      for (let number = 0; !isBegun || number < 60; number++) {
        const messages = times(20, (each) => `${instance} ${number} ${each}`)
        await Promise.all(messages.map((message) => records.append(newRecord('logs', { bucket, message }))))
        for (const message of messages) sent.add(message)
      }
    })
    await expect.poll(() => sent.size, { interval: 5 }).toBeGreaterThan(200)
    const follower: Follower = { bucket, kind: 'logs', after: (await store.other.records.position({ bucket })).logs }
    const page = await readAll(store.other.records, { kind: 'logs', bucket, limit: 1000 })
    isBegun = true
    const seen = new Set(page.map(({ message }) => String(message)))
    const read = async () => {
      for (const { message } of await follow(store, follower, 1000)) seen.add(String(message))
      return [...sent].filter((message) => !seen.has(message))
    }
    await Promise.all(writing)
    await expect.poll(read, { timeout: 10_000 }).toEqual([])
  })

  it('reads arrivals in the order of one writer, and says whether there are more', async () => {
    const bucket = store.bucket()
    const { records } = store.one
    for (const message of ['a', 'b', 'c']) await records.append(newRecord('logs', { bucket, message }))
    const first = await records.arrivals({ kind: 'logs', bucket, after: 0, limit: 2 })
    expect(JSON.parse(first.json).map(({ message }: { message: string }) => message)).toEqual(['a', 'b'])
    expect(first).toMatchObject({ count: 2, hasMore: true })
    const second = await records.arrivals({ kind: 'logs', bucket, after: first.last, limit: 2 })
    expect(JSON.parse(second.json).map(({ message }: { message: string }) => message)).toEqual(['c'])
    expect(second).toMatchObject({ count: 1, hasMore: false })
    const none = await records.arrivals({ kind: 'logs', bucket, after: second.last, limit: 2 })
    expect(none).toEqual({ count: 0, json: '[]', last: second.last, hasMore: false })
  })

  it('reads at most 1 MiB of arrivals at once, but at least one record', async () => {
    const bucket = store.bucket()
    const { records } = store.one
    for (const size of [600_000, 600_000, 2_000_000]) {
      await records.append(newRecord('logs', { bucket, message: 'x'.repeat(size) }))
    }
    const sizes: number[][] = []
    for (let after = 0; ; ) {
      const { json, last, hasMore } = await records.arrivals({ kind: 'logs', bucket, after, limit: 100 })
      sizes.push(JSON.parse(json).map(({ message }: { message: string }) => message.length))
      after = last
      if (!hasMore) break
    }
    expect(sizes).toEqual([[600_000], [600_000], [2_000_000]])
  })

  it('counts what a reader has missed, by kind', async () => {
    const bucket = store.bucket()
    const empty = await store.one.records.position({ bucket })
    await store.append(times(3, () => newRecord('logs', { bucket })))
    await store.append([newRecord('values', { bucket })])
    await store.append([newRecord('logs', { bucket: store.bucket() })])
    const since = (position: Position) => store.other.records.missed({ bucket, since: position })
    await expect.poll(async () => (await since(empty)).counts).toEqual({ logs: 3, values: 1 })
    const { position } = await since(empty)
    expect((await since(position)).counts).toEqual({ logs: 0, values: 0 })
    await store.append([newRecord('values', { bucket })])
    await expect.poll(async () => (await since(position)).counts).toEqual({ logs: 0, values: 1 })
    expect((await since(position)).position).toMatchObject({ store: empty.store, logs: position.logs })
  })

  it('has one identity, whatever instance is asked and whatever bucket', async () => {
    const positions = await Promise.all(
      store.instances.flatMap(({ records }) => ['a', 'b'].map((bucket) => records.position({ bucket }))),
    )
    expect(new Set(positions.map(sameStore)).size).toBe(1)
    expect(positions[0]!.store).not.toBe('')
  })
})
