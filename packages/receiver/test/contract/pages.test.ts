import { expect, it } from 'vitest'
import { full } from '../../../../test/support/full.js'
import { asSent, readAll } from './reading.js'
import { newRecord, onEachStore, times } from './stores.js'

onEachStore((store) => {
  const lane = (bucket: string) => ({ kind: 'logs', bucket }) as const
  const numbered = (bucket: string, count: number) =>
    times(count, (number) =>
      newRecord('logs', { bucket, message: `word ${number}`, level: number % 2 ? 'warn' : 'info' }),
    )

  it.runIf(full).each([1, 7, 100])(
    'reads pages of %i without a gap or a repetition while writing goes on',
    async (limit) => {
      const bucket = store.bucket()
      await store.append(numbered(bucket, 300))
      const known = (await readAll(store.one.records, lane(bucket))).map(({ id }) => id)
      let isRead = false
      const writing = Promise.all(
        store.instances.map(async ({ records }) => {
          for (let left = 200; left > 0 && !isRead; left--) {
            await records.append(newRecord('logs', { bucket, message: 'word later' }))
          }
        }),
      )
      for (const filter of [{}, { text: 'word' }, { levels: ['info', 'warn'] }, { since: 0 }]) {
        const read = (await readAll(store.other.records, { ...lane(bucket), ...filter, limit })).map(({ id }) => id)
        expect(read).toEqual([...new Set(read)].sort((a, b) => b - a))
        const found = new Set(read)
        expect(known.filter((id) => !found.has(id))).toEqual([])
      }
      isRead = true
      await writing
    },
  )

  it('reads the records before and after others', async () => {
    const bucket = store.bucket()
    await store.append(numbered(bucket, 50))
    const all = await readAll(store.one.records, lane(bucket))
    const ids = (list: readonly { id: number }[]) => list.map(({ id }) => id)
    for (const filter of [{}, { text: 'word' }, { notLevels: ['none'] }, { until: 2e12 }]) {
      const query = { ...lane(bucket), ...filter }
      const read = async (page: { before?: number; after?: number; limit: number }) =>
        ids((await store.other.records.read({ ...query, ...page })).list)
      const [newer, older] = [all[10]!.id, all[30]!.id]
      expect(await read({ before: newer, limit: 100 })).toEqual(ids(all.slice(11)))
      expect(await read({ after: older, limit: 100 })).toEqual(ids(all.slice(0, 30)))
      expect(await read({ before: newer, after: older, limit: 100 })).toEqual(ids(all.slice(11, 30)))
      expect(await read({ after: older, limit: 5 })).toEqual(ids(all.slice(25, 30)))
      expect(await read({ before: older, after: newer, limit: 100 })).toEqual([])
    }
  })

  it.each([
    ['all', {}, 1],
    ['those of a level', { levels: ['warn'] }, 2],
    ['those with a word that few have', { text: 'rare' }, 100],
    ['those of a time', { since: 1_700_000_000_300 }, 2],
  ])('reads on from where it stopped, without a gap: %s', async (_, filter, each) => {
    const bucket = store.bucket()
    const count = 600
    const written = times(count, (number) =>
      newRecord('logs', {
        bucket,
        message: number % 100 === 1 ? 'rare' : 'usual',
        level: number % 2 === 1 ? 'warn' : 'info',
        timeStamp: 1_700_000_000_000 + (number % 2) * 600,
      }),
    )
    await store.append(written)
    const found: number[] = []
    for (let after = 0; ; ) {
      const page = { ...lane(bucket), ...filter, after, limit: 7, patienceMs: 0 }
      const { list, next } = await store.other.records.read(page)
      const ids = list.map(({ id }) => id)
      expect(ids).toEqual(ids.toSorted((a, b) => b - a))
      found.push(...ids.toReversed())
      if (next === undefined && list.length < 7) break
      after = next ?? ids[0]!
    }
    const all = await readAll(store.one.records, { ...lane(bucket), ...filter })
    expect(all).toHaveLength(count / each)
    expect(found).toEqual(all.map(({ id }) => id).reverse())
  })

  it('reads on behind a page that large records have cut', async () => {
    const bucket = store.bucket()
    await store.append(times(12, () => newRecord('logs', { bucket, message: 'x'.repeat(1_000_000) })))
    const all = (await readAll(store.one.records, lane(bucket))).map(({ id }) => id).reverse()
    const { list, next } = await store.other.records.read({ ...lane(bucket), after: 0, limit: 100 })
    expect(list.map(({ id }) => id).reverse()).toEqual(all.slice(0, list.length))
    expect([list.length, next]).toEqual([8, all[7]])
  })

  it('counts all matches on every page, and says where it stopped counting', async () => {
    const bucket = store.bucket()
    await store.append(numbered(bucket, 2500))
    const { records } = store.other
    const ids = (await readAll(records, { ...lane(bucket), limit: 1000 })).map(({ id }) => id)
    expect(await records.read({ ...lane(bucket), limit: 5 })).toMatchObject({ total: 2500 })
    expect(await records.read({ ...lane(bucket), limit: 5, before: ids[9]! })).toMatchObject({ total: 2500 })
    for (const filter of [{ text: 'word' }, { text: 'word', levels: ['info', 'warn'] }, { since: 0 }]) {
      for (const page of [{}, { before: ids[9]! }, { after: ids[9]! }]) {
        const { total, totalIsAtLeast } = await records.read({ ...lane(bucket), ...filter, ...page, limit: 5 })
        if (totalIsAtLeast) expect(total).toBeLessThan(2500)
        else expect(total).toBe(2500)
        expect(total).toBeGreaterThanOrEqual(1000)
      }
    }
    const few = await records.read({ ...lane(bucket), text: 'word 7', limit: 5 })
    expect(few).toMatchObject({ total: 1, list: [{ message: 'word 7' }] })
    expect(few).not.toHaveProperty('totalIsAtLeast')
  })

  it('cuts a page that is too large, and names the next', async () => {
    const bucket = store.bucket()
    const messages = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(3_500_000))
    for (const message of messages) await store.append([newRecord('logs', { bucket, message })])
    const first = await store.other.records.read({ ...lane(bucket), limit: 3 })
    expect(first.list.map(({ message }) => String(message)[0])).toEqual(['d', 'c'])
    expect(first.next).toBe(first.list[1]!.id)
    const second = await store.other.records.read({ ...lane(bucket), limit: 3, before: first.next })
    expect(second.list.map(asSent).map(({ message }) => String(message)[0])).toEqual(['b', 'a'])
    expect(second).not.toHaveProperty('next')
  })

  it('answers for a bucket without records', async () => {
    const bucket = store.bucket()
    expect(await store.one.records.read({ ...lane(bucket), limit: 5 })).toEqual({ total: 0, list: [] })
    expect(await store.one.records.read({ ...lane(bucket), limit: 5, text: 'a', since: 0 })).toEqual({
      total: 0,
      list: [],
    })
    expect(await store.one.records.counts({ ...lane(bucket), stepMs: 60_000 })).toEqual({
      total: 0,
      values: [],
      steps: [],
    })
    const none = { levels: {}, apps: {}, machines: {}, envs: {}, versions: {}, eventIds: {} }
    expect(await store.one.records.facets({ ...lane(bucket), limit: 5 })).toEqual(none)
  })
})
