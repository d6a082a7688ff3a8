import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { rowsOf } from '../../../test/support/full.js'
import { seeded } from '../../../test/support/seeded.js'
import type { NewRecord } from '../dist/storage/record-storage.js'
import { goneAtOnce, maxKinds, otherKinds } from '../dist/storage/records/error-tallies.js'
import { SqliteStorage } from '../dist/storage/sqlite/sqlite-storage.js'
import { dataFolder } from './data-folder.js'
import { expectErrors, expectLane, expectNames, type Kept } from './forgotten-records.js'
import { log } from './support.js'

const data = dataFolder()
const hour = 3_600_000
const noon = Date.UTC(2026, 0, 31, 12)
let storage: SqliteStorage
const open = () => {
  storage = new SqliteStorage(data.file('receiver.sqlite'))
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: noon })
  open()
})
afterEach(async () => {
  await storage.close()
  vi.useRealTimers()
})

async function forgetAll(before: number): Promise<number> {
  let all = 0
  for (;;) {
    const forgotten = await storage.records.forget(before)
    if (forgotten === 0) return all
    all += forgotten
  }
}

const append = (records: readonly NewRecord[]) => Promise.all(records.map((record) => storage.records.append(record)))
const logs = (count: number, fields: Partial<NewRecord['record']> = {}) =>
  append(
    Array.from({ length: count }, () => ({
      kind: 'logs',
      bucket: 'demo',
      idempotencyKey: undefined,
      record: { ...log, ...fields },
    })),
  )
const logQuery = { kind: 'logs', bucket: 'demo' } as const

const unneededSpans =
  'SELECT * FROM spans s WHERE last_id < coalesce((SELECT min(id) FROM records WHERE lane = s.lane), 1e15)'

