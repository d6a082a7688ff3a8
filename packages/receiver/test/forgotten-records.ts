import { expect } from 'vitest'
import { errorKindOf } from '../dist/storage/records/error-kind.js'
import { namedFields } from '../dist/storage/records/named-fields.js'
import type { Database } from '../dist/storage/sqlite/database.js'
import type { SqliteStorage } from '../dist/storage/sqlite/sqlite-storage.js'

export interface Kept {
  readonly kind: 'logs' | 'values'
  readonly bucket: string
  readonly receivedAt: number
  readonly record: Readonly<Record<string, unknown>> & {
    readonly timeStamp: number
    readonly appName: string
    readonly level?: string
    readonly message?: string
  }
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

/** Expects that the tables of errors count exactly these records, and have no row that is not needed. */
export function expectErrors(database: Database, kept: readonly Kept[]): void {
  const all = <Row>(sql: string) => database.prepare(sql).all() as Row[]
  const rows = all<{ name: string; records: number; number: number }>(
    `SELECT l.bucket || ' ' || e.kind || ' ' || e.app || ' ' || e.env || ' ' || e.version AS name, e.records, e.number
       FROM errors e JOIN lanes l ON l.id = e.lane`,
  )
  const json = (value: unknown) => (value === undefined ? '' : JSON.stringify(value))
  const counted = kept.flatMap(({ kind, bucket, record }) => {
    const error = errorKindOf(record)
    const names = `${json(record.appName)} ${json(record.env)} ${json(record.appVersion)}`
    if (kind === 'values') return []
    return [`${bucket}  ${names}`, ...(error === undefined ? [] : [`${bucket} ${error.id} ${names}`])]
  })
  expect(sorted(new Map(rows.map(({ name, records }) => [name, records])))).toEqual(sorted(tally(counted)))
  const errors = kept.filter(({ kind, record }) => kind === 'logs' && errorKindOf(record) !== undefined)
  for (const stepMs of [minute, 60 * minute, 24 * 60 * minute]) {
    const steps = all<{ atMs: number; records: number }>(
      `SELECT at_ms AS atMs, sum(records) AS records FROM error_steps WHERE step_ms = ${stepMs} GROUP BY 1`,
    )
    const times = errors.map(({ record }) => String(Math.floor(record.timeStamp / stepMs) * stepMs))
    expect(sorted(new Map(steps.map(({ atMs, records }) => [String(atMs), records])))).toEqual(sorted(tally(times)))
  }
  expect(all('SELECT 1 FROM error_steps WHERE records <= 0 OR error NOT IN (SELECT number FROM errors)')).toEqual([])
  const kinds = new Set(errors.map(({ bucket, record }) => `${bucket} ${errorKindOf(record)!.id}`))
  expect(all('SELECT 1 FROM error_kinds')).toHaveLength(kinds.size)
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
