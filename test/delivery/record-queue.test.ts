import { expect, it } from 'vitest'
import { type Pending, pendingRecord, RecordQueue } from '../../src/delivery/record-queue.js'

const generation = 0
const record = (sequence: number): Pending =>
  pendingRecord({ body: '', bytes: 0, severity: 2, idempotencyKey: '' }, { sequence, generation })

it('lists records that came back, however many they are', () => {
  const queue = new RecordQueue()
  for (let sequence = 0; sequence < 200_000; sequence++) queue.putBack(record(sequence))
  expect(queue.leastSevere(3)).toHaveLength(3)
  expect(queue.takeAll()).toHaveLength(200_000)
})

it('gives the record that was accepted last, wherever it is', () => {
  const queue = new RecordQueue()
  const records = Array.from({ length: 6 }, (_, sequence) => record(sequence))
  for (const index of [5, 1, 3]) queue.putBack(records[index]!)
  for (const index of [0, 2, 4]) queue.putBack(records[index]!)
  const taken = records.map(() => queue.takeNewest()?.sequence)
  expect(taken).toEqual([5, 4, 3, 2, 1, 0])
  expect(queue.takeNewest()).toBeUndefined()
})
