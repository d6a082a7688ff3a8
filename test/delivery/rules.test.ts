import { describe, expect, it } from 'vitest'
import {
  asksForLess,
  backoffMs,
  blamedOf,
  deliversLately,
  type Failure,
  failureReason,
  isAmbiguous,
  isDenial,
  isFailure,
  longestWait,
  mayBeItsOwn,
  noWait,
  patienceMs,
  refusalsToPause,
  suspectsBeside,
  waitOf,
} from '../../src/delivery/rules.js'
import { answers } from '../support/scripted-sender.js'

const timedOut: Failure = { ...answers.reset, backPressure: true }

describe('a failure', () => {
  it.each([
    ['delivered', answers.delivered, false],
    ['rejected', answers.rejected, false],
    ['refused', answers.refused, true],
    ['wrong key', answers.wrongKey, true],
  ])('is an outcome after which the record is kept: %s', (_, outcome, expected) => {
    expect(isFailure(outcome)).toBe(expected)
  })

  it.each([
    ['an answer 500', answers.failed, true],
    ['back-pressure', answers.busy, true],
    ['a connection that broke after the request was written', answers.reset, true],
    ['403', answers.forbidden, true],
    ['404', answers.noBucket, true],
    ['401', answers.wrongKey, false],
    ['a request that was never sent', answers.refused, false],
  ])('may be caused by the record itself, or not: %s', (_, outcome, expected) => {
    expect(mayBeItsOwn(outcome)).toBe(expected)
  })

  it('is a denial of the key for 401 only', () => {
    const denials = Object.values(answers).filter((outcome) => isFailure(outcome) && isDenial(outcome))
    expect(denials).toEqual([answers.wrongKey])
  })

  it('is ambiguous when the request was written and not answered', () => {
    const ambiguous = Object.values(answers).filter((outcome) => isFailure(outcome) && isAmbiguous(outcome))
    expect(ambiguous).toEqual([answers.reset])
  })

  it('is ambiguous when a gateway answers that it got no answer', () => {
    const statuses = Array.from({ length: 200 }, (_, index) => 400 + index)
    const ambiguous = statuses.filter((status) => isAmbiguous({ ...answers.failed, status } as Failure))
    expect(ambiguous).toEqual([502, 504, 520, 521, 522, 523, 524, 525, 526, 527])
  })

  it.each([
    { outcome: answers.busy, others: false, own: false, expected: true },
    { outcome: answers.busy, others: true, own: false, expected: true },
    { outcome: answers.busy, others: true, own: true, expected: false },
    { outcome: answers.busy, others: false, own: true, expected: true },
    { outcome: timedOut, others: false, own: false, expected: true },
    { outcome: timedOut, others: true, own: false, expected: false },
    { outcome: answers.failed, others: false, own: false, expected: false },
    { outcome: answers.forbidden, others: false, own: false, expected: false },
  ])('asks for less, or not: $outcome.reason, others $others, own $own', ({ outcome, others, own, expected }) => {
    expect(asksForLess(outcome, { others, own })).toBe(expected)
  })
})

describe('the records of a batch that are blamed', () => {
  const blamed = (...outcomes: Failure[]) =>
    blamedOf(outcomes.map((outcome, index) => ({ index, outcome }))).map(({ index }) => index)

  it('are all that were answered, except for the key', () => {
    expect(blamed(answers.failed, answers.wrongKey, answers.noBucket)).toEqual([0, 2])
  })

  it('are all to which a gateway answered that it got no answer: each was asked for itself', () => {
    const lost = { ...answers.failed, status: 504 } as Failure
    expect(blamed(lost, lost, answers.reset, answers.reset)).toEqual([0, 1, 2])
  })

  it('are the first of those without an answer: the ones behind it failed because of it', () => {
    expect(blamed(answers.failed, answers.reset, answers.reset, answers.refused)).toEqual([0, 1])
  })

  it('are none when nothing was sent', () => {
    expect(blamed(answers.refused, answers.refused)).toEqual([])
  })
})

describe('a lane pauses', () => {
  it.each([
    [0, 3],
    [59_999, 3],
    [60_000, 2],
    [Number.POSITIVE_INFINITY, 2],
  ])('%d ms after its last success when %d records are refused', (sinceSuccessMs, expected) => {
    expect(refusalsToPause(sinceSuccessMs)).toBe(expected)
    expect(deliversLately(sinceSuccessMs)).toBe(expected === 3)
  })
})

describe('a wait that the service asks for', () => {
  const asking = (retryAfterMs: number): Failure => ({ ...answers.busy, retryAfterMs })

  it('is honoured up to five minutes', () => {
    expect(waitOf(asking(2000), 100)).toEqual({ notBefore: 2100, excessive: false })
    expect(waitOf(asking(300_000), 100)).toEqual({ notBefore: 300_100, excessive: false })
    expect(waitOf(asking(300_001), 100)).toEqual({ notBefore: 300_100, excessive: true })
  })

  it('is none without a positive number', () => {
    for (const outcome of [asking(0), asking(-1), asking(Number.NaN), answers.busy, answers.noBucket]) {
      expect(waitOf(outcome, 100)).toBe(noWait)
    }
  })

  it('is named in the reason when it is longer than is honoured', () => {
    expect(failureReason(asking(300_000))).toBe('503')
    expect(failureReason(asking(3_600_000))).toBe('503 and asks to wait 3600 s; tried again after 300 s')
  })

  it('is the longest of several', () => {
    const [short, long] = [waitOf(asking(10), 0), waitOf(asking(20), 0)]
    expect(longestWait([short, long, noWait])).toBe(long)
    expect(longestWait([])).toBe(noWait)
  })
})

describe('the backoff', () => {
  const plan = { retry: { baseMs: 500, capMs: 30_000 }, random: () => 0.5 }

  it('doubles with each attempt, up to its cap', () => {
    const waits = [0, 1, 2, 3, 10].map((attempt) => backoffMs(attempt, { ...plan, draining: false }))
    expect(waits).toEqual([250, 500, 1000, 2000, 15_000])
  })

  it('grows no further than that of the second retry while a drain waits', () => {
    const waits = [0, 1, 2, 3, 10].map((attempt) => backoffMs(attempt, { ...plan, draining: true }))
    expect(waits).toEqual([250, 500, 1000, 1000, 1000])
  })
})

describe('patience', () => {
  it('is a quarter of the request time-out, and half a second at most while a drain waits', () => {
    expect(patienceMs(10_000, { draining: false })).toBe(2500)
    expect(patienceMs(10_000, { draining: true })).toBe(500)
    expect(patienceMs(1000, { draining: true })).toBe(250)
  })
})

describe('suspects', () => {
  it('take a quarter of the connections, and one at least', () => {
    expect([1, 4, 5, 64].map(suspectsBeside)).toEqual([1, 1, 2, 16])
  })
})
