import { describe, expect, it } from 'vitest'
import { errorText } from '../../src/records/error-text.js'

/** The text without the frames of its stacks. */
const textOf = (error: unknown) => errorText(error).replace(/\n {4}at [^\n]+/g, '')

describe('the text of an error', () => {
  it('is its stack', () => {
    expect(errorText(new TypeError('boom'))).toMatch(/^TypeError: boom\n {4}at /)
  })

  it('has the causes, with the fields that they have', () => {
    const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED', port: 80 })
    const error = new Error('request failed', { cause: new Error('no connection', { cause }) })
    expect(textOf(error)).toBe(
      'Error: request failed\ncaused by: Error: no connection\ncaused by: Error: refused\n    {"code":"ECONNREFUSED","port":80}',
    )
  })

  it('has causes that are not errors', () => {
    expect(textOf(new Error('a', { cause: 'because' }))).toBe('Error: a\ncaused by: because')
    expect(textOf(new Error('a', { cause: { code: 1 } }))).toBe('Error: a\ncaused by: {"code":1}')
  })

  it('has the members of an aggregate', () => {
    const error = new AggregateError([new Error('one'), new RangeError('two')], 'all failed')
    expect(textOf(error)).toBe('AggregateError: all failed\nerror 1 of 2: Error: one\nerror 2 of 2: RangeError: two')
  })

  it('has the current name and message of the error, even if its stack is older', () => {
    const error = new Error('before')
    error.name = 'PaymentError'
    error.message = 'after'
    expect(textOf(error)).toBe('PaymentError: after')
  })

  it('does without a stack', () => {
    const error = new Error('boom')
    delete error.stack
    expect(errorText(error)).toBe('Error: boom')
  })

  it('ends, even if causes and members form a circle', () => {
    const error = new AggregateError([], 'round')
    error.errors.push(error, new Error('other', { cause: error }))
    error.cause = error
    expect(textOf(error)).toBe(
      'AggregateError: round\nerror 1 of 2: [circular]\nerror 2 of 2: Error: other\ncaused by: [circular]\ncaused by: [circular]',
    )
    let deep = new Error('bottom')
    for (let level = 0; level < 10_000; level++) deep = new Error(`level ${level}`, { cause: deep })
    expect(errorText(deep).match(/caused by/g)).toHaveLength(19)
  })

  it('survives an error that throws when it is read', () => {
    const error = new Error('boom')
    for (const key of ['stack', 'cause', 'code', 'name']) {
      Object.defineProperty(error, key, {
        enumerable: true,
        get() {
          throw new Error('no')
        },
      })
    }
    expect(errorText(error)).toBe('Error: boom')
    expect(errorText(new Proxy(new Error('a'), { get: () => undefined }))).toBe('Error')
  })
})

describe('the text of a large error', () => {
  it('is written in one pass, and ends soon after its bound', () => {
    const error = new Error(`${'\n'.repeat(200_000)}x`)
    const startedAt = performance.now()
    errorText(error)
    const members = Array.from({ length: 200_000 }, (_, index) => ({ index }))
    const text = errorText(new AggregateError(members, 'many'))
    expect(performance.now() - startedAt).toBeLessThan(1000)
    expect(text).toMatch(/… 199981 more errors$/)
    expect(errorText(new Error('x'.repeat(1000), { cause: new Error('inner') }), { maxChars: 500 })).toMatch(
      /… more causes$/,
    )
  })
})
