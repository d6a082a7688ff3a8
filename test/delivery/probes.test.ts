import { describe, expect, it } from 'vitest'
import { Probes } from '../../src/delivery/probes.js'
import { type Pending, pendingRecord, RecordQueue } from '../../src/delivery/record-queue.js'
import { noWait } from '../../src/delivery/rules.js'

const generation = 0

/** Probes over a queue of records whose bodies are their numbers. */
function setUpProbes(count: number) {
  const probes = new Probes()
  const ready = new RecordQueue()
  const records = Array.from({ length: count }, (_, sequence) =>
    pendingRecord({ body: `${sequence}`, bytes: 1, severity: 2, idempotencyKey: '' }, { sequence, generation }),
  )
  for (const record of records) ready.putBack(record)
  const source = { ready, takeNext: () => ready.takeOldest() }
  const next = (beside = false) => probes.next(source, { beside })
  /** A record fails while the breaker is closed, as a probe, or in a batch that came back while it was open. */
  const fail = (record: Pending, how: 'first' | 'probe' | 'late', { own = true, paused = false, now = 0 } = {}) => {
    const failed = { record, wait: noWait }
    const breaker = { asked: how === 'probe', open: how !== 'first', paused, now }
    probes.failedAlone(failed, { blamed: own ? [failed] : [], ...breaker })
  }
  const verdict = (now = 0, { proven = true } = {}) => {
    const { atFault, unsent, others, confirmed } = probes.over(now, { proven })
    const bodies = (list: readonly Pending[]) => list.map(({ body }) => body)
    return {
      atFault: bodies(atFault.map(({ record }) => record)),
      unsent: bodies(unsent),
      others: bodies(others),
      confirmed,
    }
  }
  return { probes, ready, next, fail, verdict }
}

describe('the next probe', () => {
  it('comes from both ends of the queue in turn, and records that failed come last, in the order of their failures', () => {
    const { next, fail } = setUpProbes(4)
    const asked: string[] = []
    for (let turn = 0; turn < 7; turn++) {
      const record = next()!
      asked.push(record.body)
      fail(record, 'probe', { own: false })
    }
    expect(asked).toEqual(['0', '3', '1', '2', '0', '3', '1'])
  })

  it('comes from the end beside others in flight, and where it confirms a failure', () => {
    const beside = setUpProbes(4)
    expect(beside.next(true)?.body).toBe('3')
    const { probes, next, fail } = setUpProbes(4)
    fail(next()!, 'first')
    expect(probes.confirming).toBe(true)
    expect(next()?.body).toBe('3')
  })

  it('is none where every record was shed', () => {
    const { probes, next, fail } = setUpProbes(1)
    const record = next()!
    fail(record, 'first')
    probes.tried.remove(record)
    expect(next()).toBeUndefined()
  })
})

describe('a failure is to be confirmed by another record', () => {
  it.each([
    { how: 'first', own: true, paused: false, confirming: true },
    { how: 'first', own: false, paused: false, confirming: false },
    { how: 'probe', own: true, paused: false, confirming: false },
    { how: 'probe', own: true, paused: true, confirming: true },
    { how: 'probe', own: false, paused: true, confirming: false },
    { how: 'late', own: true, paused: false, confirming: false },
  ] as const)('or not: %o', ({ how, confirming, ...rest }) => {
    const { probes, next, fail } = setUpProbes(3)
    expect(probes.confirming).toBe(false)
    fail(next()!, how, rest)
    expect(probes.confirming).toBe(confirming)
  })

  it('until that one has failed, too; the same record again confirms nothing', () => {
    const { probes, next, fail } = setUpProbes(3)
    const first = next()!
    fail(first, 'first')
    probes.tried.remove(first)
    fail(first, 'probe')
    expect(probes.confirming).toBe(true)
    fail(next()!, 'probe')
    expect(probes.confirming).toBe(false)
  })

  it('also that of a suspect, and not after the key was refused', () => {
    const { probes } = setUpProbes(1)
    probes.suspectFailed({ own: true })
    expect(probes.confirming).toBe(true)
    probes.denied()
    expect(probes.confirming).toBe(false)
    probes.suspectFailed({ own: true })
    probes.suspectFailed({ own: false })
    expect(probes.confirming).toBe(false)
  })
})

describe('when the service takes records again', () => {
  it('all that may be at fault are, where the first other record was taken; those never sent are not', () => {
    const { next, fail, verdict, probes } = setUpProbes(4)
    const [first, second, third] = [next()!, next()!, next()!]
    fail(first, 'first')
    fail(second, 'late')
    fail(third, 'late', { own: false })
    expect(verdict(1_000_000)).toEqual({ atFault: ['0', '1'], unsent: [], others: [], confirmed: true })
    expect(probes.confirming).toBe(false)
    expect(probes.tried.length).toBe(0)
  })

  it('after an outage those are at fault that failed alone within the last minute', () => {
    const { next, fail, verdict } = setUpProbes(6)
    const records = [next()!, next()!, next()!, next()!]
    fail(records[0]!, 'first', { now: 0 })
    fail(records[1]!, 'probe', { now: 1000 })
    fail(records[2]!, 'probe', { now: 40_000 })
    fail(records[3]!, 'probe', { now: 50_000, own: false })
    expect(verdict(61_000)).toEqual({
      atFault: [records[1]!.body, records[2]!.body],
      unsent: [records[3]!.body],
      others: [records[0]!.body],
      confirmed: false,
    })
  })

  it('a record of a batch that failed together, or came back late, is not at fault after an outage', () => {
    const { probes, next, verdict } = setUpProbes(4)
    const [first, second] = [next()!, next()!].map((record) => ({ record, wait: noWait }))
    const breaker = { asked: false, paused: false, now: 0 }
    probes.failedAlone(first!, { blamed: [first!, second!], open: false, ...breaker })
    probes.suspectFailed({ own: false })
    expect(verdict(1)).toEqual({ atFault: [], unsent: [], others: ['0', '1'], confirmed: false })
  })

  it('a record that failed alone before keeps that when it fails again with others', () => {
    const { next, fail, verdict, probes } = setUpProbes(4)
    const [first] = [next()!]
    fail(first, 'first', { now: 5 })
    probes.tried.remove(first)
    fail(first, 'late', { now: 10 })
    probes.suspectFailed({ own: false })
    expect(verdict(20)).toMatchObject({ atFault: ['0'], confirmed: false })
  })

  it('a record is at fault that failed alone in two outages, each long before its end', () => {
    const { next, fail, verdict } = setUpProbes(4)
    const [first, second] = [next()!, next()!]
    fail(first, 'probe', { now: 0 })
    fail(second, 'late', { now: 0 })
    expect(verdict(300_000)).toMatchObject({ atFault: [], others: ['0', second.body] })
    fail(first, 'probe', { now: 300_000 })
    fail(second, 'probe', { now: 300_000 })
    expect(verdict(600_000)).toMatchObject({ atFault: ['0'], others: [second.body] })
  })

  it('no record is at fault, and none is remembered, where only another lane has proven that', () => {
    const { next, fail, verdict } = setUpProbes(2)
    const first = next()!
    fail(first, 'probe', { now: 0 })
    expect(verdict(1, { proven: false })).toMatchObject({ atFault: [], others: ['0'] })
    fail(first, 'probe', { now: 2 })
    expect(verdict(300_000)).toMatchObject({ atFault: [], others: ['0'] })
  })
})
