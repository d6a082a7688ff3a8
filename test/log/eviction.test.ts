import { describe, expect, it } from 'vitest'
import { gone, ready, Segment, waiting } from '../../src/log/segment.js'
import { trialOf } from '../../src/log/trial.js'
import { Bench, bodies } from './bench.js'
import { MemorySpool } from './memory-spool.js'

const infinity = Number.POSITIVE_INFINITY

/** A log with a spool, and these records. */
function start(...bodies: string[]) {
  const spool = new MemorySpool()
  const bench = new Bench(spool)
  for (const body of bodies) bench.append(body)
  return { spool, bench, log: bench.log, segment: bench.segments[0]! }
}

describe('a log with a spool', () => {
  it('moves what a failing disk did not take to another file, when the disk takes records again', () => {
    const spool = new MemorySpool()
    const bench = new Bench(spool)
    for (const body of ['a', 'b', 'c']) bench.append(body)
    const [segment] = bench.segments
    const trial = trialOf(segment!, 2)
    bench.log.mark(segment!, 2, 1, waiting)
    spool.left = 1
    spool.commit()
    expect([segment!.committed, segment!.isFileFull, bench.ledger.copy().onDisk]).toEqual([1, true, [1]])
    spool.takes = true
    spool.left = infinity
    expect(bench.log.evict(segment!)).toBe(3)
    expect([...spool.files.values()].map(({ size }) => size)).toEqual([1, 2])
    const { spooled, heldBytes } = bench.ledger.read()
    expect([spooled, heldBytes, bench.memory]).toEqual([3, 0, 0])
    expect([trial.segment === segment, trial.segment.sequenceOf(trial.index)]).toEqual([false, 2])
    bench.log.mark(trial.segment, trial.index, 1, ready)
    const batch = bench.take()
    expect([batch.load(), bodies(batch)]).toEqual(['loaded', ['a', 'b', 'c']])
  })

  it('keeps a newcomer on disk while records in flight that were read from there fill the memory', () => {
    const bench = new Bench(new MemorySpool(), 100)
    bench.append('a'.repeat(150))
    expect(bench.take().load()).toBe('loaded')
    bench.append('b')
    const { spooled, inFlight } = bench.ledger.read()
    expect([spooled, inFlight, bench.lost]).toEqual([1, 1, []])
  })

  it('gives up what comes back from a flight, when it was on disk alone and its file is gone', () => {
    const spool = new MemorySpool()
    const bench = new Bench(spool)
    for (const body of ['a', 'b', 'c']) bench.append(body)
    const [segment] = bench.segments
    bench.log.evict(segment!)
    const batch = bench.take(2)
    batch.load()
    bench.log.forgetFile(segment!, 'too-old')
    expect(bench.lost).toEqual(['1 of 0: too-old'])
    bench.log.mark(segment!, 0, 1, gone, 'delivered')
    bench.log.mark(segment!, 1, 1, ready)
    expect(bench.lost).toEqual(['1 of 0: too-old', '1 of 0: too-old'])
    const { delivered, dropped } = bench.ledger.read()
    expect([delivered, dropped['too-old'], bench.log.ready]).toEqual([1, 2, 0])
  })

  it('counts what is on disk as no spare memory, and nothing that is in flight', () => {
    const { spool, bench, log } = start('a', 'b', 'c')
    bench.take(1)
    expect(log.spare).toEqual({ records: 2, bytes: 2 })
    spool.commit()
    expect([log.spare, bench.ledger.copy().onDisk]).toEqual([{ records: 0, bytes: 0 }, [3]])
  })

  it('leaves a segment in memory while one of its records is in flight', () => {
    const { bench, log, segment } = start('a', 'b')
    const batch = bench.take(1)
    expect([log.evict(segment), segment.resident]).toEqual([0, 0])
    bench.settle(batch)
    expect([log.evict(segment), segment.resident]).toEqual([1, 2])
  })

  it('opens no file for a segment without records', () => {
    const { spool, bench, log, segment } = start()
    spool.takes = false
    bench.append('a')
    bench.settle(bench.take())
    spool.takes = true
    expect([log.evict(bench.segments[0]!), spool.files.size, segment]).toEqual([0, 0, undefined])
  })

  it('keeps in memory what the disk does not take', () => {
    const { spool, bench, log, segment } = start('a', 'b')
    spool.left = 0
    expect([log.evict(segment), segment.origin, spool.files.size]).toEqual([0, 0, 0])
    expect(bodies(bench.take())).toEqual(['a', 'b'])
  })

  it('evicts what is not gone, and counts its bytes', () => {
    const { bench, log, segment } = start('a', 'bb', 'ccc')
    const batch = bench.take()
    bench.settle(batch, 1, 1)
    for (const index of [0, 2]) log.mark(segment, index, 1, ready)
    expect(log.evict(segment)).toBe(2)
    const { spooled, heldBytes } = bench.ledger.read()
    expect([spooled, heldBytes, segment.held]).toEqual([2, 0, 0])
  })

  it('makes no other segment where a full file has all that is left', () => {
    const { spool, bench, log, segment } = start('a', 'b')
    spool.left = 1
    spool.commit()
    const batch = bench.take()
    bench.settle(batch, 1)
    log.mark(segment, 0, 1, ready)
    spool.takes = true
    expect([log.evict(segment), bench.segments.length]).toEqual([1, 1])
  })

  it('moves only what is not gone to another file, and gives up both when all is delivered', () => {
    const { spool, bench, log, segment } = start('a', 'b', 'c')
    const batch = bench.take()
    bench.settle(batch, 2)
    for (const index of [0, 1]) log.mark(segment, index, 1, ready)
    spool.left = 1
    spool.commit()
    spool.takes = true
    spool.left = infinity
    expect([log.evict(segment), bench.segments.map(({ count }) => count)]).toEqual([2, [3, 1]])
    const again = bench.take()
    again.load()
    expect([bodies(again), bench.ledger.read().retries]).toEqual([['a', 'b'], 2])
    bench.settle(again)
    expect([bench.segments, spool.files.size]).toEqual([[], 0])
  })

  it('moves what is behind a record that is gone, and has it as its newest', () => {
    const { spool, bench, log, segment } = start('a', 'b', 'c', 'd')
    bench.append('next', 2 ** 33)
    log.lose(segment, 2, 1, 'too-old')
    spool.left = 1
    spool.commit()
    spool.takes = true
    spool.left = infinity
    expect(log.evict(segment)).toBe(3)
    expect(bench.segments).toHaveLength(3)
    const newest = log.newest()!
    expect(newest.segment.sequenceOf(newest.index)).toBe(2 ** 33)
    const batch = bench.take()
    expect([batch.load(), bodies(batch)]).toEqual(['loaded', ['a', 'b', 'd', 'next']])
  })

  it('says nothing of a loss where a file goes away and all is in memory', () => {
    const { spool, bench, log, segment } = start('a')
    spool.commit()
    log.forgetFile(segment, 'too-old')
    expect([bench.lost, bodies(bench.take())]).toEqual([[], ['a']])
  })

  it('has nothing on disk when a file goes away, and loses only what was there alone and not in flight', () => {
    const { spool, bench, log, segment } = start('a', 'b', 'c', 'd')
    bench.settle(bench.take(1))
    log.evict(segment)
    bench.take(1).load()
    for (const body of ['e', 'f']) bench.append(body)
    const batch = bench.take()
    bench.settle(batch, batch.length - 1)
    spool.commit()
    for (let index = 0; index < batch.length - 1; index++) log.mark(segment, batch.indexes[index]!, 1, ready)
    expect(bench.ledger.copy().onDisk).not.toEqual([0])
    for (const reason of ['too-old', 'spool-full'] as const) log.forgetFile(segment, reason)
    expect([bench.ledger.copy().onDisk, log.spare]).toEqual([[0], { records: 1, bytes: 1 }])
    expect([bench.lost, log.ready, bench.ledger.read().inFlight]).toEqual([['2 of 0: too-old'], 1, 1])
  })

  it('opens another segment where the file takes no more', () => {
    const { spool, bench, log, segment } = start('a')
    spool.left = 0
    spool.commit()
    expect([segment.isFileFull, segment.file, spool.removed]).toEqual([true, undefined, 1])
    bench.append('xyz')
    log.seal(bench.segments[1]!)
    expect(bench.segments.map((each) => each.memory.length)).toEqual([1, 3])
    bench.append('b')
    log.seal(segment)
    bench.append('c')
    expect([bench.segments.map(({ count }) => count), bodies(bench.take())]).toEqual([
      [1, 1, 2],
      ['a', 'xyz', 'b', 'c'],
    ])
  })

  it('reads as many as fit into memory, for which others leave it', () => {
    const spool = new MemorySpool()
    const bench = new Bench(spool, 100)
    for (const letter of ['a', 'b', 'c']) {
      bench.append(letter.repeat(40))
      bench.log.evict(bench.segments[0]!)
    }
    bench.append('d'.repeat(90))
    const batch = bench.take()
    expect([batch.length, bench.ledger.read().spooled]).toEqual([2, 2])
    batch.load()
    expect(bench.take().length).toBe(0)
    bench.settle(batch)
    // A large one may go beyond the bound while a quarter is free.
    expect(bench.take().length).toBe(2)
  })

  it('adopts the records of a segment that are not gone', () => {
    const { spool, bench, log } = start()
    const segment = new Segment(log)
    segment.file = spool.open(segment)
    spool.files.get(segment)!.set(1, Buffer.from('left'))
    segment.add(3, -2, 0, gone)
    segment.add(4, -1, 0)
    log.adopt(segment)
    const { adopted, spooled } = bench.ledger.read()
    expect([log.ready, adopted, spooled]).toEqual([1, 1, 1])
    const batch = bench.take()
    batch.load()
    expect(bodies(batch)).toEqual(['left'])
    bench.settle(batch)
    expect([bench.segments, spool.files.size]).toEqual([[], 0])
  })

  it('can spare what is in memory alone, also where it waits', () => {
    const { spool, bench, log, segment } = start('a')
    spool.commit()
    bench.append('b')
    bench.append('c')
    bench.take(2)
    log.mark(segment, 1, 1, waiting)
    expect([log.spare.records, log.oldestSpare()]).toEqual([2, { segment, index: 1 }])
  })
})
