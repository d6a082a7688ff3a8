import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OutgoingText } from '../../src/hand-off/outbox.js'

describe('the text of an outbox', () => {
  it('comes out as it went in, at any length, and a piece that was taken never changes', () => {
    const line = fc.tuple(fc.string({ unit: 'binary', maxLength: 20 }), fc.constantFrom(1, 300, 2000, 20_000))
    fc.assert(
      fc.property(fc.array(fc.array(line, { maxLength: 5 }), { maxLength: 12 }), (turns) => {
        const outgoing = new OutgoingText()
        const pieces = turns.map((lines) => {
          const texts = lines.map(([text, times]) => `${text.repeat(times)}\n`)
          for (const text of texts) outgoing.append(text)
          return { expected: texts.join(''), taken: outgoing.take() }
        })
        expect(outgoing.length).toBe(0)
        for (const { expected, taken } of pieces) expect(taken.equals(Buffer.from(expected))).toBe(true)
      }),
      { numRuns: 60 },
    )
  })
})
