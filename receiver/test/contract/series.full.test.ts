import { expect, it } from 'vitest'
import { readAll } from './reading.js'
import { newRecord, onEachStore, times } from './stores.js'

const series = 200_000
const atOnce = 20_000

/** The shortest of some runs, in ms: the machine may be busy. */
async function shortest(work: () => Promise<unknown>): Promise<number> {
  const taken: number[] = []
  for (let run = 0; run < 10; run++) {
    const begin = performance.now()
    await work()
    taken.push(performance.now() - begin)
  }
  return Math.min(...taken)
}

onEachStore((store) => {
  it.each(['logs', 'values'] as const)('reads %s of 200,000 different events as fast as those of one', async (kind) => {
    const bucket = store.bucket()
    for (let begin = 0; begin < series; begin += atOnce) {
      await store.append(times(atOnce, (number) => newRecord(kind, { bucket, eventId: begin + number })))
    }
    const { records } = store.other
    const lane = { kind, bucket } as const
    // The first use brings the index of words up to date.
    await records.read({ ...lane, limit: 1, eventId: 1 })
    expect(await readAll(records, { ...lane, eventId: 77_777 })).toMatchObject([{ eventId: 77_777 }])
    expect(await records.read({ ...lane, limit: 5 })).toMatchObject({ total: series })
    const unknown = await records.read({ ...lane, limit: 5, eventId: series })
    expect(unknown).toMatchObject({ total: 0, unknown: { field: 'eventId', value: series, known: [] } })
    const counts = await records.counts(lane)
    expect(counts.total).toBe(series)
    expect(counts.values).toHaveLength(kind === 'logs' ? 1 : 1000)
    for (const filter of [{}, { eventId: 77_777 }, { eventId: series }, { appName: 'shop' }]) {
      expect(
        await shortest(() => records.read({ ...lane, ...filter, limit: 100 })),
        JSON.stringify(filter),
      ).toBeLessThan(100)
    }
  })
})
