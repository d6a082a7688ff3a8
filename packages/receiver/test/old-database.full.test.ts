import { readFileSync } from 'node:fs'
import { describe, expect, it, vi } from 'vitest'
import { halfWay } from '../dist/storage/sqlite/first-version.js'
import { migrate, newestVersion, versionOf } from '../dist/storage/sqlite/migrations.js'
import { dataFolder } from './data-folder.js'
import { fillFirstStore, firstTables, recordsOf } from './first-store.js'
import { article, log, startReceiverForTest, value } from './support.js'

/** A text index of the version with series, that has indexed all records. */
const oldTexts = `
  CREATE VIRTUAL TABLE texts.words USING fts5(message, labels, content = '', columnsize = 0);
  CREATE TABLE texts.progress (source TEXT NOT NULL, last_id INTEGER NOT NULL);
  INSERT INTO texts.progress SELECT id, 7 FROM main.identity;
  INSERT INTO texts.words (rowid, message, labels) VALUES (-1, 'one two', 'l1 s1');
`
const day = 24 * 60 * 60 * 1000

const data = dataFolder()

describe('a database of the version before content', () => {
  it('is opened with all its records, their ids, counts and idempotency keys', async () => {
    const now = Date.now()
    const records = [
      {
        kind: 'logs',
        record: { ...log, level: 'warn', message: 'one\u0000 \ud800', eventId: 7 },
        at: now - 2 * day,
        key: 'old',
      },
      {
        kind: 'logs',
        record: { ...log, level: 'warn', message: 'two words', eventId: 7, env: 'qa' },
        at: now - 1000,
        key: 'new',
      },
      { kind: 'values', record: { ...value, eventId: 1.5 }, at: now, key: null },
      { kind: 'logs', record: { ...log, timeStamp: 1_600_000_000, message: 'three words' }, at: now, key: null },
    ]
    data.inDatabase((database) => {
      database.exec(firstTables)
      const insert = database.prepare('INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
      for (const [index, { kind, record, at, key }] of records.entries()) {
        const { level = null, eventId = null } = record as { level?: string; eventId?: number }
        insert.run(index + 10, kind, 'demo', level, eventId, at, key, JSON.stringify(record))
      }
    })

    const receiver = await startReceiverForTest({ data: data.path })
    const read = async (query: string) => (await receiver.call('GET', `/api/${query}`)).body
    const ids = async (query: string) => {
      const { total, list } = await read(query)
      return { total, ids: list.map(({ id }: { id: number }) => id) }
    }
    const { record, at } = records[0]!
    expect((await read('logs/demo')).list.at(-1)).toEqual({ id: 10, receivedAt: new Date(at).toISOString(), ...record })
    expect(await ids('logs/demo')).toEqual({ total: 3, ids: [13, 11, 10] })
    expect(await ids('logs/demo?level=warn')).toEqual({ total: 2, ids: [11, 10] })
    expect(await ids('logs/demo?eventId=7&env=qa')).toEqual({ total: 1, ids: [11] })
    expect(await ids('values/demo?eventId=1.5')).toEqual({ total: 1, ids: [12] })
    expect(await ids('logs/demo?text=words')).toEqual({ total: 2, ids: [13, 11] })
    expect(await ids('logs/demo?until=2020-12-31T00:00:00Z')).toEqual({ total: 1, ids: [13] })

    // The receiver knows the attempts of the last 24 hours, and no older ones.
    for (const key of ['old', 'new']) await receiver.call('POST', '/logs/demo', log, { 'idempotency-key': key })
    expect((await read('logs/demo')).total).toBe(4)
    await receiver.call('POST', '/logs/demo', records[1]!.record)
    expect(await ids('logs/demo?eventId=7&env=qa')).toEqual({ total: 2, ids: [15, 11] })
    expect((await receiver.call('POST', '/api/projects/demo/content-types', article)).status).toBe(201)
    await receiver.close()
    data.inDatabase((database) => {
      expect(database.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
    })
  })
})

describe('the upgrade of version 1', () => {
  it('goes on after an interruption of each step, and programs that do not know the move refuse the store', () => {
    data.inDatabase((database) => {
      fillFirstStore(database, { count: 3, messageLength: 3_000_000 })
      const before = recordsOf(database)
      const exec = database.exec.bind(database)
      let commits = 0
      vi.spyOn(database, 'exec').mockImplementation((sql) => {
        if (sql === 'COMMIT' && ++commits % 2 === 0) throw new Error('interrupted')
        exec(sql)
      })
      // The move begins, and each record needs a step of its own.
      const move = [halfWay, halfWay, halfWay, halfWay]
      const steps = [...move, ...Array.from({ length: newestVersion - 3 }, (_, index) => 4 + index)]
      const versions: number[] = []
      while (versionOf(database) !== newestVersion) {
        if (versions.length < steps.length - 1) expect(() => migrate(database)).toThrow('interrupted')
        else migrate(database)
        versions.push(versionOf(database))
      }
      expect(versions).toEqual(steps)
      expect(halfWay).toBeGreaterThan(newestVersion)
      expect(recordsOf(database)).toEqual(before)
    })
  })
})

describe('a database of the version with series', () => {
  it('is opened with all its records, counts and known values, and its text index is made again', async () => {
    data.inDatabase((database) => {
      database.exec(readFileSync(new URL('./fixtures/version-3.sql', import.meta.url), 'utf8'))
      database.exec(`ATTACH '${data.file('receiver-texts.sqlite')}' AS texts`)
      database.exec(oldTexts)
    })
    const receiver = await startReceiverForTest({ data: data.path })
    const read = async (query: string) => (await receiver.call('GET', `/api/${query}`)).body
    const ids = async (query: string) => {
      const { total, list, hint } = await read(query)
      return [total, list.map(({ id }: { id: number }) => id), hint]
    }
    const check = async (added: number) => {
      expect(await ids('logs/demo?limit=1')).toEqual([4 + added, [added === 0 ? 4 : 8], undefined])
      expect(await ids('logs/demo?appName=shop&before=8')).toEqual([2 + added, [2, 1], undefined])
      expect(await ids('logs/demo?text=two&machineName=a')).toEqual([1, [1], undefined])
      expect(await ids('logs/demo?eventId=7.5')).toEqual([1, [3], undefined])
      expect(await ids(`logs/demo?appName=${encodeURIComponent('odd\0 ')}`)).toEqual([
        0,
        [],
        `no record of bucket demo has appName odd\0 ; known: shop, odd\0 \ud800, web; did you mean odd\0 \ud800?`,
      ])
      expect(await ids('values/demo?eventId=1e21')).toEqual([1, [7], undefined])
      const { totals, list } = await read('logs/demo/counts?step=1m')
      expect(totals).toEqual({ info: 2 + added, warn: 1, error: 1 })
      expect(list).toEqual([
        { time: '2020-09-13T12:26:00.000Z', counts: { info: 1 } },
        { time: '2023-11-14T22:13:00.000Z', counts: { info: 1 + added } },
        { time: '2023-11-14T22:14:00.000Z', counts: { warn: 1, error: 1 } },
      ])
      expect((await read('logs/demo/counts?step=1h')).list[1].counts).toEqual({ info: 1 + added, warn: 1, error: 1 })
      expect(await read('values/demo/counts')).toMatchObject({ total: 3, totals: { 1: 2, 1e21: 1 } })
      expect((await read('facets/logs?bucket=demo')).apps).toMatchObject({ shop: 2 + added, web: 1 })
    }
    await check(0)
    await receiver.call('POST', '/logs/demo', log)
    await check(1)
    await receiver.close()
  })
})

describe('a database of a later version', () => {
  it('is refused, and left as it is', async () => {
    data.inDatabase((database) => database.exec('PRAGMA user_version = 1000'))
    await expect(startReceiverForTest({ data: data.path })).rejects.toThrow(
      /cannot use the data folder .*a newer version/,
    )
    data.inDatabase((database) => expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: 1000 }))
  })
})
