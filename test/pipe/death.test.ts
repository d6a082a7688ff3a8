import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { TextHead } from '../../src/pipe/frame.js'
import { type PipeMemory, word } from '../../src/pipe/pipe-memory.js'
import { PipeReader } from '../../src/pipe/pipe-reader.js'
import { PipeWriter } from '../../src/pipe/pipe-writer.js'
import { runs } from '../support/full.js'
import { frames, NotingSink, pipeOf, received, type Sent, write } from '../support/pipe.js'

class Death extends Error {}

const store = Atomics.store

/** Dies instead of the store with this number into shared memory, from 1. All that a reader shares it stores by `Atomics.store`. */
function dieAt(number: number, work: () => void): boolean {
  let stores = 0
  const spy = vi.spyOn(Atomics, 'store').mockImplementation(((array: Int32Array, index: number, value: number) => {
    // The writer lives.
    if (index !== word.written && ++stores === number) throw new Death()
    return store(array, index, value)
  }) as typeof Atomics.store)
  try {
    work()
    return false
  } catch (error) {
    if (error instanceof Death) return true
    throw error
  } finally {
    spy.mockRestore()
  }
}

const head: TextHead = { kind: 'line', severity: 2, marks: 0, time: 1, style: 0 }
const few: readonly Sent[] = [
  { kind: 'value', eventId: 1001, ms: 1 },
  { kind: 'text', head, text: 'é€' },
  { kind: 'text', head, text: 'x'.repeat(1200) },
  { kind: 'keyed', eventId: 1002, ms: 2, key: 'k' },
  { kind: 'text', head, text: 'the last' },
]
/** A long line goes in parts. */
const ringBytes = 4096

interface Life {
  readonly memory: PipeMemory
  readonly writer: PipeWriter
  /** All that sinks have counted, whichever reader had them. */
  readonly sink: NotingSink
}

function lifeWith(all: readonly Sent[]): Life {
  const memory = pipeOf(ringBytes)
  const writer = new PipeWriter(memory)
  for (const sent of all) write(writer, sent)
  writer.publish()
  return { memory, writer, sink: new NotingSink() }
}

/** A reader that takes until nothing is left. */
function readAll({ memory, writer, sink }: Life): void {
  const reader = new PipeReader(memory)
  do reader.take(sink, 500)
  while (!writer.push(0) || memory.get('read') !== memory.get('written'))
  reader.take(sink, 500)
}

/** Each is counted once. A long line may be unreadable, where readers died within it. */
function expectEachOnce(got: readonly Sent[], all: readonly Sent[]): void {
  const expected = all.map(received).map((sent, index) => {
    const isBroken = got[index]?.kind === 'unreadable' && sent.kind === 'text' && Buffer.byteLength(sent.text) > 1000
    return isBroken ? { kind: 'unreadable', head: sent.head } : sent
  })
  expect(got).toEqual(expected)
}

describe('a pipe whose reader dies', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it('at any store gives each frame to the ledger once', () => {
    let deaths = 0
    for (let number = 1; ; number++) {
      const life = lifeWith(few)
      if (!dieAt(number, () => readAll(life))) break
      deaths++
      readAll(life)
      expectEachOnce(life.sink.got, few)
    }
    expect(deaths).toBeGreaterThan(4 * few.length)
  })

  it('at any stores, again and again, gives each frame to the ledger once', () => {
    const sent = fc.array(frames(3000), { maxLength: 15 })
    fc.assert(
      fc.property(sent, fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 30 }), (all, deaths) => {
        const life = lifeWith(all)
        for (const number of deaths) dieAt(number, () => readAll(life))
        readAll(life)
        expectEachOnce(life.sink.got, all)
      }),
      { numRuns: runs({ some: 100, all: 10_000 }) },
    )
  })

  it('names the frame that its sink had, and drops it, unless the ledger has counted it', () => {
    const skipped: number[] = []
    for (let number = 1; ; number++) {
      const life = lifeWith(few)
      if (!dieAt(number, () => readAll(life))) break
      const { memory, sink } = life
      const before = sink.got.length
      expect(memory.settle(sink)).toBe(true)
      const blamed = memory.busyWith === undefined ? undefined : memory.skip()
      if (blamed !== undefined && blamed.kind !== 'part') {
        sink.unreadable(blamed)
        skipped.push(before)
      }
      readAll(life)
      expect(sink.got).toHaveLength(few.length)
    }
    expect([...new Set(skipped)]).toEqual([0, 1, 2, 3, 4])
  })

  it('waits for the ledger before it goes on', () => {
    const life = lifeWith(few)
    const { memory, sink } = life
    // Its ledger has just counted.
    expect(dieAt(5, () => readAll(life))).toBe(true)
    const taken = vi.spyOn(sink, 'taken').mockReturnValue(undefined)
    expect(new PipeReader(memory).take(sink, 1000)).toBe(false)
    taken.mockRestore()
    readAll(life)
    expectEachOnce(sink.got, few)
  })
})

