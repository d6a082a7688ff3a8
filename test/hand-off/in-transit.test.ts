import { describe, expect, it } from 'vitest'
import { InTransit } from '../../src/hand-off/in-transit.js'

describe('lines in transit', () => {
  it('are few pieces, even when each came alone', () => {
    const book = { taken: 0 }
    const kept = new InTransit(book)
    const lines = Array.from({ length: 10_000 }, (_, number) => `v${number},1\n`)
    for (const line of lines) kept.add(Buffer.from(line), 1)
    expect(kept.pieces.length).toBeLessThan(20)
    expect(Buffer.concat(kept.pieces).toString()).toBe(lines.join(''))
    expect(kept.bytes).toBe(lines.join('').length)
  })

  it('are exactly those that were not taken, whatever was joined', () => {
    const book = { taken: 0 }
    const kept = new InTransit(book)
    const lines = Array.from(
      { length: 1000 },
      (_, number) => `v${number},${'1'.repeat(number % 7 === 0 ? 3000 : 20)}\n`,
    )
    const left = [...lines]
    for (const [number, line] of lines.entries()) {
      const before = kept.pieces.map((piece) => piece.toString())
      const pieces = kept.pieces
      kept.add(Buffer.from(line), 1)
      expect(pieces.map((piece) => piece.toString())).toEqual(before)
      if (number % 50 !== 49) continue
      book.taken += 30
      kept.trim()
      left.splice(0, 30)
      if (number % 100 === 99) expect(`${kept.removeFirst()}\n`).toBe(left.shift())
      expect(Buffer.concat(kept.pieces).toString()).toBe(
        left.slice(0, kept.pieces.join('').split('\n').length - 1).join(''),
      )
      expect(kept.bytes).toBe(Buffer.concat(kept.pieces).length)
    }
    expect(Buffer.concat(kept.pieces).toString()).toBe(left.join(''))
  })
})
