import { createSluice, type TrackOptions } from 'sluice'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { rowsOf } from '../support/full.js'
import { startTestReceiver, type TestReceiver } from '../support/receiver.js'

let receiver: TestReceiver
beforeEach(async () => {
  receiver = await startTestReceiver()
})
afterEach(() => receiver.close())

const stored = async () => (await receiver.values()).map(({ eventId, timeStamp }) => [eventId, timeStamp])

it('an event with a key is discarded while Sluice is off', () => {
  const sluice = createSluice()
  sluice.track(7, { key: 'evt_1' })
  expect(sluice.stats()).toMatchObject({ accepted: 0, invalid: 0 })
})

describe.each(rowsOf(['worker', 'inline'] as const, (mode) => mode === 'inline'))(
  'an event with a key, mode %s',
  (mode) => {
    it('is sent as often as it is tracked, and stored once', async () => {
      const sluice = createSluice({ ...receiver.options, mode })
      sluice.track(7, { key: 'evt_1', timeStamp: 1_700_000_000_000 })
      sluice.track(7, { key: 'evt_1', timeStamp: 1_700_000_000_001 })
      expect(await sluice.close()).toMatchObject({ accepted: 2, delivered: 2, dropped: { closed: 0 } })
      expect((await stored()).map(([eventId]) => eventId)).toEqual([7])
    })

    it('is another one where the event, the key or the kind of key differs', async () => {
      const sluice = createSluice({ ...receiver.options, mode })
      sluice.track(7, { key: 'evt_1' })
      sluice.track(8, { key: 'evt_1' })
      sluice.track(7, { key: 'evt_2' })
      sluice.track(7)
      sluice.track(7, {})
      sluice.track(7, { key: undefined })
      await sluice.close()
      expect((await stored()).map(([eventId]) => eventId).sort()).toEqual([7, 7, 7, 7, 7, 8])
    })

    it('is taken with the longest key', async () => {
      const sluice = createSluice({ ...receiver.options, mode })
      for (let time = 0; time < 2; time++) sluice.track(2 ** 53 - 1, { key: '~'.repeat(200) })
      expect(await sluice.close()).toMatchObject({ delivered: 2 })
      expect(await stored()).toHaveLength(1)
    })

    it('is dropped after the close', async () => {
      const sluice = createSluice({ ...receiver.options, mode, onError: () => {} })
      await sluice.close()
      sluice.track(7, { key: 'late' })
      expect(sluice.stats()).toMatchObject({ accepted: 1, dropped: { closed: 1 } })
    })

    it('is counted as invalid with a bad key, and each kind of mistake is told once', async () => {
      const told: string[] = []
      const sluice = createSluice({
        ...receiver.options,
        mode,
        onError: ({ code, message }) => told.push(`${code} ${message}`),
      })
      for (const key of ['', 'a b', 'é', 'a\r\nb', 'k'.repeat(201), 'k'.repeat(300), 7, 8, null]) {
        sluice.track(7, { key: key as string })
      }
      sluice.track(7, { timeStamp: 1_700_000_000_000_000 })
      const hostile = {
        get key(): string {
          throw new Error('getter')
        },
      }
      for (const options of [null, hostile]) sluice.track(7, options as unknown as TrackOptions)
      expect(await sluice.close()).toMatchObject({ accepted: 0, invalid: 12 })
      const rule = 'SLUICE_INVALID_EVENT track: expected key to be 1 to 200 visible ASCII characters, got'
      expect(told.sort()).toEqual(
        [
          'SLUICE_INVALID_EVENT track: expected timeStamp to be a Date or milliseconds since 1970',
          'SLUICE_INVALID_EVENT track: expected timeStamp to be a Date or milliseconds since 1970, got 1700000000000000',
          `${rule} ""`,
          `${rule} "a b"`,
          `${rule} "${'k'.repeat(100)}…"`,
          `${rule} 7`,
          `${rule} null`,
        ].sort(),
      )
    })
  },
)
