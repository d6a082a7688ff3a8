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

  it('are the records without the lines between them, when an engine in this thread takes over', () => {
    const kept = new InTransit({ taken: 0 })
    kept.add(Buffer.from('s0,{}\nv1,1\n'), 1)
    kept.add(Buffer.from(`f1,500\n4${'x'.repeat(5000)}\n`), 1)
    expect(kept.removeAll()).toEqual(['v1,1', `4${'x'.repeat(5000)}`])
    expect({ pieces: kept.pieces, bytes: kept.bytes }).toEqual({ pieces: [], bytes: 0 })
  })

  it('lose the line at which a worker stopped, with those before it that carry no record', () => {
    const book = { taken: 0 }
    const kept = new InTransit(book)
    expect(kept.removeFirst()).toBeUndefined()
    kept.add(Buffer.from('v1,1\ns0,{}\nf1,5\nv2,2\nv3,3\n'), 3)
    kept.add(Buffer.from(`v4,${'4'.repeat(5000)}\n`), 1)
    book.taken = 1
    kept.trim()
    expect(kept.removeFirst()).toBe('v2,2')
    expect(Buffer.concat(kept.pieces).toString()).toBe(`v3,3\nv4,${'4'.repeat(5000)}\n`)
    // The next worker counts on: the line was never taken.
    book.taken = 2
    kept.trim()
    expect(Buffer.concat(kept.pieces).toString()).toBe(`v4,${'4'.repeat(5000)}\n`)
    expect(kept.bytes).toBe(5004)
    kept.add(Buffer.from('v5,5\n'), 1)
    book.taken = 3
    kept.trim()
    expect(Buffer.concat(kept.pieces).toString()).toBe('v5,5\n')
    kept.clear()
    expect(kept.bytes).toBe(0)
  })

  it('stay in step with the next worker after the loss of a line', () => {
    const book = { taken: 1 }
    const kept = new InTransit(book)
    kept.add(Buffer.from('v1,1\nv2,2\nv3,3\nv4,4\n'), 4)
    kept.trim()
    expect(kept.removeFirst()).toBe('v2,2')
    book.taken = 2
    kept.trim()
    expect(Buffer.concat(kept.pieces).toString()).toBe('v4,4\n')
  })

  it('are whole when a short line follows a very long one', () => {
    const kept = new InTransit({ taken: 0 })
    const lines = [`2${'x'.repeat(20_000)}\n`, 'v1,1\n']
    for (const line of lines) kept.add(Buffer.from(line), 1)
    expect(Buffer.concat(kept.pieces).toString()).toBe(lines.join(''))
  })
})
