import { expect, it } from 'vitest'
import { hintFor } from '../../dist/query/hint.js'
import { readAll } from './reading.js'
import { newRecord, onEachStore, times } from './stores.js'

const series = 200_000
const atOnce = 20_000

onEachStore((store) => {
  it.each(['logs', 'values'] as const)(
    'reads %s of 200,000 different events, one of them, and how many there are',
    async (kind) => {
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
      expect(unknown).toEqual({ total: 0, list: [] })
      expect(await hintFor({ ...lane, eventId: series }, { records })).toContain(`has eventId ${series}`)
      const counts = await records.counts(lane)
      expect(counts.total).toBe(series)
      expect(counts.values).toHaveLength(kind === 'logs' ? 1 : 1000)
    },
  )
})
