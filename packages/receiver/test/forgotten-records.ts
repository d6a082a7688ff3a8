import { expect } from 'vitest'
import { namedFields } from '../dist/storage/records/named-fields.js'
import type { Database } from '../dist/storage/sqlite/database.js'
import type { SqliteStorage } from '../dist/storage/sqlite/sqlite-storage.js'

export interface Kept {
  readonly kind: 'logs' | 'values'
  readonly bucket: string
  readonly receivedAt: number
  readonly record: Readonly<Record<string, unknown>> & { readonly timeStamp: number; readonly appName: string }
}

const minute = 60_000
const sorted = (counts: ReadonlyMap<string, number>) => [...counts].sort(([a], [b]) => (a < b ? -1 : 1))

function tally(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

/** Expects that a lane has exactly these records, by every way of reading. */
export async function expectLane(
  { records }: SqliteStorage,
  { kind, bucket, kept }: Pick<Kept, 'kind' | 'bucket'> & { readonly kept: readonly Kept[] },
): Promise<readonly number[]> {
  const lane = { kind, bucket }
  const ids: number[] = []
  const read: unknown[] = []
  let before: number | undefined
  for (;;) {
    const { list, total } = await records.read({ ...lane, limit: 1000, before })
    expect(total).toBe(kept.length)
    if (list.length === 0) break
    for (const { id, receivedAt, ...record } of list) {
      ids.push(id)
      read.push({ receivedAt: Date.parse(receivedAt), record })
    }
    before = ids.at(-1)
  }
  expect(read.reverse()).toEqual(kept.map(({ receivedAt, record }) => ({ receivedAt, record })))
  const totalOf = async (filter: object) => (await records.read({ ...lane, limit: 5, ...filter })).total
  const having = (matches: (record: Kept['record']) => boolean) => kept.filter(({ record }) => matches(record)).length
  for (const appName of ['shop', 'web']) {
    expect(await totalOf({ appName })).toBe(having((record) => record.appName === appName))
  }
  for (const eventId of [1, 1300])
    expect(await totalOf({ eventId })).toBe(having((record) => record.eventId === eventId))
  expect(await totalOf({ text: 'even' })).toBe(
    Math.min(
      1000,
      having(({ message }) => String(message).includes('even')),
    ),
  )
  const middle = kept[kept.length >> 1]?.record.timeStamp ?? 0
  expect(await totalOf({ since: middle })).toBe(
    Math.min(
      1000,
      having(({ timeStamp }) => timeStamp >= middle),
    ),
  )
  const value = ({ level, eventId }: Kept['record']) => String(level ?? eventId)
  const counted = await records.counts({ ...lane, stepMs: minute })
  const steps = counted.steps.flatMap(({ atMs, counts }) =>
    [...counts].map(([name, n]) => [`${atMs} ${name}`, n] as const),
  )
  const times = kept.map(({ record }) => `${Math.floor(record.timeStamp / minute) * minute} ${value(record)}`)
  expect(sorted(new Map(steps))).toEqual(sorted(tally(times)))
  expect(counted.total).toBe(kept.length)
  const allTime = (await records.counts(lane)).values.map(({ value, records }) => [value, records] as const)
  expect(sorted(new Map(allTime))).toEqual(sorted(tally(kept.map(({ record }) => value(record)))))
  return ids
}

/** Expects that the tables of names have no count that is wrong, and all names where there is room for them. */
export function expectNames(database: Database, kept: readonly Kept[]): void {
  const rows = database
    .prepare('SELECT l.kind, l.bucket, n.field, n.name, n.records FROM names n JOIN lanes l ON l.id = n.lane')
    .all() as { kind: string; bucket: string; field: string; name: string; records: number }[]
  const crowded = database
    .prepare('SELECT l.kind, l.bucket, u.field FROM uncounted_names u JOIN lanes l ON l.id = u.lane')
    .all() as { kind: string; bucket: string; field: string }[]
  const crowds = new Set(crowded.map(({ kind, bucket, field }) => `${kind} ${bucket} ${field}`))
  const known = new Map(rows.map((row) => [`${row.kind} ${row.bucket} ${row.field} ${row.name}`, row.records]))
  const names = kept.flatMap(({ kind, bucket, record }) =>
    namedFields
      .filter((field) => record[field] !== undefined && !(kind === 'values' && field === 'eventId'))
      .map((field) => `${kind} ${bucket} ${field} ${JSON.stringify(record[field])}`),
  )
  const expected = tally(names)
  for (const [name, records] of known) expect([name, records]).toEqual([name, expected.get(name)])
  for (const name of expected.keys()) {
    if (!crowds.has(name.split(' ').slice(0, 3).join(' '))) expect(known.has(name)).toBe(true)
  }
}
