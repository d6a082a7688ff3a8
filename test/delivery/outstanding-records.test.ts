import { expect, it } from 'vitest'
import { OutstandingRecords } from '../../src/delivery/outstanding-records.js'

function setUpOutstanding() {
  let settled = 0
  const outstanding = new OutstandingRecords(() => settled++)
  /** A record comes. Returns its generation. */
  const took = () => {
    const generation = outstanding.newest
    outstanding.took(generation)
    return generation
  }
  return { outstanding, took, told: () => settled }
}

it('counts for a drain the records that came before it, and none that came later', () => {
  const { outstanding, took } = setUpOutstanding()
  const first = took()
  const second = took()
  const drain = outstanding.turn()
  const later = took()
  expect(outstanding.through(drain)).toBe(2)
  outstanding.letGo(later)
  expect(outstanding.through(drain)).toBe(2)
  outstanding.letGo(first)
  outstanding.letGo(second)
  expect(outstanding.through(drain)).toBe(0)
})

it('says that a drain may end when the last record of a generation is settled, and not before', () => {
  const { outstanding, took, told } = setUpOutstanding()
  const first = took()
  const second = took()
  outstanding.turn()
  outstanding.letGo(first)
  expect(told()).toBe(0)
  outstanding.letGo(second)
  expect(told()).toBe(1)
})

it('begins no generation where nothing has come since the last drain', () => {
  const { outstanding, took } = setUpOutstanding()
  const nothing = outstanding.turn()
  expect(outstanding.turn()).toBe(nothing)
  took()
  const drain = outstanding.turn()
  expect(drain).toBeGreaterThan(nothing)
  expect(outstanding.turn()).toBe(drain)
  expect(outstanding.through(nothing)).toBe(0)
})

it('counts records in the store for every drain, until they are in memory again or lost', () => {
  const { outstanding, took, told } = setUpOutstanding()
  for (let record = 0; record < 3; record++) outstanding.park()
  expect(outstanding.parked).toBe(3)
  const drain = outstanding.turn()
  const later = took()
  expect(outstanding.through(drain)).toBe(3)
  outstanding.lose(1)
  expect(told()).toBe(1)
  expect([outstanding.parked, outstanding.through(drain)]).toEqual([2, 2])
  outstanding.unpark(2)
  expect([outstanding.parked, outstanding.through(drain)]).toEqual([0, 0])
  outstanding.letGo(later)
})

it('forgets generations that are settled: the oldest is the one that the next drain waits for', () => {
  const { outstanding, took } = setUpOutstanding()
  const first = took()
  const drain = outstanding.turn()
  took()
  expect(outstanding.oldest).toBe(first)
  outstanding.letGo(first)
  outstanding.through(drain)
  expect(outstanding.oldest).toBe(outstanding.newest)
})
