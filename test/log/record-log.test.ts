import { describe, expect, it } from 'vitest'
import { Batch, maxBatch } from '../../src/delivery/batch.js'
import { LedgerBook } from '../../src/delivery/ledger-book.js'
import { type Backing, noBacking } from '../../src/log/backing.js'
import { KeyWriter } from '../../src/log/idempotency-key.js'
import { MemoryBounds } from '../../src/log/memory-bounds.js'
import { RecordLog } from '../../src/log/record-log.js'
import { fullBytes, fullRecords, gone, ready, type Segment, suspect, waiting } from '../../src/log/segment.js'
import { trialOf } from '../../src/log/trial.js'
import { MemorySpool } from './memory-spool.js'

const infinity = Number.POSITIVE_INFINITY

class Bench {
  readonly ledger = new LedgerBook([{ kind: 'logs', bucket: 'b' }])
  readonly log: RecordLog
  readonly lost: string[] = []
  #sequence = 0

  constructor(backing: Backing = noBacking, maxQueueBytes = 100_000_000) {
    const bounds = new MemoryBounds({
      limits: { maxQueueRecords: 100_000, maxQueueBytes },
      backing,
      isGated: () => false,
      lost: (lane, reason, count) => this.lost.push(`${count} of ${lane}: ${reason}`),
    })
    this.log = new RecordLog({ lane: 0, severity: 2, ledger: this.ledger, bounds, backing })
  }

  append(body: string, sequence = this.#sequence++, key = ''): void {
    const { memory, at } = this.log.room(body.length + key.length)
    memory.write(key + body, at, 'latin1')
    this.log.append(body.length, sequence, key.length, 'none')
  }

  take(most = infinity): Batch {
    const owner = { onSettle() {}, onDone() {} }
    const batch = new Batch({ kind: 'logs', bucket: 'b', keys: new KeyWriter('k'), owner })
    this.log.take(batch, most, infinity)
    return batch
  }

  settle(batch: Batch, index = 0, count = batch.length - index): void {
    for (let each = index; each < index + count; each++) {
      this.log.mark(batch.segments[each]!, batch.indexes[each]!, 1, gone, 'delivered')
    }
  }

  get segments(): Segment[] {
    return [...this.log.segments()]
  }

  get memory(): number {
    return this.segments.reduce((sum, { memory }) => sum + memory.length, 0)
  }
}

const bodies = (batch: Batch) => Array.from({ length: batch.length }, (_, index) => batch.textOf(index).body)

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
})
