import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { idBytes, KeptLines, lineBytes } from '../../src/volume/kept-lines.js'
import { superLinear } from '../support/linear-time.js'
import { VirtualClock } from '../support/virtual-clock.js'

/** Room for so many lines, each of so many bytes and with an id of its own, of one character. */
const roomFor = (lines: number, bytes: number) => lines * (lineBytes + bytes + idBytes + 2)

function keeping(limits: { lines?: number; windowMs?: number; maxBytes?: number } = {}) {
  const clock = new VirtualClock()
  let gone = 0
  const kept = new KeptLines({
    lines: 3,
    windowMs: 1000,
    maxBytes: roomFor(100, 100),
    ...limits,
    clock,
    unneeded: () => {
      gone++
    },
  })
  return {
    clock,
    gone: () => gone,
    kept,
    keep: (id: string, name: string, bytes = name.length) =>
      kept.keep(id, { severity: 1, body: name.padEnd(bytes), redacted: false }),
    take: (id: string) => kept.take(id).map(({ body }) => body.trimEnd()),
  }
}

describe('lines that are kept for an error', () => {
  it('are given in their order, once, and each id has its own', () => {
    const { keep, take, gone } = keeping()
    keep('a', 'a1')
    keep('b', 'b1')
    keep('a', 'a2')
    expect([take('a'), take('a'), take('b'), take('c')]).toEqual([['a1', 'a2'], [], ['b1'], []])
    expect(gone()).toBe(0)
  })

  it('keep their severity, and whether something was hidden in them', () => {
    const { kept } = keeping()
    const records = [
      { severity: 0, body: 'one', redacted: true },
      { severity: 2, body: 'two', redacted: false },
    ] as const
    for (const record of records) kept.keep('a', record)
    expect(kept.take('a')).toMatchObject(records)
  })

  it('beyond the number of an id go, the oldest first', () => {
    const { keep, take, gone } = keeping({ lines: 2 })
    keep('b', 'b1')
    for (const name of ['a1', 'a2', 'a3']) keep('a', name)
    expect(gone()).toBe(1)
    expect([take('a'), take('b')]).toEqual([['a2', 'a3'], ['b1']])
  })

  it('beyond the bytes of all go, the oldest first', () => {
    const { keep, take, gone } = keeping({ maxBytes: roomFor(2, 50) })
    keep('a', 'a1', 60)
    keep('b', 'b1', 40)
    expect(gone()).toBe(0)
    keep('c', 'c1', 30)
    expect(gone()).toBe(1)
    expect(take('a')).toEqual([])
    keep('d', 'too large', roomFor(2, 50))
    expect(gone()).toBe(4)
    expect(['b', 'c', 'd'].flatMap(take)).toEqual([])
    keep('a', 'a2', 50)
    keep('b', 'b2', 50)
    expect(['a', 'b'].flatMap(take)).toEqual(['a2', 'b2'])
  })

  it('go when their time is over, without another line', async () => {
    const { keep, take, gone, clock } = keeping()
    keep('a', 'a1')
    await clock.advance(600)
    keep('a', 'a2')
    await clock.advance(400)
    expect(gone()).toBe(1)
    await clock.advance(600)
    expect(gone()).toBe(2)
    expect(take('a')).toEqual([])
  })

  it('go at the end', () => {
    const { kept, keep, take, gone } = keeping()
    keep('a', 'a1')
    keep('b', 'b1')
    kept.end()
    expect(gone()).toBe(2)
    expect(['a', 'b'].flatMap(take)).toEqual([])
  })

  it('take the same time each, however many there are', () => {
    const replace = (length: number) => {
      const { keep } = keeping({ lines: length, maxBytes: length * (lineBytes + idBytes + 20) })
      for (let at = 0; at < length; at++) keep(`before ${at}`, 'old')
      return () => {
        for (let at = 0; at < length; at++) keep(`after ${at}`, 'new')
      }
    }
    expect(superLinear(replace)).toBeUndefined()
  })

  it('are those that a list of all would keep, whatever comes', async () => {
    const step = fc.record({
      id: fc.constantFrom('a', 'b', 'c'),
      act: fc.constantFrom('keep', 'keep', 'keep', 'take', 'wait'),
      bytes: fc.integer({ min: 4, max: 60 }),
    })
    const maxBytes = roomFor(3, 30)
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 200 }), async (steps) => {
        const { kept, keep, take, gone, clock } = keeping({ maxBytes })
        let all: { id: string; name: string; bytes: number; until: number }[] = []
        const memory = () =>
          all.reduce((sum, { bytes }) => sum + lineBytes + bytes, 0) +
          new Set(all.map(({ id }) => id)).size * (idBytes + 2)
        let given = 0
        let last = 0
        for (const { id, act, bytes } of steps) {
          if (act === 'wait') await clock.advance(bytes * 10)
          all = all.filter(({ until }) => until > clock.now())
          const ofId = all.filter((line) => line.id === id)
          if (act === 'keep') {
            const name = `${id}${++last}`
            keep(id, name, bytes)
            if (ofId.length === 3) all.splice(all.indexOf(ofId[0]!), 1)
            all.push({ id, name, bytes, until: clock.now() + 1000 })
            while (memory() > maxBytes) all.shift()
          } else if (act === 'take') {
            expect(take(id)).toEqual(ofId.map(({ name }) => name))
            given += ofId.length
            all = all.filter((line) => line.id !== id)
          }
          expect(given + gone() + all.length).toBe(last)
        }
        kept.end()
        expect(given + gone()).toBe(last)
      }),
    )
  })
})
