import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DueHeap } from '../../src/log/due-heap.js'
import { gone, type Segment, type Trial, waiting } from '../../src/log/segment.js'
import { trialOf } from '../../src/log/trial.js'

/** The trial of a record that waits. */
const newTrial = (): Trial => trialOf({ states: Uint8Array.of(waiting) } as Segment, 0)

/** All that are due by then, in the order in which they are taken. */
function takeAll(heap: DueHeap, now: number): Trial[] {
  const taken: Trial[] = []
  for (let trial = heap.take(now); trial !== undefined; trial = heap.take(now)) taken.push(trial)
  return taken
}

describe('records that wait for their own next attempt', () => {
  it('are taken by their moments, which are multiples of 20 ms, each at most once and none before', () => {
    const moment = fc.integer({ min: 0, max: 40 }).map((slot) => slot * 20)
    const add = fc.record({ of: fc.nat(30), at: moment })
    const step = fc.oneof(
      { weight: 4, arbitrary: add },
      { weight: 1, arbitrary: fc.record({ leaves: fc.nat(30) }) },
      { weight: 1, arbitrary: fc.record({ now: moment }) },
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
        const heap = new DueHeap()
        const trials = Array.from({ length: 31 }, newTrial)
        const moments = new Map<Trial, number>()
        const check = (now: number) => {
          const due = [...moments].filter(([, at]) => at <= now)
          const taken = takeAll(heap, now)
          expect(taken.map((trial) => moments.get(trial))).toEqual(due.map(([, at]) => at).sort((a, b) => a - b))
          expect(new Set(taken)).toEqual(new Set(due.map(([trial]) => trial)))
          for (const trial of taken) moments.delete(trial)
        }
        for (const each of steps) {
          if ('of' in each) {
            const trial = trials[each.of]!
            if (trial.segment.states[0] !== waiting) continue
            heap.add(trial, each.at)
            moments.set(trial, each.at)
          } else if ('leaves' in each) {
            const trial = trials[each.leaves]!
            trial.segment.states[0] = gone
            moments.delete(trial)
          } else check(each.now)
          expect(heap.next).toBe(Math.min(Number.POSITIVE_INFINITY, ...moments.values()))
          expect(new Set(heap)).toEqual(new Set(moments.keys()))
        }
        check(1000)
        expect(heap.take(1000)).toBeUndefined()
      }),
      { numRuns: 200 },
    )
  })

  it('wait a little longer than they have to, and together with their neighbours', () => {
    const heap = new DueHeap()
    const [first, second, third] = [newTrial(), newTrial(), newTrial()]
    heap.add(first, 101)
    heap.add(second, 120)
    heap.add(third, 121)
    expect([heap.next, takeAll(heap, 119).length, takeAll(heap, 120).length, heap.next]).toEqual([120, 0, 2, 140])
    expect([first.dueAt, third.dueAt]).toEqual([Number.POSITIVE_INFINITY, 140])
  })

  it('wait no more once their trial is another one, or there is none', () => {
    const heap = new DueHeap()
    const [one, other] = [newTrial(), newTrial()]
    heap.add(one, 20)
    heap.add(other, 40)
    one.segment.trials!.delete(0)
    trialOf(one.segment, 0)
    expect(heap.next).toBe(40)
    other.segment.trials = undefined
    expect([heap.next, [...heap]]).toEqual([Number.POSITIVE_INFINITY, []])
  })
})

describe('the trial of a record', () => {
  it('is made once, and says nothing before the record has failed', () => {
    const trial = newTrial()
    expect(trialOf(trial.segment, 0)).toBe(trial)
    expect(trial).toMatchObject({ excessive: false, pressed: false, unanswered: false, wasAlone: false, fails: 0 })
    // No success of its lane is counted before its first failure, not even none at all.
    expect([trial.deliveredBefore, trial.settledBefore]).toEqual([-1, -1])
  })
})
