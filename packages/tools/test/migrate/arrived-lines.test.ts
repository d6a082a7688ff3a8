import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LineSet } from '../../src/migrate/arrived-lines.js'

describe('a set of lines', () => {
  it('adds, deletes and finds lines', () => {
    const line = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 4080, max: 4110 }))
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), line)), (steps) => {
        const [lines, model] = [new LineSet(), new Set<number>()]
        for (const [adds, number] of steps) {
          const had = model.has(number)
          const changed = adds ? lines.add(number) : lines.delete(number)
          expect(changed).toBe(adds ? !had : had)
          if (adds) model.add(number)
          else model.delete(number)
        }
        expect(lines.size).toBe(model.size)
        const all = Array.from({ length: 4120 }, (_, index) => index + 1)
        expect(all.filter((number) => lines.has(number))).toEqual([...model].sort((a, b) => a - b))
      }),
      { numRuns: 30 },
    )
  })

  it('holds many lines, and loses lines again', () => {
    const lines = new LineSet()
    for (let number = 1; number <= 10_000; number++) lines.add(number)
    expect(lines.size).toBe(10_000)
    expect([1, 4096, 4097, 10_000].map((number) => lines.has(number))).toEqual([true, true, true, true])
    expect(lines.has(10_001)).toBe(false)
    expect(lines.add(77)).toBe(false)
    expect(lines.delete(77)).toBe(true)
    expect([76, 77, 78].map((number) => lines.has(number))).toEqual([true, false, true])
    expect(lines.add(77)).toBe(true)
    expect(lines.size).toBe(10_000)
    expect(lines.add(5_000_000)).toBe(true)
    expect([4_999_999, 5_000_000, 5_000_001].map((number) => lines.has(number))).toEqual([false, true, false])
    expect(lines.size).toBe(10_001)
  })
})
