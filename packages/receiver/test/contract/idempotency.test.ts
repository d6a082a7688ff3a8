import { expect, it } from 'vitest'
import { readAll } from './reading.js'
import { newRecord, onEachStore, type StoreUnderTest, times } from './stores.js'

const repeatedLogs = (store: StoreUnderTest, bucket: string) =>
  [...new Set(store.instances)].map(({ records }) => records.repeated(bucket).logs).reduce((sum, each) => sum + each)

onEachStore((store) => {
  const keyed = (bucket: string, key: string, message = key) =>
    newRecord('logs', { bucket, idempotencyKey: key, message })
  const messages = async (bucket: string) =>
    (await readAll(store.one.records, { kind: 'logs', bucket })).map(({ message }) => message)

  it('stores a key once that comes twice in one batch', async () => {
    const bucket = store.bucket()
    const { records } = store.one
    await Promise.all(['a', 'b', 'a', 'a'].map((key) => records.append(keyed(bucket, key))))
    expect((await messages(bucket)).sort()).toEqual(['a', 'b'])
    expect(records.repeated(bucket)).toEqual({ logs: 2, values: 0 })
  })

  it('stores a key once that comes again later, with whatever record', async () => {
    const bucket = store.bucket()
    await store.one.records.append(keyed(bucket, 'a', 'first'))
    await store.other.records.append(keyed(bucket, 'a', 'second'))
    await store.one.records.append(keyed(bucket, 'a', 'third'))
    expect(await messages(bucket)).toEqual(['first'])
    expect(repeatedLogs(store, bucket)).toBe(2)
  })

  it('stores keys once that come in reverse order at the same time', async () => {
    const bucket = store.bucket()
    for (let round = 0; round < 5; round++) {
      const keys = times(200, (number) => `${round}-${number}`)
      await Promise.all([
        ...keys.map((key) => store.one.records.append(keyed(bucket, key))),
        ...keys.toReversed().map((key) => store.other.records.append(keyed(bucket, key))),
      ])
      const stored = await messages(bucket)
      expect(stored.length).toBe(200 * (round + 1))
      expect(new Set(stored).size).toBe(stored.length)
      expect(repeatedLogs(store, bucket)).toBe(stored.length)
    }
  })

  it('knows a key in one bucket and for one kind only', async () => {
    const [bucket, second] = [store.bucket(), store.bucket()]
    await store.append([keyed(bucket, 'a'), newRecord('values', { bucket, idempotencyKey: 'a' }), keyed(second, 'a')])
    const read = (kind: 'logs' | 'values', name: string) => readAll(store.one.records, { kind, bucket: name })
    expect(await read('logs', bucket)).toHaveLength(1)
    expect(await read('values', bucket)).toHaveLength(1)
    expect(await read('logs', second)).toHaveLength(1)
    expect(repeatedLogs(store, bucket) + repeatedLogs(store, second)).toBe(0)
  })

  it('tells keys apart that differ in case, spaces, accents or length only', async () => {
    const bucket = store.bucket()
    const keys = ['a', 'A', 'a ', ' a', 'á', 'a\u0301', "'", '"', '\\', '%', 'x'.repeat(2000), 'x'.repeat(2001)]
    await store.append([...keys, ...keys].map((key) => keyed(bucket, key)))
    expect((await messages(bucket)).sort()).toEqual(keys.sort())
  })

  it('stores every record without a key', async () => {
    const bucket = store.bucket()
    await store.append(times(3, () => newRecord('logs', { bucket })))
    expect(await messages(bucket)).toEqual(['hello', 'hello', 'hello'])
    expect(repeatedLogs(store, bucket)).toBe(0)
  })

  it('rejects the records of a commit that fails, stores none of them, and stores them when they come again', async (context) => {
    if (store.refuse === undefined) return context.skip()
    const bucket = store.bucket()
    const keys = times(100, (number) => (number === 50 ? 'refused' : `${number}`))
    const send = () => Promise.allSettled(keys.map((key) => store.one.records.append(keyed(bucket, key))))
    const accept = await store.refuse('refused')
    const results = await send()
    const acknowledged = keys.filter((_, index) => results[index]!.status === 'fulfilled')
    await accept()
    expect(acknowledged).not.toContain('refused')
    expect((await messages(bucket)).sort()).toEqual(acknowledged.sort())
    expect((await store.one.records.counts({ kind: 'logs', bucket })).total).toBe(acknowledged.length)

    expect((await send()).map(({ status }) => status)).toEqual(keys.map(() => 'fulfilled'))
    expect((await messages(bucket)).sort()).toEqual(keys.sort())
    expect((await store.other.records.counts({ kind: 'logs', bucket })).total).toBe(keys.length)
    expect((await store.other.records.read({ kind: 'logs', bucket, limit: 1 })).total).toBe(keys.length)
  })
})
