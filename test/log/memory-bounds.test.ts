import { describe, expect, it } from 'vitest'
import { LedgerBook } from '../../src/delivery/ledger-book.js'
import type { Backing } from '../../src/log/backing.js'
import { MemoryBounds } from '../../src/log/memory-bounds.js'
import { RecordLog } from '../../src/log/record-log.js'
import type { Severity } from '../../src/records/level.js'
import { MemorySpool } from './memory-spool.js'

function start(limits: { maxQueueRecords: number; maxQueueBytes: number }, backing: Backing = new MemorySpool()) {
  const gated = new Set<number>()
  const ledger = new LedgerBook([
    { kind: 'logs', bucket: 'a' },
    { kind: 'logs', bucket: 'b' },
  ])
  const bounds = new MemoryBounds({ limits, backing, isGated: (lane) => gated.has(lane), lost() {} })
  const log = (lane: number, severity: Severity) => new RecordLog({ lane, severity, ledger, bounds, backing })
  let sequence = 0
  const append = (to: RecordLog, bytes: number) => {
    to.room(bytes)
    const { severity } = to
    if (!bounds.makeRoom({ severity, bytes })) return
    to.append(bytes, sequence++, 0, 'none')
  }
  return { bounds, gated, ledger, log, append }
}

describe('the bounds of memory', () => {
  it('say when there is room, and let all come after the end', async () => {
    const { bounds } = start({ maxQueueRecords: 2, maxQueueBytes: 100 })
    bounds.take(90)
    expect([bounds.hasRoom(10), bounds.hasRoom(11), bounds.roomy]).toEqual([true, false, false])
    let came = 0
    const first = bounds.whenRoom(11).then(() => came++)
    const second = bounds.whenRoom(200).then(() => came++)
    bounds.take(5)
    bounds.release(90)
    await first
    expect([came, bounds.roomy]).toEqual([1, true])
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
})
