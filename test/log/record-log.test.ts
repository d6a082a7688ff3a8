import { describe, expect, it } from 'vitest'
import { maxBatch } from '../../src/delivery/batch.js'
import { fullBytes, fullRecords, gone, ready, suspect, waiting } from '../../src/log/segment.js'
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
})
