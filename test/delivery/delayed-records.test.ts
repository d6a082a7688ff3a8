import { describe, expect, it } from 'vitest'
import { DelayedRecords } from '../../src/delivery/delayed-records.js'
import { type Pending, pendingRecord } from '../../src/delivery/record-queue.js'
import { noWait } from '../../src/delivery/rules.js'
import { VirtualClock } from '../support/virtual-clock.js'

const generation = 0

function setUpDelayed() {
  const clock = new VirtualClock()
  const due: string[] = []
  const calls: number[] = []
  const delayed = new DelayedRecords(clock, (records) => {
    calls.push(records.length)
    due.push(...records.map(({ body }) => body))
  })
  let sequence = 0
  const add = (body: string, waitMs: number, wait = noWait): Pending => {
    const record = pendingRecord(
      { body, bytes: 1, severity: 2, idempotencyKey: '' },
      { sequence: sequence++, generation },
    )
    delayed.add(record, { ...wait, waitMs })
    return record
  }
  return { clock, delayed, due, calls, add }
}

describe('records that wait for their own next attempt', () => {
  it('are due when they have waited, at most 20 ms later, and those of one moment together', async () => {
    const { clock, due, calls, delayed, add } = setUpDelayed()
    await clock.advance(5)
    add('a', 100)
    add('b', 112)
    add('c', 200)
    expect(clock.timers).toBe(2)
    await clock.advance(114)
    expect(due).toEqual([])
    await clock.advance(1)
    expect(due).toEqual(['a', 'b'])
    expect(calls).toEqual([2])
    expect(delayed.queue.length).toBe(1)
    await clock.advance(100)
    expect(due).toEqual(['a', 'b', 'c'])
    expect(clock.timers).toBe(0)
  })

  it('leave no timer when the last of a moment is removed', async () => {
    const { clock, due, delayed, add } = setUpDelayed()
    const [first, second] = [add('a', 100), add('b', 100)]
    delayed.remove(first)
    expect(clock.timers).toBe(1)
    delayed.remove(second)
    expect(clock.timers).toBe(0)
    expect(delayed.queue.length).toBe(0)
    await clock.advance(1000)
    expect(due).toEqual([])
  })

  it('are due at once for a drain, except inside a Retry-After', async () => {
    const { clock, due, calls, delayed, add } = setUpDelayed()
    await clock.advance(1000)
    add('over', 500, { notBefore: 1000, excessive: false })
    add('asked to wait', 500, { notBefore: 1500, excessive: false })
    add('asked to wait too long', 500, { notBefore: 1500, excessive: true })
    delayed.releaseNow({ last: false })
    expect(due).toEqual(['over'])
    delayed.releaseNow({ last: false })
    expect(calls).toEqual([1])
    delayed.releaseNow({ last: true })
    expect(due).toEqual(['over', 'asked to wait too long'])
  })

  it('give the one that is due first, of those that no Retry-After holds back', async () => {
    const { clock, delayed, add } = setUpDelayed()
    add('asked to wait', 10, { notBefore: 1, excessive: false })
    add('later', 300)
    add('sooner', 100)
    add('as soon', 100)
    expect(delayed.takeEarliest()?.body).toBe('sooner')
    expect(delayed.takeEarliest()?.body).toBe('as soon')
    expect(delayed.takeEarliest()?.body).toBe('later')
    expect(delayed.takeEarliest()).toBeUndefined()
    await clock.advance(1)
    expect(delayed.takeEarliest()?.body).toBe('asked to wait')
    expect(delayed.queue.length).toBe(0)
    expect(clock.timers).toBe(0)
  })
})