describe('records that are forgotten', () => {
  it.each(rowsOf([1, 2, 3, 4], (seed) => seed === 1))(
    'leave counts, names, times and words as those of the records that stay: seed %i',
    async (seed) => {
      console.log(`seed ${seed}`)
      const random = seeded(seed)
      const below = (limit: number) => Math.floor(random() * limit)
      data.inDatabase((database) =>
        database.exec(`CREATE TABLE failing (x);
          CREATE TRIGGER no_append AFTER INSERT ON records WHEN EXISTS (SELECT 1 FROM failing) AND NEW.record LIKE '%odd%'
            BEGIN SELECT RAISE(ABORT, 'no'); END;
          CREATE TRIGGER no_forget BEFORE UPDATE ON identity WHEN EXISTS (SELECT 1 FROM failing)
            BEGIN SELECT RAISE(ABORT, 'no'); END;`),
      )
      let kept: Kept[] = []
      const sent: NewRecord[] = []
      let number = 0
      const made = (): NewRecord => {
        number++
        const kind = random() < 0.8 ? 'logs' : 'values'
        const common = {
          timeStamp: Date.now() - below(5 * hour),
          appName: random() < 0.5 ? 'shop' : 'web',
          eventId: below(5000),
          ...(random() < 0.3 ? { env: `env${below(3)}` } : {}),
          ...(random() < 0.3 ? { appVersion: `1.${below(3)}` } : {}),
        }
        const level = ['info', 'warn', 'error'][below(3)]!
        const record =
          kind === 'values'
            ? common
            : { ...common, level, message: `${number % 2 === 0 ? 'even' : 'odd'} ${'abcd'[below(4)]}` }
        const bucket = random() < 0.8 ? 'demo' : 'other'
        return { kind, bucket, idempotencyKey: random() < 0.5 ? `key ${number}` : undefined, record }
      }
      for (let turn = 0; turn < 60; turn++) {
        // The clock goes on, and sometimes back.
        vi.setSystemTime(Date.now() + (random() < 0.1 ? -hour : below(hour)))
        const fails = random() < 0.15
        if (fails) data.inDatabase((database) => database.exec('INSERT INTO failing VALUES (1)'))
        if (random() < 0.6) {
          const again = sent.filter(({ idempotencyKey }) => idempotencyKey !== undefined && random() < 0.05)
          const added = Array.from({ length: 2 + below(400) }, made)
          const appended = append([...added, ...again])
          if (fails) await expect(appended).rejects.toThrow('no')
          else {
            await appended
            sent.push(...added)
            kept.push(...added.map(({ kind, bucket, record }) => ({ kind, bucket, record, receivedAt: Date.now() })))
          }
        } else {
          const before = random() < 0.1 ? Number.MAX_SAFE_INTEGER : Date.now() - below(8 * hour)
          if (fails && kept.some(({ receivedAt }) => receivedAt < before)) {
            await expect(storage.records.forget(before)).rejects.toThrow('no')
          } else {
            const left = kept.filter(({ receivedAt }) => receivedAt >= before)
            expect(await forgetAll(before)).toBe(kept.length - left.length)
            kept = left
          }
        }
        if (fails) data.inDatabase((database) => database.exec('DELETE FROM failing'))
        if (random() < 0.1) {
          await storage.close()
          open()
        }
        if (turn % 4 !== 3) continue
        const ids: number[] = []
        for (const bucket of ['demo', 'other']) {
          for (const kind of ['logs', 'values'] as const) {
            const ofLane = kept.filter((each) => each.kind === kind && each.bucket === bucket)
            ids.push(...(await expectLane(storage, { kind, bucket, kept: ofLane })))
          }
        }
        expect(new Set(ids).size).toBe(kept.length)
        const receipts = kept.map(({ receivedAt }) => receivedAt)
        expect(await storage.records.oldest()).toBe(kept.length === 0 ? undefined : Math.min(...receipts))
        data.inDatabase((database) => {
          expectNames(database, kept)
          expectErrors(database, kept)
          expect(database.prepare('SELECT * FROM counts WHERE records <= 0').all()).toEqual([])
          expect(database.prepare(unneededSpans).all()).toEqual([])
          const { records } = database.prepare('SELECT total(records) AS records FROM lanes').get() as {
            records: number
          }
          expect(records).toBe(kept.length)
          expect(database.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
        })
      }
    },
  )

  it('are the oldest by receipt, at most 400 and 1 MiB in a step, but at least one', async () => {
    await logs(500)
    expect(await storage.records.forget(noon)).toBe(0)
    expect(await storage.records.forget(noon + 1)).toBe(400)
    expect(await storage.records.forget(noon + 1)).toBe(100)
    await logs(3, { message: 'x'.repeat(500_000) })
    await logs(1, { message: 'x'.repeat(3_000_000) })
    expect(await storage.records.forget(noon + 1)).toBe(2)
    expect(await storage.records.forget(noon + 1)).toBe(1)
    expect(await storage.records.forget(noon + 1)).toBe(1)
    expect(await storage.records.forget(noon + 1)).toBe(0)
  })

  it('do not give their ids to others, not even after a restart, and a live reader at one of them reads on', async () => {
    await logs(3)
    const { list } = await storage.records.read({ ...logQuery, limit: 1 })
    const position = await storage.records.position({ bucket: 'demo' })
    expect(position.logs).toBe(list[0]!.id)
    await forgetAll(noon + 1)
    expect(await storage.records.position({ bucket: 'demo' })).toMatchObject({ logs: 3, values: 3 })
    await storage.close()
    open()
    await logs(2, { message: 'new' })
    const arrivals = await storage.records.arrivals({ ...logQuery, after: position.logs, limit: 10 })
    expect(JSON.parse(arrivals.json).map(({ id, message }: typeof log & { id: number }) => [id, message])).toEqual([
      [4, 'new'],
      [5, 'new'],
    ])
  })

  it('are known by their idempotency keys', async () => {
    const record = { kind: 'logs', bucket: 'demo', idempotencyKey: 'key', record: log } as const
    await append([record])
    await forgetAll(noon + 1)
    await append([record])
    expect((await storage.records.read({ ...logQuery, limit: 1 })).total).toBe(0)
    expect(storage.records.repeated('demo').logs).toBe(1)
  })

  it('are not taken from the counts of errors where they came before these, or went as the least recent', async () => {
    const errors = (messages: readonly string[]) =>
      append(
        messages.map((message) => ({
          kind: 'logs',
          bucket: 'demo',
          idempotencyKey: undefined,
          record: { ...log, level: 'error', message },
        })),
      )
    const counts = async (limit: number) => {
      const { total, list } = await storage.records.errors({ bucket: 'demo', limit, nowMs: noon })
      return [total, ...list.map(({ message, count }) => [message, count])]
    }
    const name = (number: number) => [...String(number)].map((digit) => 'abcdefghij'[Number(digit)]).join('')
    await errors(['a', 'a', 'b'])
    // So an upgrade leaves the tables.
    await storage.close()
    data.inDatabase((database) => database.exec('DELETE FROM errors; DELETE FROM error_steps; DELETE FROM error_kinds'))
    open()
    vi.setSystemTime(noon + hour)
    await errors(['a'])
    expect(await counts(9)).toEqual([1, ['a', 1]])
    await forgetAll(noon + 1)
    expect(await counts(9)).toEqual([1, ['a', 1]])
    await errors(Array.from({ length: maxKinds + 4 }, (_, number) => name(number)))
    // The kind of "a" is among the least recent.
    const total = maxKinds + 4 - goneAtOnce.kinds + 1
    expect((await counts(1)).slice(0, 2)).toEqual([total, [otherKinds.message, goneAtOnce.kinds + 1]])
    vi.setSystemTime(noon + 2 * hour)
    await errors([name(3), name(3)])
    expect(await counts(2)).toEqual([total + 1, [otherKinds.message, goneAtOnce.kinds + 1], [name(3), 2]])
    await forgetAll(noon + 2 * hour)
    expect(await counts(9)).toEqual([1, [name(3), 2]])
    await forgetAll(noon + 3 * hour)
    expect(await counts(9)).toEqual([0])
    data.inDatabase((database) => expectErrors(database, []))
  })

  it('make room for names that found none, once all records without a name are gone', async () => {
    const named = (count: number, prefix: string) =>
      append(
        Array.from({ length: count }, (_, index) => ({
          kind: 'logs',
          bucket: 'demo',
          idempotencyKey: undefined,
          record: { ...log, appName: `${prefix}${index}` },
        })),
      )
    const total = async (appName: string) => {
      const { total } = await storage.records.read({ ...logQuery, limit: 1, appName })
      return total
    }
    const known = (name: string) =>
      data.inDatabase((database) =>
        database.prepare('SELECT records FROM names WHERE name = ?').get(JSON.stringify(name)),
      )
    await named(1000, 'none')
    await forgetAll(noon + 1)
    await named(1000, 'first')
    expect(known('first999')).toEqual({ records: 1 })
    vi.setSystemTime(noon + hour)
    await named(1, 'late')
    expect(known('late0')).toBe(undefined)
    await forgetAll(noon + 1)
    vi.setSystemTime(noon + 2 * hour)
    await named(1, 'late')
    // One of its records was not counted.
    expect(known('late0')).toBe(undefined)
    expect(await total('late0')).toBe(2)
    const absent = await storage.records.read({ ...logQuery, limit: 1, appName: 'late0', text: 'absent' })
    expect(absent).toEqual({ total: 0, list: [] })
    await forgetAll(noon + hour + 1)
    await named(1, 'late')
    expect(await total('late0')).toBe(2)
    await forgetAll(noon + 3 * hour)
    await named(1, 'late')
    expect(known('late0')).toEqual({ records: 1 })
  })
})
