import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LineBytes } from '../../src/records/line-bytes.js'

/** Take the lines of a text that comes in these pieces. */
function linesOf(pieces: readonly (string | Buffer)[]): string[] {
  const lines = new LineBytes()
  const taken: string[] = []
  for (const piece of pieces) {
    if (typeof piece === 'string') lines.push(piece)
    else lines.pushBytes(piece)
    while (lines.next()) taken.push(lines.bytes.toString('utf8', lines.from, lines.end))
  }
  if (lines.last()) taken.push(lines.bytes.toString('utf8', lines.from, lines.end))
  return taken
}

const text = fc
  .array(fc.oneof(fc.string({ unit: 'grapheme', maxLength: 30 }), fc.constantFrom('', '😀', 'x'.repeat(9000))), {
    maxLength: 12,
  })
  .map((all) => all.map((each) => each.replaceAll('\n', '')).join('\n'))

describe('lines as bytes', () => {
  it('are the same however the characters come in pieces', () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat(9000), { minLength: 1, maxLength: 8 }), (whole, lengths) => {
        const characters = [...whole]
        const pieces: string[] = []
        for (let at = 0, each = 0; at < characters.length; each++) {
          const length = 1 + lengths[each % lengths.length]!
          pieces.push(characters.slice(at, at + length).join(''))
          at += length
        }
        const expected = whole.split('\n')
        if (expected.at(-1) === '') expected.pop()
        expect(linesOf(pieces)).toEqual(expected)
      }),
    )
  })

  it('are the same however their bytes come in pieces, cut within characters, too', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 5000 }), (whole, length) => {
        const bytes = Buffer.from(whole)
        const pieces: Buffer[] = []
        for (let at = 0; at < bytes.length; at += length) pieces.push(bytes.subarray(at, at + length))
        const expected = whole.split('\n')
        if (expected.at(-1) === '') expected.pop()
        expect(linesOf(pieces)).toEqual(expected)
      }),
    )
  })

  it('give back the memory that a long line has taken', () => {
    const lines = new LineBytes()
    lines.push(`${'x'.repeat(1_000_000)}\n`)
    expect(lines.next()).toBe(true)
    expect(lines.bytes.length).toBeGreaterThan(1_000_000)
    expect(lines.next()).toBe(false)
    lines.push('short\n')
    expect(lines.bytes.length).toBeLessThanOrEqual(262_144)
    expect(lines.next()).toBe(true)
    expect(lines.bytes.toString('utf8', lines.from, lines.end)).toBe('short')
  })
})
