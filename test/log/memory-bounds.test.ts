import { describe, expect, it } from 'vitest'
import { LedgerBook } from '../../src/delivery/ledger-book.js'
import { type Backing, noBacking } from '../../src/log/backing.js'
import { MemoryBounds } from '../../src/log/memory-bounds.js'
import { RecordLog } from '../../src/log/record-log.js'
import { gone, suspect, waiting } from '../../src/log/segment.js'
import { trialOf } from '../../src/log/trial.js'
import type { Severity } from '../../src/records/level.js'
import { MemorySpool } from './memory-spool.js'

function start(limits: { maxQueueRecords: number; maxQueueBytes: number }, backing: Backing = new MemorySpool()) {
  const lost: number[] = []
  const gated = new Set<number>()
  const ledger = new LedgerBook([
    { kind: 'logs', bucket: 'a' },
    { kind: 'logs', bucket: 'b' },
  ])
  const bounds = new MemoryBounds({
    limits,
    backing,
    isGated: (lane) => gated.has(lane),
    lost: (lane) => lost.push(lane),
  })
  const log = (lane: number, severity: Severity) => new RecordLog({ lane, severity, ledger, bounds, backing })
  let sequence = 0
  const append = (to: RecordLog, bytes: number) => {
    if (!bounds.makeRoom({ severity: to.severity, bytes })) return false
    to.append({ body: 'x'.repeat(bytes), bytes }, sequence++, 'none')
    return true
  }
  /** Records wait that failed where others were taken. */
  const suspects = (of: RecordLog, ...indexes: number[]) => {
    const [segment] = of.segments()
    for (const index of indexes) {
      trialOf(segment!, index).blame = suspect
      of.mark(segment!, index, 1, waiting)
    }
  }
  /** Sequences of the records that are left. */
  const left = (of: RecordLog) =>
    [...of.segments()].flatMap((segment) =>
      Array.from({ length: segment.count }, (_, index) => index)
        .filter((index) => segment.states[index] !== gone)
        .map((index) => segment.sequenceOf(index)),
    )
  return { bounds, gated, ledger, log, append, lost, suspects, left }
}

describe('the bounds of memory', () => {
  it('say when there is room, and let all come after the end', async () => {
    const { bounds } = start({ maxQueueRecords: 2, maxQueueBytes: 100 })
    bounds.take(90)
    expect([bounds.hasRoom(10), bounds.hasRoom(11), bounds.isRoomy]).toEqual([true, false, false])
    let came = 0
    const first = bounds.whenRoom(11).then(() => came++)
    const second = bounds.whenRoom(200).then(() => came++)
    bounds.take(5)
    bounds.release(90)
    await first
    expect([came, bounds.isRoomy]).toEqual([1, true])
    bounds.close()
    await second
    expect([came, bounds.hasRoom(1000)]).toEqual([2, true])
  })

  it('evict lanes that may not send first, then the least severe, until a quarter is free', () => {
    const { bounds, gated, log, append, ledger } = start({ maxQueueRecords: 100, maxQueueBytes: 1000 })
    const [open, severe, shut] = [log(0, 0), log(0, 4), log(1, 4)]
    for (const each of [open, severe, shut]) append(each, 300)
    gated.add(1)
    append(severe, 200)
    const { lanes } = ledger.read()
    expect(lanes.map(({ spooled }) => spooled)).toEqual([0, 1])
    expect(bounds.bytes).toBe(800)
    append(severe, 300)
    expect(ledger.read().lanes.map(({ spooled }) => spooled)).toEqual([1, 1])
  })

  it('put a record on disk that is larger than all memory', () => {
    const { bounds, log, append, ledger } = start({ maxQueueRecords: 100, maxQueueBytes: 1000 })
    append(log(0, 0), 5000)
    expect([bounds.bytes, ledger.read().spooled]).toEqual([0, 1])
  })

  it('evict the newest segments of a log first, and none once a quarter is free', () => {
    const { bounds, log, ledger } = start({ maxQueueRecords: 100, maxQueueBytes: 1000 })
    const all = log(0, 0)
    for (let sequence = 0; sequence < 4; sequence++) {
      all.append({ body: 'x'.repeat(250), bytes: 250 }, sequence * 2 ** 33, 'none')
    }
    bounds.makeRoom({ severity: 0, bytes: 1 })
    expect([bounds.bytes, ledger.read().spooled]).toEqual([750, 1])
    expect([...all.segments()].map(({ held }) => held)).toEqual([250, 250, 250, 0])
  })

  it('shed the least severe first, the oldest of them first, though others are older', () => {
    const { log, append, left, lost } = start({ maxQueueRecords: 4, maxQueueBytes: 1000 }, noBacking)
    const [severe, mild, other] = [log(0, 4), log(0, 1), log(1, 1)]
    for (const each of [severe, other, mild, severe]) append(each, 10)
    expect([append(severe, 10), append(severe, 10), append(severe, 10)]).toEqual([true, true, true])
    expect(lost).toEqual([1, 0, 0])
    expect([left(severe), left(mild), left(other)]).toEqual([[3, 4, 5, 6], [], []])
    expect(append(mild, 10)).toBe(false)
  })

  it('shed suspects for a record that is less severe, where they are enough', () => {
    const { log, append, left, suspects } = start({ maxQueueRecords: 10, maxQueueBytes: 100 }, noBacking)
    const [severe, mild] = [log(0, 4), log(0, 1)]
    for (let each = 0; each < 4; each++) append(severe, 25)
    suspects(severe, 2, 1)
    expect(append(mild, 51)).toBe(false)
    expect(left(severe)).toHaveLength(4)
    expect(append(mild, 50)).toBe(true)
    expect([left(severe), left(mild)]).toEqual([[0, 3], [4]])
  })

  it('count a suspect once when they look whether all are enough', () => {
    const { log, append, left, suspects } = start({ maxQueueRecords: 10, maxQueueBytes: 100 }, noBacking)
    const [severe, mild] = [log(0, 4), log(0, 1)]
    append(mild, 50)
    append(severe, 50)
    suspects(mild, 0)
    expect(append(mild, 60)).toBe(false)
    expect([left(severe), left(mild)]).toEqual([[1], [0]])
  })

  it('let a large record come back from disk until three quarters of the bytes are taken', () => {
    const { bounds } = start({ maxQueueRecords: 10, maxQueueBytes: 100 })
    bounds.take(75)
    expect(bounds.admits(1000)).toBe(true)
    bounds.take(1)
    expect([bounds.admits(1000), bounds.admits(24)]).toEqual([false, true])
  })

  it('shed the only suspect, and the next time what is no more severe', () => {
    const { log, append, left, suspects } = start({ maxQueueRecords: 2, maxQueueBytes: 100 }, noBacking)
    const [severe, mild] = [log(0, 4), log(0, 1)]
    for (const each of [severe, severe]) append(each, 10)
    suspects(severe, 1)
    expect(append(mild, 10)).toBe(true)
    expect([left(severe), left(mild)]).toEqual([[0], [2]])
    expect(append(mild, 10)).toBe(true)
    expect([left(severe), left(mild)]).toEqual([[0], [3]])
  })
})
