import { describe, expect, it } from 'vitest'
import { BufferBounds, type Candidate } from '../../src/delivery/buffer-bounds.js'
import type { Lane } from '../../src/delivery/lane.js'
import { type Pending, pendingRecord, RecordQueue } from '../../src/delivery/record-queue.js'
import { shelfOf } from '../../src/delivery/shelf.js'
import type { Severity } from '../../src/records/level.js'

const generation = 0

/** Bounds over one lane with a shelf of suspects and one of others. */
function setUpBounds(limits: { maxQueueRecords: number; maxQueueBytes: number }) {
  const suspects = new RecordQueue()
  const others = new RecordQueue()
  const remove = (queue: RecordQueue) => (record: Pending) => queue.remove(record)
  const shelves = [
    shelfOf(suspects, { remove: remove(suspects), suspects: true }),
    shelfOf(others, { remove: remove(others) }),
  ]
  const lane = { shelves } as unknown as Lane
  const bounds = new BufferBounds(limits, [lane])
  let sequence = 0
  const add = (queue: RecordQueue, bytes: number, severity: Severity = 2) => {
    const record = pendingRecord(
      { body: `${sequence}`, bytes, severity, idempotencyKey: '' },
      { sequence: sequence++, generation },
    )
    bounds.take(bytes)
    queue.putBack(record)
  }
  const makeRoom = (newcomer: { severity: Severity; bytes: number }) => {
    const shed: string[] = []
    const made = bounds.makeRoom(newcomer, ({ shelf, severity }: Candidate) => {
      const record = shelf.takeOldestOf(severity)
      bounds.release(record.bytes)
      shed.push(record.body)
    })
    return { made, shed }
  }
  return { bounds, suspects, others, add, makeRoom }
}

describe('room for a newcomer', () => {
  it('costs the least severe first, the oldest first, and no more than is needed', () => {
    const { others, add, makeRoom } = setUpBounds({ maxQueueRecords: 4, maxQueueBytes: 100 })
    add(others, 10, 4)
    add(others, 10, 1)
    add(others, 10, 2)
    add(others, 10, 1)
    expect(makeRoom({ severity: 2, bytes: 70 })).toEqual({ made: true, shed: ['1'] })
    expect(makeRoom({ severity: 2, bytes: 80 })).toEqual({ made: true, shed: ['3'] })
  })

  it('costs a suspect before all others, however severe it is', () => {
    const { suspects, others, add, makeRoom } = setUpBounds({ maxQueueRecords: 2, maxQueueBytes: 100 })
    add(others, 10, 0)
    add(suspects, 10, 6)
    expect(makeRoom({ severity: 3, bytes: 10 })).toEqual({ made: true, shed: ['1'] })
  })

  it('costs nothing where it cannot be made, not even a suspect', () => {
    const { suspects, others, add, makeRoom } = setUpBounds({ maxQueueRecords: 10, maxQueueBytes: 100 })
    add(others, 60, 5)
    add(suspects, 40, 1)
    expect(makeRoom({ severity: 4, bytes: 41 })).toEqual({ made: false, shed: [] })
    expect(makeRoom({ severity: 4, bytes: 40 })).toEqual({ made: true, shed: ['1'] })
  })

  it('is made in records alone, too: all lower records together must free a place', () => {
    const { others, add, makeRoom } = setUpBounds({ maxQueueRecords: 1, maxQueueBytes: 100 })
    add(others, 10, 5)
    expect(makeRoom({ severity: 4, bytes: 1 })).toEqual({ made: false, shed: [] })
    expect(makeRoom({ severity: 5, bytes: 1 })).toEqual({ made: true, shed: ['0'] })
  })
})

describe('a buffer', () => {
  it.each([
    { records: 50, bytes: 100, roomy: true, low: false },
    { records: 51, bytes: 100, roomy: false, low: false },
    { records: 10, bytes: 500, roomy: true, low: false },
    { records: 10, bytes: 501, roomy: false, low: false },
    { records: 25, bytes: 250, roomy: true, low: true },
    { records: 26, bytes: 250, roomy: true, low: false },
    { records: 25, bytes: 251, roomy: true, low: false },
  ])('is roomy up to the half and low up to a quarter, in records and bytes: %o', ({ records, bytes, roomy, low }) => {
    const { bounds } = setUpBounds({ maxQueueRecords: 100, maxQueueBytes: 1000 })
    for (let record = 1; record < records; record++) bounds.take(0)
    bounds.take(bytes)
    expect({ roomy: bounds.roomy, low: bounds.low }).toEqual({ roomy, low })
  })

  it('has room to spare until half of it is taken, in records and in bytes', () => {
    const { bounds } = setUpBounds({ maxQueueRecords: 11, maxQueueBytes: 100 })
    expect(bounds.spare).toEqual({ records: 5, bytes: 50 })
    bounds.take(20)
    expect(bounds.spare).toEqual({ records: 4, bytes: 30 })
    bounds.take(29)
    expect(bounds.spare).toEqual({ records: 3, bytes: 1 })
    bounds.take(1)
    expect(bounds.spare).toEqual({ records: 0, bytes: 0 })
    for (let record = 0; record < 3; record++) bounds.take(-10)
    expect(bounds.spare).toEqual({ records: 0, bytes: 30 })
    bounds.take(0)
    expect(bounds.spare).toEqual({ records: 0, bytes: 30 })
  })

  it('of one record has room to spare for one while it is empty', () => {
    const { bounds } = setUpBounds({ maxQueueRecords: 1, maxQueueBytes: 100 })
    expect(bounds.spare).toEqual({ records: 1, bytes: 50 })
    bounds.take(10)
    expect(bounds.spare).toEqual({ records: 0, bytes: 40 })
  })

  it('wakes each that waits for room once', async () => {
    const { bounds } = setUpBounds({ maxQueueRecords: 10, maxQueueBytes: 20 })
    bounds.take(10)
    bounds.take(10)
    let woken = 0
    void bounds.whenRoom(10).then(() => woken++)
    bounds.release(10)
    await Promise.resolve()
    await Promise.resolve()
    expect(woken).toBe(1)
    bounds.take(10)
    expect(bounds.hasRoom(10)).toBe(false)
  })
})
