import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KeptForError } from '../../src/engine/kept-for-error.js'
import { superLinear } from '../support/linear-time.js'
import { VirtualClock } from '../support/virtual-clock.js'

interface Line {
  readonly name: string
  readonly bytes: number
}

function keeping(limits: { lines?: number; windowMs?: number; maxBytes?: number } = {}) {
  const clock = new VirtualClock()
  const gone: string[] = []
  const plan = {
    lines: 3,
    windowMs: 1000,
    maxBytes: 1000,
    ...limits,
    clock,
    unneeded: ({ name }: Line) => void gone.push(name),
  }
  const kept = new KeptForError<Line>(plan)
  return {
    clock,
    gone,
    kept,
    keep: (id: string, name: string, bytes = 1) => kept.keep(id, { name, bytes }),
    take: (id: string) => kept.take(id).map(({ name }) => name),
  }
}

describe('lines that are kept for an error', () => {
  it('are given in their order, once, and each id has its own', () => {
    const { keep, take, gone } = keeping()
    keep('a', 'a1')
    keep('b', 'b1')
    keep('a', 'a2')
    expect([take('a'), take('a'), take('b'), take('c')]).toEqual([['a1', 'a2'], [], ['b1'], []])
    expect(gone).toEqual([])
  })

  it('beyond the number of an id go, the oldest first', () => {
    const { keep, take, gone } = keeping({ lines: 2 })
    keep('b', 'b1')
    for (const name of ['a1', 'a2', 'a3']) keep('a', name)
    expect(gone).toEqual(['a1'])
    expect([take('a'), take('b')]).toEqual([['a2', 'a3'], ['b1']])
  })

  it('beyond the bytes of all go, the oldest first', () => {
    const { keep, take, gone } = keeping({ maxBytes: 100 })
    keep('a', 'a1', 60)
    keep('b', 'b1', 40)
    keep('c', 'c1', 30)
    expect(gone).toEqual(['a1'])
    keep('c', 'too large', 101)
    expect(gone).toEqual(['a1', 'b1', 'c1', 'too large'])
    expect(take('c')).toEqual([])
  })

  it('go when their time is over, without another line', async () => {
    const { keep, take, gone, clock } = keeping()
    keep('a', 'a1')
    await clock.advance(600)
    keep('a', 'a2')
    await clock.advance(400)
    expect(gone).toEqual(['a1'])
    await clock.advance(600)
    expect(gone).toEqual(['a1', 'a2'])
    expect(take('a')).toEqual([])
  })

  it('go at the end', () => {
    const { kept, keep, gone } = keeping()
    keep('a', 'a1')
    keep('b', 'b1')
    kept.end()
    expect(gone).toEqual(['a1', 'b1'])
  })

  it('take the same time each, however many there are', () => {
    const replace = (length: number) => {
      const { keep } = keeping({ lines: length, maxBytes: length })
      for (let at = 0; at < length; at++) keep(`before ${at}`, 'old')
      return () => {
        for (let at = 0; at < length; at++) keep(`after ${at}`, 'new')
      }
    }
    expect(superLinear(replace)).toBeUndefined()
  })

  it('each go once or are given once, whatever comes', async () => {
    const step = fc.record({
      id: fc.constantFrom('a', 'b', 'c'),
      act: fc.constantFrom('keep', 'keep', 'keep', 'take', 'wait'),
      bytes: fc.integer({ min: 0, max: 60 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { kept, keep, take, gone, clock } = keeping({ maxBytes: 100 })
        const given: string[] = []
        let last = 0
        for (const { id, act, bytes } of steps) {
          if (act === 'keep') keep(id, `${id}${++last}`, bytes)
          else if (act === 'wait') await clock.advance(bytes * 10)
          else {
            const names = take(id)
            expect(names.every((name) => name.startsWith(id))).toBe(true)
            expect(names.map((name) => Number(name.slice(1)))).toEqual(
              names.map((name) => Number(name.slice(1))).sort((a, b) => a - b),
            )
            expect(names.length).toBeLessThanOrEqual(3)
            given.push(...names)
          }
        }
        kept.end()
        expect([...given, ...gone].map((name) => Number(name.slice(1))).sort((a, b) => a - b)).toEqual(
          Array.from({ length: last }, (_, index) => index + 1),
        )
      }),
    )
  })
})
