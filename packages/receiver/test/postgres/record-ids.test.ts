import { describe, expect, it } from 'vitest'
import { dayOf, firstIdOf, msOfId, RecordIds, slotOfId, writerSlots } from '../../dist/storage/postgres/record-ids.js'

const now = Date.parse('2026-11-23T12:00:00Z')

describe('ids of records', () => {
  it('rise within a millisecond, over its end, and where the clock goes back', () => {
    let ms = now
    const ids = new RecordIds({ slot: 5, nowMs: () => ms })
    const taken = Array.from({ length: 1000 }, () => ids.take())
    ms -= 86_400_000
    taken.push(...Array.from({ length: 10 }, () => ids.take()))
    ms = now + 1000
    taken.push(ids.take())
    expect(taken).toEqual([...new Set(taken)].sort((one, other) => one - other))
    expect(new Set(taken.map(slotOfId))).toEqual(new Set([5]))
    expect(msOfId(taken[0]!)).toBe(now)
    expect(msOfId(taken.at(-1)!)).toBe(now + 1000)
  })

  it('of two slots are never the same', () => {
    const [one, other] = [0, writerSlots - 1].map((slot) => new RecordIds({ slot, nowMs: () => now }))
    const taken = Array.from({ length: 500 }, () => [one!.take(), other!.take()]).flat()
    expect(new Set(taken).size).toBe(1000)
  })

  it('are whole numbers of JavaScript for thirty years', () => {
    const last = new RecordIds({ slot: writerSlots - 1, nowMs: () => Date.parse('2058-01-01') }).take()
    expect(Number.isSafeInteger(last)).toBe(true)
  })

  it('begin a day with its first millisecond', () => {
    const midnight = Date.parse('2026-11-24T00:00:00Z')
    expect(dayOf(msOfId(firstIdOf(midnight)))).toBe(dayOf(midnight))
    expect(dayOf(msOfId(firstIdOf(midnight) - 1))).toBe(dayOf(midnight) - 1)
  })
})