describe('a pipe whose writer dies', () => {
  /** The memory of a pipe in which the writer dies instead of a store. */
  function dyingMemory(memory: PipeMemory, number: number): PipeMemory {
    let stores = 0
    const store = <Result>(change: () => Result): Result => {
      if (++stores === number) throw new Death()
      return change()
    }
    const { ints: all } = memory.frames
    const ints = new Proxy(all, {
      set: (target, index, value) => store(() => Reflect.set(target, index, value)),
    })
    const floats = {
      set(source: Float64Array, at: number) {
        const words = new Int32Array(source.buffer, source.byteOffset, source.length * 2)
        for (const [index, word] of words.entries()) ints[at * 2 + index] = word
      },
    }
    const seen = Object.create(memory.frames, { ints: { value: ints }, floats: { value: floats } })
    const set: PipeMemory['set'] = (...about) => store(() => memory.set(...about))
    return Object.create(memory, { frames: { value: seen }, set: { value: set } })
  }

  it('at any store shows whole frames alone', () => {
    const before: Sent[] = [few[0]!, few[1]!]
    let deaths = 0
    for (let number = 1; ; number++) {
      const memory = pipeOf(ringBytes)
      const sink = new NotingSink()
      let published = 0
      const dies = () => {
        const writer = new PipeWriter(dyingMemory(memory, number))
        for (const sent of [...before, ...few, ...before]) {
          write(writer, sent)
          if (sent !== few[0] && sent !== few[3]) writer.publish()
          published++
        }
      }
      let isDead = true
      try {
        dies()
        isDead = false
      } catch (error) {
        if (!(error instanceof Death)) throw error
      }
      new PipeReader(memory).take(sink, Number.POSITIVE_INFINITY)
      const all = [...before, ...few, ...before].slice(0, published)
      expect(sink.got).toEqual(all.slice(0, sink.got.length).map(received))
      expect(sink.got.length).toBeGreaterThanOrEqual(published - 1)
      if (!isDead) break
      deaths++
      // A writer that comes later goes on.
      const next = new PipeWriter(memory)
      next.value(1003, 3)
      next.publish()
      new PipeReader(memory).take(sink, Number.POSITIVE_INFINITY)
      expect(sink.got.at(-1)).toEqual({ kind: 'value', eventId: 1003, ms: 3 })
    }
    expect(deaths).toBeGreaterThan(20)
  })
})

it('a reader that was given up while it took a record, and goes on for a moment, moves nothing', () => {
  const life = lifeWith([few[0]!, few[3]!, few[0]!])
  const { memory, sink } = life
  class Slow extends NotingSink {
    override value(eventId: number, ms: number): void {
      sink.value(eventId, ms)
      // Meanwhile the other end settles this record, and another reader takes the rest.
      memory.settle(sink)
      new PipeReader(memory).take(sink, Number.POSITIVE_INFINITY)
    }
  }
  expect(new PipeReader(memory).take(new Slow(), Number.POSITIVE_INFINITY)).toBe(false)
  expect(memory.get('read')).toBe(memory.get('written'))
  expect(sink.taken()).toBe(3)
})
