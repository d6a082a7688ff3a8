import { describe, expect, it } from 'vitest'
import { mergedCounts, mergedFacets, mergedPages } from '../../dist/storage/postgres/merged-answers.js'
import { fromAll, shardOf } from '../../dist/storage/postgres/shards.js'
import { StoreUnavailableError } from '../../dist/storage/store-unavailable.js'

const stored = (id: number) => ({ id, receivedAt: '2026-01-01T00:00:00.000Z' })
const page = (...ids: number[]) => ({ total: ids.length, list: ids.map(stored) })
const idsOf = ({ list }: { readonly list: readonly { readonly id: number }[] }) => list.map(({ id }) => id)

describe('the pages of several shards', () => {
  it('are one page, newest first', () => {
    const merged = mergedPages([page(9, 5, 1), page(8, 7), page()], 4)
    expect(idsOf(merged)).toEqual([9, 8, 7, 5])
    expect(merged).toMatchObject({ total: 5 })
    expect(merged).not.toHaveProperty('next')
  })

  it('end where the first one was cut: its shard may have newer records than the others', () => {
    const merged = mergedPages([{ ...page(9, 6), next: 6 }, page(8, 5, 4)], 100)
    expect(idsOf(merged)).toEqual([9, 8, 6])
    expect(merged.next).toBe(6)
  })

  it('say that a total is not the whole one', () => {
    expect(mergedPages([{ ...page(1), totalIsAtLeast: true }, page(2)], 1)).toMatchObject({ totalIsAtLeast: true })
  })

  it('name a value as unknown that none of them knows', () => {
    const unknown = (known: string[]) => ({ ...page(), unknown: { field: 'appName', value: 'shp', known } })
    expect(mergedPages([unknown(['shop']), unknown(['mail'])], 1).unknown?.known).toEqual(['shop', 'mail'])
    expect(mergedPages([unknown(['shop']), page()], 1)).not.toHaveProperty('unknown')
  })
})

describe('the counts of several shards', () => {
  it('are added up by value and by step', () => {
    const counts = (atMs: number, info: number) => ({
      total: info,
      values: [{ value: 'info', records: info, lastMs: atMs }],
      steps: [{ atMs, counts: new Map([['info', info]]) }],
    })
    expect(mergedCounts([counts(60_000, 2), counts(0, 3), counts(60_000, 4)])).toEqual({
      total: 9,
      values: [{ value: 'info', records: 9, lastMs: 60_000 }],
      steps: [
        { atMs: 0, counts: new Map([['info', 3]]) },
        { atMs: 60_000, counts: new Map([['info', 6]]) },
      ],
    })
  })

  it('begin where each of them has counted all', () => {
    const since = (countedSinceMs: number) => ({ total: 1, values: [], steps: [], countedSinceMs })
    expect(mergedCounts([since(5), since(9)]).countedSinceMs).toBe(9)
  })

  it('of facets are added up', () => {
    const facets = (levels: Record<string, number>) => ({
      levels,
      apps: {},
      machines: {},
      envs: {},
      versions: {},
      eventIds: {},
    })
    expect(mergedFacets([facets({ info: 1 }), facets({ warn: 5, info: 2 })]).levels).toEqual({ warn: 5, info: 3 })
  })
})

describe('the shard of a record', () => {
  const names = ['one', 'two', 'three']
  const record = (key: number) =>
    ({ kind: 'logs', bucket: 'demo', idempotencyKey: `${key}`, record: { timeStamp: 1, appName: '' } }) as const

  it('depends on the key, and is the same each time', () => {
    const places = Array.from({ length: 3000 }, (_, key) => shardOf(record(key), names))
    expect(places).toEqual(Array.from({ length: 3000 }, (_, key) => shardOf(record(key), names)))
    for (const index of [0, 1, 2]) expect(places.filter((place) => place === index).length).toBeGreaterThan(800)
  })

  it('stays, or is the new one, where a shard is added', () => {
    for (let key = 0; key < 1000; key++) {
      const [before, after] = [names, [...names, 'four']].map((each) => shardOf(record(key), each))
      expect([before, 3]).toContain(after)
    }
  })
})

describe('a question to all shards', () => {
  const ask = (failure: Error) => async (shard: number) => {
    if (shard === 2) throw failure
    return shard
  }

  it('is answered by those that can be reached', async () => {
    const away = new StoreUnavailableError('away')
    expect(await fromAll([1, 2, 3], ask(away))).toEqual([1, 3])
    await expect(fromAll([2, 2], ask(away))).rejects.toBe(away)
  })

  it('fails with any other error of one of them', async () => {
    await expect(fromAll([1, 2, 3], ask(new Error('a fault')))).rejects.toThrow('a fault')
  })
})
