import { describe, expect, it } from 'vitest'
import { maxBatch } from '../../src/delivery/batch.js'
import { noBacking } from '../../src/log/backing.js'
import { fullBytes, fullRecords, gone, ready, Segment, suspect, waiting } from '../../src/log/segment.js'
import { trialOf } from '../../src/log/trial.js'
import { Bench, bodies } from './bench.js'
import { MemorySpool } from './memory-spool.js'

describe('a log', () => {
  it('gives back thousands of records in their order, in batches of at most 256', () => {
    const bench = new Bench()
    const all = Array.from({ length: 3 * fullRecords }, (_, number) => `{"n":${number}}`)
    for (const body of all) bench.append(body)
    expect(bench.segments.map(({ count }) => count)).toEqual([fullRecords, fullRecords, fullRecords])
    const taken: string[] = []
    while (bench.log.ready > 0) {
      const batch = bench.take()
      expect(batch.length).toBe(maxBatch)
      taken.push(...bodies(batch))
      bench.settle(batch)
    }
    expect(taken).toEqual(all)
    expect(bench.segments.length).toBe(1)
  })

  it('gives its memory back when nothing is left, and begins with as much the next time', () => {
    const bench = new Bench()
    for (let number = 0; number < 700; number++) bench.append('x'.repeat(300))
    expect(bench.memory).toBe(fullBytes)
    while (bench.log.ready > 0) bench.settle(bench.take())
    expect(bench.memory).toBe(0)
    bench.append('x')
    expect(bench.memory).toBe(fullBytes)
  })

  it('has a segment for a large record alone, of its size', () => {
    const bench = new Bench()
    const large = 'y'.repeat(fullBytes + 1)
    bench.append('a')
    bench.append(large)
    bench.append('b')
    expect(bench.segments.map(({ count }) => count)).toEqual([1, 1, 1])
    expect(bench.segments.slice(0, 2).map(({ memory }) => memory.length)).toEqual([1, large.length])
    expect([bodies(bench.take()), bodies(bench.take())]).toEqual([['a'], [large]])
  })

  it('takes no record from a sequence on', () => {
    const bench = new Bench()
    for (const sequence of [3, 5, 9]) bench.append(`${sequence}`, sequence)
    const batch = bench.take(0)
    bench.log.take(batch, 10, 9)
    expect([bodies(batch), bench.log.oldest, batch.lowest]).toEqual([['3', '5'], 9, 3])
  })

  it('opens another segment where sequences are too far apart for one', () => {
    const bench = new Bench()
    bench.append('a', 7)
    bench.append('b', 7 + 2 ** 32)
    bench.append('c', 7 + 2 ** 40)
    expect(bench.segments.length).toBe(3)
    const batch = bench.take()
    expect([bodies(batch), batch.textOf(2).idempotencyKey]).toEqual([
      ['a', 'b', 'c'],
      `k-${(7 + 2 ** 40).toString(36)}`,
    ])
  })

  it('copies old survivors to a memory of their size, with their own keys', () => {
    const bench = new Bench()
    for (let number = 0; number < 1000; number++) bench.append('z'.repeat(300), number, `key-${number}`)
    while (bench.log.ready > 0) {
      const batch = bench.take()
      for (let index = 0; index < batch.length; index++) {
        const [segment, at] = [batch.segments[index]!, batch.indexes[index]!]
        const survives = segment.sequenceOf(at) % 100 === 0
        if (survives) trialOf(segment, at).blame = suspect
        bench.log.mark(segment, at, 1, survives ? waiting : gone, 'delivered')
      }
    }
    const [first] = bench.segments
    expect([bench.log.waiting, first!.memory.length]).toEqual([10, first!.held])
    expect([first!.bytesOf(0), first!.bytesOf(1)]).toEqual([300, 0])
    const [ref] = bench.log.suspects()
    const batch = bench.take(0)
    bench.log.takeOne(batch, ref!)
    expect(batch.textOf(0)).toEqual({ body: 'z'.repeat(300), bytes: 300, idempotencyKey: 'key-0' })
  })

  it('sends what comes back before what is newer, and counts the attempts', () => {
    const bench = new Bench()
    for (const body of ['a', 'b', 'c', 'd']) bench.append(body)
    const batch = bench.take(3)
    bench.log.mark(batch.segments[1]!, batch.indexes[1]!, 2, ready)
    expect(bodies(bench.take())).toEqual(['b', 'c', 'd'])
    const { attempts } = bench.segments[0]!
    expect([...attempts.subarray(0, 4)]).toEqual([1, 2, 2, 1])
    expect([bench.ledger.read().requests, bench.ledger.read().retries]).toEqual([6, 2])
  })

  it('leaves a record gone that was lost in flight, when the others of its batch are delivered', () => {
    const bench = new Bench(new MemorySpool())
    for (const body of ['a', 'b', 'c']) bench.append(body)
    const batch = bench.take()
    const [segment] = bench.segments
    trialOf(segment!, 0)
    bench.log.lose(segment!, 1, 1, 'spool-full')
    bench.log.mark(segment!, 0, 3, gone, 'delivered')
    const { delivered, dropped, accepted } = bench.ledger.read()
    expect([batch.length, delivered, dropped['spool-full'], accepted]).toEqual([3, 2, 1, 3])
    expect([bench.lost, segment!.trials!.size]).toEqual([['1 of 0: spool-full'], 0])
  })

  it('counts a record that is sent again and again as retried each time', () => {
    const bench = new Bench()
    bench.append('a')
    for (let attempt = 0; attempt < 300; attempt++) {
      const batch = bench.take()
      bench.log.mark(batch.segments[0]!, batch.indexes[0]!, 1, ready)
    }
    expect([bench.ledger.read().requests, bench.ledger.read().retries]).toEqual([300, 299])
  })

  it('needs no line on disk any more of a record that is delivered', () => {
    const spool = new MemorySpool()
    const bench = new Bench(spool)
    for (const body of ['a', 'b', 'c']) bench.append(body)
    spool.commit()
    bench.settle(bench.take(2))
    expect([...spool.files.values()].map((lines) => [...lines.keys()])).toEqual([[2]])
    expect(bench.ledger.copy().onDisk).toEqual([1])
  })

  it('takes as many as are wanted, over segments, and none that waits', () => {
    const bench = new Bench()
    for (const [body, sequence] of [
      ['a', 3],
      ['b', 4],
      ['c', 2 ** 33],
      ['d', 2 ** 33 + 1],
    ] as const)
      bench.append(body, sequence)
    const none = bench.take(0)
    bench.log.take(none, 10, 3)
    expect([none.length, bodies(bench.take(3)), bodies(bench.take())]).toEqual([0, ['a', 'b', 'c'], ['d']])
    for (const body of ['e', 'f', 'g']) bench.append(body, 2 ** 33 + 2 + body.charCodeAt(0))
    const segment = bench.segments[1]!
    bench.log.mark(segment, 3, 1, waiting)
    expect(bodies(bench.take())).toEqual(['e', 'g'])
  })

  it('takes a record that is in memory, however full that is, and stays in its segment where another one does not fit', () => {
    const bench = new Bench(noBacking, 100)
    bench.append('a'.repeat(90))
    expect([bench.take().length, bench.segments.length]).toEqual([1, 1])
    bench.append('b'.repeat(60))
    expect([bench.lost, bench.segments.length]).toEqual([['1 of 0: queue-full'], 1])
  })

  it('fills a segment to its last byte, and begins another one as small as the first', () => {
    const bench = new Bench()
    bench.append('a')
    bench.append('b', 2 ** 33)
    expect(bench.segments.map(({ memory }) => memory.length)).toEqual([1, 8192])
    const other = new Bench()
    for (const letter of ['x', 'y', 'z']) other.append(letter.repeat(fullBytes / 2))
    expect(other.segments.map(({ count }) => count)).toEqual([2, 1])
  })

  it('has columns for as many records as the segment before it had, and one for keys when the first key comes', () => {
    const bench = new Bench()
    for (let number = 0; number < 100; number++) bench.append('a')
    bench.append('b', 2 ** 33)
    const [first, second] = bench.segments
    expect([first!.keyLengths, second!.states.length]).toEqual([undefined, 100])
    bench.append('c', 2 ** 33 + 1, 'key')
    expect([first!.keyLengths, second!.keyLengths?.slice(0, 2)]).toEqual([undefined, Uint8Array.of(0, 3)])
  })

  it('copies no record in flight, nor what goes out next', () => {
    const bench = new Bench()
    for (let number = 0; number < 10; number++) bench.append('x'.repeat(1000))
    bench.append('y', 2 ** 33)
    const [first] = bench.segments
    const batch = bench.take(8)
    bench.settle(batch, 0, 7)
    expect(first!.memory.length).toBe(10_000)
    bench.settle(batch, 7)
    expect(first!.memory.length).toBe(10_000)
    const last = bench.take(2)
    for (const index of [8, 9]) bench.log.mark(first!, index, 1, waiting)
    expect([last.length, first!.memory.length]).toEqual([2, 2000])
  })

  it('copies no record in flight, though it does not go out next', () => {
    const bench = new Bench()
    for (let number = 0; number < 10; number++) bench.append('x'.repeat(1000))
    bench.append('y', 2 ** 33)
    const [first] = bench.segments
    const batch = bench.take()
    bench.settle(batch, 0, 7)
    expect(first!.memory.length).toBe(10_000)
    bench.log.mark(first!, 7, 3, waiting)
    expect(first!.memory.length).toBe(3000)
  })

  it('copies nothing to save an eighth of the records that it keeps', () => {
    const bench = new Bench()
    for (let number = 0; number < 9; number++) bench.append('x'.repeat(1000))
    bench.append('y', 2 ** 33)
    const [first] = bench.segments
    bench.log.mark(first!, 0, 9, waiting)
    const { memory } = first!
    bench.log.lose(first!, 3, 1, 'queue-full')
    expect(first!.memory).toBe(memory)
    bench.log.lose(first!, 4, 1, 'queue-full')
    expect(first!.memory.length).toBe(7000)
    const full = new Bench()
    for (let number = 0; number < 8; number++) full.append('x'.repeat(1000))
    full.append('y', 2 ** 33)
    expect(full.segments[0]!.memory.length).toBe(8192)
  })

  it('copies what is behind records that have left memory, with its own keys', () => {
    const bench = new Bench(new MemorySpool())
    const append = (name: string) => bench.append(name.repeat(100), undefined, `key-${name}`)
    for (const name of ['a', 'b', 'c']) append(name)
    const [first] = bench.segments
    expect(bench.log.evict(first!)).toBe(3)
    for (const name of ['d', 'e', 'f', 'g']) append(name)
    expect(bench.segments).toHaveLength(1)
    bench.append('next', 2 ** 33)
    bench.log.mark(first!, 0, 7, waiting)
    bench.log.lose(first!, 3, 1, 'too-old')
    bench.log.lose(first!, 5, 1, 'too-old')
    expect(first!.memory.length).toBe(first!.held)
    for (const index of [4, 6]) bench.log.mark(first!, index, 1, ready)
    const batch = bench.take(2)
    expect([batch.load(), bodies(batch)]).toEqual(['loaded', ['e'.repeat(100), 'g'.repeat(100)]])
    expect([0, 1].map((index) => batch.textOf(index).idempotencyKey)).toEqual(['key-e', 'key-g'])
  })

  it('gives a sender the bodies of records with keys of their own one behind another, wherever their memory begins', () => {
    const bench = new Bench()
    bench.append('first', 0, 'key')
    bench.settle(bench.take())
    for (const [index, body] of ['one', 'two'].entries()) bench.append(body, 1 + index, `key-${index}`)
    bench.append('behind', 3)
    const to = Buffer.alloc(20)
    const batch = bench.take(2)
    expect([batch.copyRun(0, 2, to, 1), to.toString('latin1', 1, 7)]).toEqual([7, 'onetwo'])
  })

  it('writes from the beginning of its memory again when all records are gone', () => {
    const bench = new Bench()
    for (let number = 0; number < 50; number++) {
      bench.append('x'.repeat(1000))
      expect(bench.memory).toBe(8192)
      bench.settle(bench.take())
      expect(bench.memory).toBe(8192)
    }
  })

  it('keeps its memory while a body fits into it, and no memory that was made for one large record', () => {
    const bench = new Bench()
    /** The memory in which a body of this size stood, which is gone then. */
    const memoryOf = (bytes: number) => {
      bench.append('x'.repeat(bytes))
      const { memory } = bench.segments.at(-1)!
      bench.settle(bench.take())
      return memory
    }
    const small = memoryOf(8192)
    expect([small.length, memoryOf(10) === small, memoryOf(8192) === small]).toEqual([8192, true, true])
    const full = memoryOf(fullBytes)
    expect([full.length, memoryOf(10) === full]).toEqual([fullBytes, true])
    expect(memoryOf(2 * fullBytes).length).toBe(2 * fullBytes)
    expect(memoryOf(fullBytes).length).toBe(fullBytes)
  })

  it('leaves four memories of full size at most to other logs', () => {
    const fill = (bench: Bench) => {
      bench.append('x'.repeat(fullBytes))
      return bench.segments.at(-1)!.memory
    }
    const rest = (bench: Bench) => bench.settle(bench.take())
    // Those that are left from elsewhere.
    const benches = Array.from({ length: 10 }, () => new Bench())
    const memories = benches.map(fill)
    for (const bench of benches) rest(bench)
    const again = new Set(Array.from({ length: 10 }, () => fill(new Bench())))
    expect(memories.flatMap((memory, index) => (again.has(memory) ? [index] : []))).toEqual([0, 1, 2, 3])
  })

  it('has its segments still when the last of them left first, and when one that has left is settled again', () => {
    const spool = new MemorySpool()
    const bench = new Bench(spool)
    const adopt = (body: string, sequence: number) => {
      const segment = new Segment(bench.log)
      segment.add(body.length, sequence, 0)
      segment.file = spool.open(segment)
      bench.log.adopt(segment)
      return segment
    }
    const [first, last] = [adopt('a', 1), adopt('b', 2)]
    expect(bench.take().length).toBe(2)
    bench.log.mark(last, 0, 1, gone, 'delivered')
    bench.log.mark(last, 0, 1, gone, 'delivered')
    expect(bench.segments).toEqual([first])
    bench.log.mark(first, 0, 1, ready)
    expect(bench.log.first()).toEqual({ segment: first, index: 0 })
  })

  it('copies survivors that do not go out next any more, because older records are ready again', () => {
    const bench = new Bench()
    bench.append('a')
    for (let number = 0; number < 10; number++) bench.append('x'.repeat(1000), 2 ** 33 + number)
    bench.append('y', 2 ** 34)
    const batch = bench.take(10)
    const [first, second] = bench.segments
    bench.settle(batch, 1)
    expect(second!.memory.length).toBe(10_000)
    bench.log.mark(first!, 0, 1, ready)
    expect(second!.memory.length).toBe(1000)
  })

  it('knows its suspects that wait, the oldest first', () => {
    const bench = new Bench()
    for (const [body, sequence] of [
      ['a', 0],
      ['b', 1],
      ['c', 2 ** 33],
      ['d', 2 ** 33 + 1],
    ] as const)
      bench.append(body, sequence)
    const batch = bench.take()
    const [first, second] = bench.segments
    const names = () => [...bench.log.suspects()].map(({ segment, index }) => `${segment === first ? 1 : 2}.${index}`)
    for (const [segment, index] of [
      [first!, 1],
      [second!, 1],
    ] as const)
      trialOf(segment, index).blame = suspect
    for (let at = 3; at >= 0; at--) bench.log.mark(batch.segments[at]!, batch.indexes[at]!, 1, waiting)
    expect(names()).toEqual(['1.1', '2.1'])
    trialOf(first!, 0).blame = suspect
    bench.log.mark(first!, 0, 1, waiting)
    bench.log.mark(first!, 1, 1, ready)
    expect(names()).toEqual(['1.0', '2.1'])
    for (const index of [0, 1]) bench.log.mark(first!, index, 1, gone, 'delivered')
    expect(names()).toEqual(['2.1'])
    bench.log.mark(second!, 1, 1, ready)
    expect(names()).toEqual([])
  })
})
