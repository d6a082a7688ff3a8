import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../../src/content/api-error.js'
import { countsIn } from '../../src/client/read-counts.js'
import { errorsIn } from '../../src/client/read-errors.js'
import { isStored, pageIn } from '../../src/client/record-page.js'
import { countsSummary } from '../../src/commands/counts-summary.js'

const asked = { what: 'read', scheme: 'apiKey', redact: (text: string) => text } as const
const arrival = { id: 1, receivedAt: '2026-01-01T00:00:00.000Z', timeStamp: 1, appName: 'a' }
const log = { ...arrival, level: 'info', message: 'm' }
const value = { ...arrival, eventId: 7 }
const counts = { by: 'event', total: 1, totals: { 7: 1 }, lastSeen: { 7: arrival.receivedAt } }

describe('records in an answer', () => {
  it('have what every record of their kind has', () => {
    expect([isStored(log, 'logs'), isStored(value, 'values')]).toEqual([true, true])
    expect([isStored(log, 'values'), isStored(value, 'logs')]).toEqual([false, false])
    expect(pageIn({ list: [log] }, { asked, kind: 'logs' }).list).toEqual([log])
  })

  it.each([
    null,
    [],
    'text',
    { ...log, id: 1.5 },
    { ...log, id: '1' },
    { ...log, timeStamp: '1' },
    { ...log, appName: undefined },
    { ...log, level: 7 },
    { ...log, message: { toString: 'm' } },
  ])('make the answer one that cannot be read where one is %j', (record) => {
    expect(() => pageIn({ list: [log, record] }, { asked, kind: 'logs' })).toThrow(ApiError)
  })
})

describe('counts in an answer', () => {
  const step = { time: arrival.receivedAt, counts: { 7: 1 } }

  it('are taken where they are counts, with steps and without', () => {
    for (const answer of [counts, { ...counts, list: [step], others: 2, countedSince: arrival.receivedAt }]) {
      expect(countsIn(answer, asked)).toBe(answer)
      expect(
        countsSummary(countsIn(answer, asked), { names: new Map(), hasSteps: 'list' in answer }).lines,
      ).toContainEqual(expect.stringContaining('7'))
    }
  })

  it.each([
    { total: '1' },
    { totals: { 7: '1' } },
    { lastSeen: { 7: 5 } },
    { lastSeen: [] },
    { list: {} },
    { list: [null] },
    { list: [{ ...step, time: 5 }] },
    { list: [{ ...step, counts: null }] },
    { others: {} },
    { countedSince: 7 },
  ])('make the answer one that cannot be read where they have %j', (changes) => {
    expect(() => countsIn({ ...counts, ...changes }, asked)).toThrow(ApiError)
  })
})

describe('errors in an answer', () => {
  const error = { id: '1f', type: null, message: 'm', frame: null, count: 1, versions: [], steps: [1] }
  const errors = { total: 1, list: [error], from: arrival.receivedAt, stepMs: 60_000 }

  it('are taken where they are errors', () => {
    expect(errorsIn(errors, asked)).toBe(errors)
  })

  it.each([
    { total: '1' },
    { list: {} },
    { list: [null] },
    { list: [{ ...error, id: 7 }] },
    { list: [{ ...error, count: '1' }] },
    { list: [{ ...error, versions: undefined }] },
    { from: 7 },
    { stepMs: null },
  ])('make the answer one that cannot be read where they have %j', (changes) => {
    expect(() => errorsIn({ ...errors, ...changes }, asked)).toThrow(ApiError)
  })
})
