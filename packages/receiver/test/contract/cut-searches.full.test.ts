import { expect, it } from 'vitest'
import { parseQuery } from '../../dist/query/parse-query.js'
import { readAll } from './reading.js'
import { newRecord, onEachStore, type StoreUnderTest, times } from './stores.js'

const records = 50_000
const atOnce = 5000

onEachStore((store) => {
  async function filled(under: StoreUnderTest): Promise<string> {
    const bucket = under.bucket()
    for (let at = 0; at < records; at += atOnce) {
      await under.append(
        times(atOnce, (number) => {
          const n = at + number
          return newRecord('logs', { bucket, message: `word {"n":${n}${n % 10_000 === 7 ? ',"rare":1' : ''}}` })
        }),
      )
    }
    return bucket
  }

  it('that have no time give what they have found, and go on from there', async () => {
    const bucket = await filled(store)
    const lane = { kind: 'logs', bucket } as const
    const all = (await readAll(store.one.records, { ...lane, limit: 1000 })).map((record) => ({ ...record }))
    const none = parseQuery('-word', 0)!
    const few = parseQuery('n<20', 0)!
    for (const [query, wanted] of [
      [none, []],
      [few, all.filter(({ message }) => Number(/"n":(\d+)/.exec(String(message))![1]) < 20)],
    ] as const) {
      const found: number[] = []
      let cuts = 0
      for (let before: number | undefined; ; ) {
        const page = await store.other.records.read({ ...lane, query, limit: 10, before, patienceMs: 0 })
        found.push(...page.list.map(({ id }) => id))
        if (page.incomplete) {
          cuts++
          expect(page.totalIsAtLeast).toBe(true)
        }
        const next: number | undefined = page.next ?? (page.list.length === 10 ? page.list.at(-1)!.id : undefined)
        if (next === undefined) break
        expect(next).toBeLessThan(before ?? Number.POSITIVE_INFINITY)
        before = next
      }
      expect(found).toEqual(wanted.map(({ id }) => id))
      expect(cuts).toBeGreaterThan(0)
      const whole = await store.other.records.read({ ...lane, query, limit: 10 })
      expect(whole).not.toHaveProperty('incomplete')
      expect(whole.total).toBe(wanted.length)
    }
  })

  it('by a rare field that is compared find all, however old', async () => {
    const bucket = await filled(store)
    const page = await store.other.records.read({ kind: 'logs', bucket, query: parseQuery('rare>=1', 0)!, limit: 10 })
    expect(page.total).toBe(records / 10_000)
  })
})
