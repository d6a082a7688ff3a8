import { expect, it } from 'vitest'
import { full } from '../../../../test/support/full.js'
import { seeded } from '../../../../test/support/seeded.js'
import type { ErrorQuery, ErrorSummary, NewRecord, StoredRecord } from '../../dist/storage/record-storage.js'
import { errorKindOf } from '../../dist/storage/records/error-kind.js'
import { timeOf } from './oracle.js'
import { readAll } from './reading.js'
import { newRecord, onEachStore, times } from './stores.js'

const minute = 60_000
const hour = 60 * minute
const startMs = Date.parse('2026-11-20T23:30:00Z')
const endMs = startMs + 75 * hour

/** Records of few kinds, applications, environments and versions. A version comes later than the one before it. */
function randomRecords(bucket: string, { count, seed }: { count: number; seed: number }): NewRecord[] {
  const random = seeded(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  return times(count, () => {
    const version = below(4)
    const kind = below(version === 3 ? 8 : 6)
    const stack = `Error: failure\n    at f${kind} (/srv/shop/src/a.js:${below(100)}:1)`
    const stated = { level: 'error', message: `${'abcdefghi'[kind]} of ${below(1000)} failed` }
    const thrown = { level: ['error', 'warn', 'FATAL'][below(3)]!, message: `text ${below(100)} {"a":1}\n${stack}` }
    const record = {
      timeStamp: startMs + version * 20 * hour + below(endMs - startMs - version * 20 * hour),
      appName: ['shop', 'mail', 'a\0b'][below(3)]!,
      ...(below(3) === 0 ? {} : { env: ['prod', 'staging'][below(2)]! }),
      ...(kind < 6 && below(5) === 0 ? {} : { appVersion: `1.${version}` }),
      ...[{ level: 'info', message: 'all is well' }, stated, thrown][below(3)],
    }
    return newRecord('logs', { bucket, ...record })
  })
}

const known = <Value>(values: readonly (Value | undefined)[]) => [
  ...new Set(values.filter((value): value is Value => value !== undefined)),
]

const isLike = (a: StoredRecord, b: StoredRecord) =>
  ['appName', 'env', 'appVersion'].every((field) => a[field] === b[field])

/** Groups records in plain JavaScript. */
function grouped(records: readonly StoredRecord[], { since = -Infinity, appName, env }: Partial<ErrorQuery>) {
  const logs = records.filter(
    (each) => (appName === undefined || each.appName === appName) && (env === undefined || each.env === env),
  )
  const firstMs = (of: readonly StoredRecord[]) => Math.min(...of.map(timeOf))
  const versionsOf = (app: unknown) =>
    known(logs.filter((each) => each.appName === app).map(({ appVersion }) => appVersion)).sort(
      (a, b) =>
        firstMs(logs.filter((each) => each.appName === app && each.appVersion === a)) -
        firstMs(logs.filter((each) => each.appName === app && each.appVersion === b)),
    )
  const kinds = new Map<string, StoredRecord[]>()
  for (const record of logs) {
    const kind = errorKindOf(record as never)
    if (kind !== undefined) kinds.set(kind.id, [...(kinds.get(kind.id) ?? []), record])
  }
  return [...kinds.values()].flatMap((all) => {
    const asked = all.filter((each) => timeOf(each) >= Math.floor(since / minute) * minute)
    if (asked.length === 0) return []
    const isNew = known(all.map((each) => each.appName)).every((app) => {
      const versions = versionsOf(app)
      const newest = versions.at(-1)
      const begin = firstMs(logs.filter((each) => each.appName === app && each.appVersion === newest))
      return (
        versions.length > 1 &&
        all
          .filter((each) => each.appName === app)
          .every((each) => (each.appVersion === undefined ? timeOf(each) >= begin : each.appVersion === newest))
      )
    })
    return {
      ...errorKindOf(all[0] as never),
      count: asked.length,
      firstMs: firstMs(all),
      lastMs: Math.max(...all.map(timeOf)),
      apps: known(asked.map((each) => each.appName)).sort(),
      versions: known(asked.map((each) => each.appVersion)).sort(),
      // The newest record of those that share its application, environment and version with one that was asked for.
      sample: Math.max(...all.filter((each) => asked.some((other) => isLike(each, other))).map(({ id }) => id)),
      isNew: isNew && all.some((each) => each.appVersion !== undefined),
    }
  })
}

const byId = (a: { id?: string }, b: { id?: string }) => (a.id! < b.id! ? -1 : 1)
const withoutSteps = ({ steps: _, ...summary }: ErrorSummary) => ({
  ...summary,
  versions: [...summary.versions].sort(),
})

onEachStore((store) => {
  it('groups errors as a simple program does, by time, application and environment', async () => {
    const bucket = store.bucket()
    await store.append(randomRecords(bucket, { count: 700, seed: 7 }))
    await store.append([newRecord('values', { bucket })])
    const records = await readAll(store.one.records, { kind: 'logs', bucket })
    const nowMs = endMs
    const queries: Partial<ErrorQuery>[] = [
      {},
      ...[0.5, 5, 30, 60].map((hours) => ({ since: endMs - hours * hour })),
      { since: endMs - 12_345_678 },
      { since: startMs - 100 * 24 * hour },
      { since: endMs },
      { appName: 'shop' },
      { appName: 'a\0b', env: 'prod' },
      { env: 'staging', since: endMs - 26 * hour },
      { appName: 'nobody' },
    ]
    for (const query of queries) {
      const found = await store.other.records.errors({ bucket, limit: 100, nowMs, ...query })
      const expected = grouped(records, query)
      expect([...found.list].sort(byId).map(withoutSteps)).toEqual(expected.sort(byId))
      expect(found.total).toBe(expected.length)
      const counts = found.list.map(({ count }) => count)
      expect(counts).toEqual([...counts].sort((a, b) => b - a))
      for (const { id, count, steps } of found.list) {
        expect(steps.length).toBeLessThanOrEqual(24)
        const ofKind = records.filter(
          (each) =>
            errorKindOf(each as never)?.id === id &&
            timeOf(each) >= Math.floor((query.since ?? 0) / minute) * minute &&
            (query.appName ?? each.appName) === each.appName &&
            (query.env ?? each.env) === each.env,
        )
        const expectedSteps = steps.map(() => 0)
        // Of an hour or day that began earlier the table has only the rest.
        for (const each of ofKind) expectedSteps[Math.floor((timeOf(each) - found.fromMs) / found.stepMs)]!++
        if (found.stepMs % hour !== 0 || query.since === undefined) expect(steps).toEqual(expectedSteps)
        expect(steps.reduce((sum, step) => sum + step, 0)).toBe(count)
      }
    }
    const few = await store.one.records.errors({ bucket, limit: 3, nowMs })
    expect(few.list).toHaveLength(3)
    expect(few.total).toBe(grouped(records, {}).length)
    expect(grouped(records, {}).some(({ isNew }) => isNew)).toBe(true)
  })

  it('calls a kind new that came with the newest version, and none while there is one version', async () => {
    const bucket = store.bucket()
    const failed = (message: string, version: string, minutes: number) =>
      newRecord('logs', { bucket, level: 'error', message, appVersion: version, timeStamp: startMs + minutes * minute })
    const news = async () =>
      (await store.one.records.errors({ bucket, limit: 10, nowMs: endMs })).list
        .filter(({ isNew }) => isNew)
        .map(({ message }) => message)
    await store.append([failed('old', '1.0', 0)])
    expect(await news()).toEqual([])
    await store.append([failed('old', '1.1', 10), failed('young', '1.1', 11)])
    expect(await news()).toEqual(['young'])
    await store.append([newRecord('logs', { bucket, appVersion: '1.2', timeStamp: startMs + 20 * minute })])
    expect(await news()).toEqual([])
    await store.append([failed('young', '1.2', 21), failed('youngest', '1.2', 22)])
    expect(await news()).toEqual(['youngest'])
  })

  it('lets the kinds of an application go that came least recently, and keeps those of others, application and environment', async () => {
    const bucket = store.bucket()
    const letters = (number: number) => [...String(number)].map((digit) => 'abcdefghij'[Number(digit)]).join('')
    const failed = (message: string, fields: object = {}) =>
      newRecord('logs', { bucket, level: 'error', message, env: 'prod', ...fields })
    const errors = async (query: Partial<ErrorQuery> = {}) =>
      (await store.other.records.errors({ bucket, limit: 1000, nowMs: endMs, ...query })).list
    await store.append([failed('old', { appName: 'mail' }), failed('old')])
    // On PostgreSQL each writer has room of its own.
    const flood = full ? 12_000 : 1500
    const group = 375
    for (let from = 0; from < flood; from += group) {
      // Comes again and again, so that it never goes.
      await store.append(times(10, () => failed('steady')))
      await store.append(times(group, (number) => failed(`stranger ${letters(from + number)}`)))
    }
    await store.append([failed('TypeError: new\n    at f (/srv/src/a.js:1:1)', { level: 'fatal' })])
    const shop = await errors({ appName: 'shop', env: 'prod' })
    const messages = shop.map(({ message }) => message)
    expect(messages).toEqual(expect.arrayContaining(['new', 'steady', 'errors of further kinds']))
    expect(messages).not.toContain('old')
    expect(shop.find(({ id }) => id === 'other')).toMatchObject({ apps: ['shop'], type: null, frame: null })
    expect(shop.find(({ message }) => message === 'steady')!.count).toBe((10 * flood) / group)
    for (const each of shop) expect(each.steps.reduce((sum, step) => sum + step)).toBe(each.count)
    const whole = await store.one.records.errors({ bucket, limit: 1, nowMs: endMs, appName: 'shop' })
    expect(whole.total).toBeLessThan(flood)
    expect((await errors({ appName: 'mail' })).map(({ message }) => message)).toEqual(['old'])
    expect(await errors({ env: 'staging' })).toEqual([])
  }, 60_000)

  it('knows no errors of an empty bucket', async () => {
    const found = await store.one.records.errors({ bucket: store.bucket(), limit: 10, nowMs: endMs })
    expect(found).toMatchObject({ total: 0, list: [] })
  })
})
