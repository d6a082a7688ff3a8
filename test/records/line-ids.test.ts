import { describe, expect, it } from 'vitest'
import { idOf } from '../../src/records/line-ids.js'

describe('the id of a line', () => {
  it.each([
    [{ requestId: 'r', trace_id: 't' }, 'r'],
    [{ request_id: 'r' }, 'r'],
    [{ reqId: 7 }, '7'],
    [{ req_id: 'r' }, 'r'],
    [{ req: { id: 3 }, trace_id: 't' }, '3'],
    [{ trace_id: 't' }, 't'],
    [{ traceId: 't' }, 't'],
    [{ 'trace.id': 't' }, 't'],
    [{ trace: { id: 't' } }, 't'],
    [{ dd: { trace_id: '7141', span_id: '9' } }, '7141'],
    [{ traceId: 7 }, '7'],
    [{ 'req.id': 'r', req: { id: 'x' } }, 'r'],
    [{ requestId: '', reqId: null, req: 'GET', trace_id: 't' }, 't'],
    [{ requestId: { a: 1 }, req: null }, undefined],
    [{}, undefined],
  ])('of %j is %s', (fields, id) => {
    expect(idOf(fields)).toBe(id)
  })

  it('is bounded', () => {
    expect(idOf({ requestId: 'x'.repeat(10_000) })).toHaveLength(200)
  })

  it('is none where an object of the application throws', () => {
    const req = {
      get id() {
        throw new Error('not now')
      },
    }
    expect(idOf({ req })).toBeUndefined()
    expect(idOf({ req, traceId: 't' })).toBe('t')
  })
})
