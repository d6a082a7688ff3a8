import { describe, expect, it } from 'vitest'
import { requestIdOf } from '../../src/web/request-id.js'

const trace = '0af7651916cd43dd8448eb211c80319c'
const parent = 'b7ad6b7169203331'
const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

describe('the id of a request', () => {
  it.each(['r-1', '!', '~'.repeat(200)])('is its x-request-id %s', (id) => {
    expect(requestIdOf({ 'x-request-id': id, traceparent: `00-${trace}-${parent}-01` })).toBe(id)
  })

  it.each(['', ' ', 'a b', 'ä', 'a\tb', 'x'.repeat(201)])('is never the x-request-id %j', (id) => {
    expect(requestIdOf({ 'x-request-id': id })).toMatch(uuid)
    expect(requestIdOf({ 'x-request-id': id, traceparent: `00-${trace}-${parent}-01` })).toBe(trace)
  })

  it.each([`00-${trace}-${parent}-01`, `01-${trace}-${parent}-00`, `01-${trace}-${parent}-00-more`])(
    'is the trace id of %s',
    (traceparent) => {
      expect(requestIdOf({ traceparent })).toBe(trace)
    },
  )

  it.each([
    '',
    `00-${trace}-${parent}`,
    `00-${trace}-${parent}-01-more`,
    `ff-${trace}-${parent}-01`,
    `00-${'0'.repeat(32)}-${parent}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace.toUpperCase()}-${parent}-01`,
  ])('is a new UUID where traceparent is %j', (traceparent) => {
    expect(requestIdOf({ traceparent })).toMatch(uuid)
    expect(requestIdOf({ traceparent })).not.toBe(requestIdOf({ traceparent }))
  })
})
