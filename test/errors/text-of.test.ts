import { describe, expect, it } from 'vitest'
import { reasonOf, textOf } from '../../src/errors/text-of.js'

const trap = () => {
  throw new Error('trap')
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

describe('the text of a value', () => {
  it.each<[string, unknown, string]>([
    ['a text', 'no', 'no'],
    ['an error', new TypeError('no'), 'TypeError: no'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
    ['a number', 7n, '7'],
    ['nothing', undefined, 'undefined'],
    ['toString that throws', { toString: trap }, 'a value that cannot be shown'],
    ['Symbol.toPrimitive that throws', { [Symbol.toPrimitive]: trap }, 'a value that cannot be shown'],
    ['no prototype', Object.create(null), 'a value that cannot be shown'],
    ['a revoked proxy', revoked(), 'a value that cannot be shown'],
    [
      'a message that throws',
      Object.defineProperty(new Error(), 'message', { get: trap }),
      'a value that cannot be shown',
    ],
  ])('of %s', (_, value, text) => {
    expect(textOf(value)).toBe(text)
  })

  it('is no longer than a person would read', () => {
    expect(textOf('x'.repeat(100_000_000))).toBe(`${'x'.repeat(1000)}…`)
  })
})

describe('the reason of what was thrown', () => {
  it.each<[unknown, string]>([
    [new Error('no'), 'no'],
    ['no', 'no'],
    [Object.assign(new Error(), { message: Object.create(null) }), 'a value that cannot be shown'],
    [Object.defineProperty(new Error(), 'message', { get: trap }), 'a value that cannot be shown'],
    [revoked(), 'a value that cannot be shown'],
  ])('%#: is its message, or its text', (thrown, reason) => {
    expect(reasonOf(thrown)).toBe(reason)
  })
})
