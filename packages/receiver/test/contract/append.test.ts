import { expect, it } from 'vitest'
import type { Commit } from '../../dist/storage/record-storage.js'
import { asSent, readAll } from './reading.js'
import { newRecord, onEachStore, times } from './stores.js'

const unusualTexts = {
  empty: '',
  NUL: 'a\0b\0',
  'a lone surrogate': 'a\ud800b',
  'the other lone surrogate': '\udc00',
  'an emoji': '\u{1f469}\u200d\u{1f680}',
  'the mark of stored texts': '\u0001"x"',
  'line ends': 'a\nb\r\nc\u2028',
  'a backslash': '\\u0000 \\',
  quotes: `'"' $1 %s`,
  '100 kB': 'ä'.repeat(100_000),
}
const unusualNumbers = [0, -1, 1.5, 0.1 + 0.2, 1e21, 123_456_789_012_345_680_000, 5e-324, Number.MAX_VALUE, 2 ** 53]

onEachStore((store) => {
  it.each(Object.entries(unusualTexts))('reads %s back as it was sent, in every field', async (_, text) => {
    const bucket = store.bucket()
    const record = { message: text, level: text, appName: text, env: text, machineName: text, appVersion: text }
    await store.append([newRecord('logs', { bucket, ...record })])
    for (const { records } of store.instances) {
      const { total, list } = await records.read({ kind: 'logs', bucket, limit: 10, appName: text })
      expect({ total, list: list.map(asSent) }).toEqual({
        total: 1,
        list: [{ timeStamp: 1_700_000_000_000, ...record }],
      })
    }
  })

  it('reads numbers back as they were sent', async () => {
    const bucket = store.bucket()
    for (const number of unusualNumbers) {
      await store.append([newRecord('values', { bucket, eventId: number, timeStamp: number })])
      const { list } = await store.other.records.read({ kind: 'values', bucket, limit: 10, eventId: number })
      expect(list.map(asSent)).toEqual([{ timeStamp: number, eventId: number, appName: 'shop' }])
    }
    expect((await readAll(store.one.records, { kind: 'values', bucket })).length).toBe(unusualNumbers.length)
  })

  it('reads fields of any name and shape back', async () => {
    const bucket = store.bucket()
    const record = JSON.parse('{"__proto__": {"a": [null, true, {"constructor": "x"}]}, "": 0, "a\\u0000": "b"}')
    await store.append([newRecord('logs', { bucket, ...record })])
    const [read] = await readAll(store.other.records, { kind: 'logs', bucket })
    expect(Object.entries(read!)).toEqual(expect.arrayContaining(Object.entries(record)))
  })

  it('keeps buckets and kinds apart, and gives each record an id of its own', async () => {
    const [first, second] = [store.bucket(), store.bucket()]
    await store.append([
      newRecord('logs', { bucket: first, message: 'log of the first' }),
      newRecord('values', { bucket: first, eventId: 1 }),
      newRecord('logs', { bucket: second, message: 'log of the second' }),
    ])
    const firstLogs = await readAll(store.one.records, { kind: 'logs', bucket: first })
    const firstValues = await readAll(store.one.records, { kind: 'values', bucket: first })
    const secondLogs = await readAll(store.other.records, { kind: 'logs', bucket: second })
    expect(firstLogs.map(({ message }) => message)).toEqual(['log of the first'])
    expect(firstValues.map(({ eventId }) => eventId)).toEqual([1])
    expect(secondLogs.map(({ message }) => message)).toEqual(['log of the second'])
    expect(await readAll(store.one.records, { kind: 'values', bucket: second })).toEqual([])
    expect(new Set([...firstLogs, ...firstValues, ...secondLogs].map(({ id }) => id)).size).toBe(3)
  })

  it('says when it received a record', async () => {
    const bucket = store.bucket()
    const before = Date.now()
    await store.append([newRecord('logs', { bucket })])
    const [record] = await readAll(store.one.records, { kind: 'logs', bucket })
    const receivedMs = Date.parse(record!.receivedAt)
    expect(new Date(receivedMs).toISOString()).toBe(record!.receivedAt)
    // The clock may be that of the database, as this process knows it.
    expect(receivedMs).toBeGreaterThanOrEqual(before - 1000)
    expect(receivedMs).toBeLessThanOrEqual(Date.now() + 1000)
  })

  it('tells its listeners of each commit, until they are removed', async () => {
    const bucket = store.bucket()
    const commits: Commit[] = []
    const ends = store.instances.map(({ records }) => records.onCommit((commit) => commits.push(commit)))
    const keyed = (number: number) => newRecord('logs', { bucket, idempotencyKey: `${number % 6}` })
    await store.append([...times(10, keyed), newRecord('values', { bucket })])
    for (const end of ends) end()
    await store.append([newRecord('logs', { bucket })])
    const sum = (count: (commit: Commit) => number) => commits.map(count).reduce((all, each) => all + each, 0)
    expect(sum(({ records }) => records)).toBe(11)
    expect(sum(({ stored }) => stored.logs)).toBe(6)
    expect(sum(({ stored }) => stored.values)).toBe(1)
    expect(commits.every(({ ms }) => ms >= 0)).toBe(true)
  })
})
