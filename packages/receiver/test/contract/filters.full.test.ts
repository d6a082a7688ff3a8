import { expect, it } from 'vitest'
import { everything } from '../../../../test/support/full.js'
import { seeded } from '../../../../test/support/seeded.js'
import type { RecordFilter, RecordKind, StoredRecord } from '../../dist/storage/record-storage.js'
import { countsOf, facetsOf, inOrder, matches } from './oracle.js'
import { conditionsOf, randomFilter, randomRecord, someOf } from './random-records.js'
import { asSent, readAll } from './reading.js'
import { onEachStore, type StoreUnderTest, times } from './stores.js'

const seed = everything ? Date.now() % 1_000_000 : 20
const stored = everything ? 2000 : 400
const combined = everything ? 400 : 60
const kinds = ['logs', 'values'] as const
const steps = [undefined, 60_000, 3_600_000, 7 * 60_000, 90 * 60_000]

/** Stores random records, and reads them back: the oracle filters what it reads. */
async function storeRandomRecords(store: StoreUnderTest, kind: RecordKind) {
  const random = seeded(seed)
  const bucket = store.bucket()
  const sent = times(stored, (number) => randomRecord(random, { kind, bucket, number }))
  await store.append(sent.slice(0, 100))
  for (const { records } of store.instances) await records.read({ kind, bucket, limit: 1, text: 'order' })
  await store.append(sent.slice(100))
  const all = await readAll(store.other.records, { kind, bucket })
  const byNumber = (a: { runtimeVersion?: unknown }, b: { runtimeVersion?: unknown }) =>
    Number(a.runtimeVersion) - Number(b.runtimeVersion)
  expect(all.map(asSent).sort(byNumber)).toEqual(sent.map(({ record }) => record))
  return { random, bucket, all }
}

async function expectReads(
  store: StoreUnderTest,
  { filter, all, limit }: { filter: RecordFilter; all: readonly StoredRecord[]; limit: number },
): Promise<void> {
  const wanted = all.filter((record) => matches(record, filter))
  const { records } = limit % 2 === 0 ? store.one : store.other
  const read = await readAll(records, { ...filter, limit })
  const title = `seed ${seed}, ${JSON.stringify(filter)}`
  expect(
    read.map(({ id }) => id),
    title,
  ).toEqual(wanted.map(({ id }) => id))

  const { total, totalIsAtLeast } = await records.read({ ...filter, limit: 1 })
  if (totalIsAtLeast) expect(wanted.length, title).toBeGreaterThan(total)
  else expect(total, title).toBe(wanted.length)

  const stepMs = steps[limit % steps.length]
  const counts = await records.counts({ ...filter, ...(stepMs === undefined ? {} : { stepMs }) })
  const wantedCounts = countsOf(wanted, { kind: filter.kind, stepMs })
  expect(
    counts.values.map((each) => each.records),
    title,
  ).toEqual(counts.values.map((each) => each.records).sort((a, b) => b - a))
  expect(inOrder(counts), `${title}, steps of ${stepMs} ms`).toEqual(inOrder(wantedCounts))
  expect(await records.facets({ ...filter, limit }), title).toEqual(facetsOf(wanted.slice(0, limit)))
}

onEachStore((store) => {
  it.each(kinds)('reads and counts the %s that a filter means', async (kind) => {
    const { random, bucket, all } = await storeRandomRecords(store, kind)
    const names = conditionsOf(kind)
    const check = async (chosen: typeof names) => {
      const filter = { kind, bucket, ...randomFilter(random, chosen) }
      await expectReads(store, { filter, all, limit: 1 + Math.floor(random() * 150) })
    }
    await check([])
    for (const name of names) for (let time = 0; time < 5; time++) await check([name])
    for (let number = 0; number < combined; number++) await check(someOf(random, names, 0.3))
  })
})
