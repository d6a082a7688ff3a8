import { expect, it } from 'vitest'
import { everything, full } from '../../../../test/support/full.js'
import { seeded } from '../../../../test/support/seeded.js'
import { meetsQuery } from '../../dist/query/meets-query.js'
import { parseQuery } from '../../dist/query/parse-query.js'
import { withQuery } from '../../dist/storage/records/filter-with-query.js'
import { knownLog, randomLog, randomQuery } from './random-queries.js'
import { readAll } from './reading.js'
import { newRecord, onEachStore, times } from './stores.js'

const seed = everything ? Date.now() % 1_000_000 : 36
const stored = everything ? 100_000 : full ? 5000 : 1000
const asked = everything ? 2000 : full ? 400 : 150
const atOnce = 1000

onEachStore((store) => {
  it('finds what random queries mean among random records', async () => {
    const random = seeded(seed)
    const bucket = store.bucket()
    const made = times(stored, (number) => randomLog(random, { bucket, number }))
    for (let at = 0; at < stored; at += atOnce) await store.append(made.slice(at, at + atOnce).map(({ log }) => log))
    const all = await readAll(store.other.records, { kind: 'logs', bucket, limit: 1000 })
    const known = all.map((record) => knownLog(record, made[Number(record.runtimeVersion)]!.context))
    let found = 0
    for (let number = 0; number < asked; number++) {
      const { written, means } = randomQuery(random)
      const title = `seed ${seed}, query ${number}: ${written}`
      const filter = withQuery({ kind: 'logs', bucket }, parseQuery(written, Date.now()))
      const wanted = known.filter(means).map(({ record }) => record.id)
      const { records } = number % 2 === 0 ? store.one : store.other
      const limit = 1 + Math.floor(random() * 1000)
      const { list, total, totalIsAtLeast } = await records.read({ ...filter, limit })
      expect(
        list.map(({ id }) => id),
        title,
      ).toEqual(wanted.slice(0, limit))
      if (totalIsAtLeast) expect(wanted.length, title).toBeGreaterThan(total)
      else expect(total, title).toBe(wanted.length)
      if (number % 8 === 0) {
        expect((await records.counts(filter)).total, title).toBe(Math.min(wanted.length, 100_000))
        const read = await readAll(records, { ...filter, limit: 997 })
        expect(
          read.map(({ id }) => id),
          title,
        ).toEqual(wanted)
      }
      if (wanted.length > 0) found++
    }
    expect(found).toBeGreaterThan(asked / 3)
  })

  it('finds fields with any name and any value', async () => {
    const bucket = store.bucket()
    const names = [
      'a',
      '😀',
      '\u{10ffff}b',
      '\ud83d',
      '\0',
      'a b',
      'a"\\',
      '__proto__',
      'a.b',
      '',
      'É',
      'z\u0001',
      'x'.repeat(200),
    ]
    const values = [
      '5',
      '-0',
      '5e-324',
      '-1.7976931348623157e308',
      '1e400',
      '1e21',
      'null',
      'true',
      '"5"',
      '"😀 b"',
      '"\\ud83d"',
      '"\\u0000"',
      '""',
      '[4,[6,"c"]]',
    ]
    const contexts = names.flatMap((name) => values.map((value) => `{${JSON.stringify(name)}:${value}}`))
    const deep = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
    const large = `{"a":"${'b'.repeat(500_000)}","c":5}`
    await store.append(
      [...contexts, deep, large].map((context) => newRecord('logs', { bucket, message: `m ${context}` })),
    )
    const all = await readAll(store.other.records, { kind: 'logs', bucket, limit: 1000 })
    const tests = [
      ':5',
      '>4',
      '<0',
      '<=0',
      '>0',
      '<1e400',
      '>-1e400',
      ':1e400',
      ':1e21',
      ':null',
      ':"5"',
      ':"😀 b"',
      ':😀*',
      ':"\ud83d"',
      ':\ud83d*',
      ':\0*',
      ':""',
      ':*',
      ':5*',
      ':t*',
      ':c',
      '>=6',
    ]
    for (const name of names) {
      const written = `"${name.replaceAll(/["\\]/g, '\\$&')}"`
      for (const test of tests) {
        for (const q of [written + test, `-${written}${test}`]) {
          const query = parseQuery(q, 0)!
          const wanted = all.filter((record) => meetsQuery(record as never, query)).map(({ id }) => id)
          const { list } = await store.one.records.read({ kind: 'logs', bucket, query, limit: 1000 })
          expect(
            list.map(({ id }) => id),
            q,
          ).toEqual(wanted)
        }
      }
    }
  })
})
