import { expect, it } from 'vitest'
import { LossTally } from '../../src/delivery/observer.js'

it('adds up losses by reason, with the times of the first and the last, until they are taken', () => {
  const tally = new LossTally()
  expect(tally.take(0)).toBeUndefined()
  tally.add({ reason: 'queue-full', count: 2 }, 100)
  tally.add({ reason: 'too-old', count: 1 }, 200)
  tally.add({ reason: 'queue-full', count: 3 }, 300)
  const losses = tally.take(1000)
  expect([...losses!.byReason]).toEqual([
    ['queue-full', 5],
    ['too-old', 1],
  ])
  expect(losses).toMatchObject({ sinceMs: 100, untilMs: 300 })
  expect(tally.take(1_000_000)).toBeUndefined()
})

it('gives losses at most once a minute', () => {
  const tally = new LossTally()
  tally.add({ reason: 'queue-full', count: 1 }, 0)
  expect(tally.take(0)).toBeDefined()
  tally.add({ reason: 'queue-full', count: 1 }, 10)
  tally.add({ reason: 'queue-full', count: 1 }, 20)
  expect(tally.take(59_999)).toBeUndefined()
  expect(tally.take(60_000)).toMatchObject({ sinceMs: 10, untilMs: 20 })
})
