import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RepeatedText } from '../../src/http/repeated-text.js'
import { runs } from '../support/full.js'
import { superLinear } from '../support/linear-time.js'

function counted(once: string, text: string, { at = 0, most = Number.POSITIVE_INFINITY } = {}): number {
  const repeated = new RepeatedText()
  repeated.set(once)
  return repeated.countIn(text, { at, most })
}

describe('a repeated text', () => {
  it('is counted as often as it stands behind itself, in any text, again and again', () => {
    const piece = fc.stringMatching(/^[ab]{1,6}$/)
    const times = fc.nat({ max: 300 })
    fc.assert(
      fc.property(piece, fc.array(fc.tuple(times, piece), { maxLength: 6 }), times, (once, parts, most) => {
        const repeated = new RepeatedText()
        repeated.set(once)
        for (const [count, end] of parts) {
          const text = `x${once.repeat(count)}${end}`
          let expected = 0
          while (expected < most && text.startsWith(once, 1 + expected * once.length)) expected++
          expect(repeated.countIn(text, { at: 1, most })).toBe(expected)
        }
      }),
      { seed: 2, numRuns: runs({ some: 150, all: 5000 }) },
    )
  })

  it('is forgotten when another one is set', () => {
    const repeated = new RepeatedText()
    repeated.set('ab')
    expect(repeated.countIn('abababc', { at: 0, most: 9 })).toBe(3)
    repeated.set('abc')
    expect(repeated.length).toBe(3)
    expect(repeated.countIn('abababc', { at: 0, most: 9 })).toBe(0)
    expect(repeated.countIn('abababc', { at: 4, most: 9 })).toBe(1)
  })

  it('may be longer than the memory that its repetitions take', () => {
    const long = 'x'.repeat(70_000)
    expect(counted(long, long + long + long.slice(1))).toBe(2)
    expect(counted('ab', 'ab'.repeat(100_000))).toBe(100_000)
    expect(counted('ab', `${'ab'.repeat(77_777)}a${'ab'.repeat(9)}`)).toBe(77_777)
  })

  it('is counted in time that is linear in the text', () => {
    const work = (length: number) => {
      const text = 'ab'.repeat(length)
      const repeated = new RepeatedText()
      return () => {
        repeated.set('ab')
        // Each count ends at the bound, and the next one goes on behind it.
        for (let at = 0; at < text.length; ) at += 2 * repeated.countIn(text, { at, most: 3 })
      }
    }
    expect(superLinear(work)).toBeUndefined()
  })
})
