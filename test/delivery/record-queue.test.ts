import { describe, expect, it } from 'vitest'
import { pendingRecord, RecordQueue } from '../../src/delivery/record-queue.js'

describe('a queue', () => {
  it('names its least severe records though 130,000 of them have come back', () => {
    const queue = new RecordQueue()
    const generation = { number: 0, outstanding: 0 }
    const record = { body: '{}', bytes: 2, severity: 2, idempotencyKey: 'k' } as const
    for (let sequence = 0; sequence < 130_000; sequence++)
      queue.putBack(pendingRecord(record, { sequence, generation }))
    expect(queue.leastSevere(10)).toHaveLength(10)
  })
})
