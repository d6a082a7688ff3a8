import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { quoted, reasonOf, textOf } from '../../src/errors/text-of.js'

const trap = () => {
  throw new Error('trap')
}

const hidden = 'a value that cannot be shown'

function withMessage(message: PropertyDescriptor): Error {
  return Object.defineProperty(new Error(), 'message', message)
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

describe('the text of a value', () => {
  it.each<[string, () => unknown, string]>([
    ['a text', () => 'no', 'no'],
    ['an error', () => new TypeError('no'), 'TypeError: no'],
    ['a symbol', () => Symbol('s'), 'Symbol(s)'],
    ['a number', () => 7n, '7'],
    ['nothing', () => undefined, 'undefined'],
    ['toString that throws', () => ({ toString: trap }), hidden],
    ['Symbol.toPrimitive that throws', () => ({ [Symbol.toPrimitive]: trap }), hidden],
    ['no prototype', () => Object.create(null), hidden],
    ['a revoked proxy', revoked, hidden],
    ['a message that throws', () => withMessage({ get: trap }), hidden],
  ])('of %s', (_, make, text) => {
    expect(textOf(make())).toBe(text)
  })

  it('is no longer than people read', () => {
    expect(textOf('x'.repeat(100_000_000))).toBe(`${'x'.repeat(1000)}…`)
  })
})

describe('the reason of a thrown value', () => {
  it.each<[string, () => unknown, string]>([
    ['an error', () => new Error('no'), 'no'],
    ['an error of another realm', () => runInNewContext('new TypeError("no")'), 'no'],
    ['a text', () => 'no', 'no'],
    ['an error whose message is no text', () => withMessage({ value: Object.create(null) }), hidden],
    ['an error whose message throws', () => withMessage({ get: trap }), hidden],
    ['a revoked proxy', revoked, hidden],
  ])('%s: is its message, or its text', (_, make, reason) => {
    expect(reasonOf(make())).toBe(reason)
  })
})

describe('a wrong value in an error message', () => {
  it.each<[string, unknown, string]>([
    ['a string', 'no "quotes"', '"no \\"quotes\\""'],
    ['a long string', 'x'.repeat(1_000_000), `"${'x'.repeat(100)}…"`],
    ['a number', Number.NaN, 'NaN'],
    ['a boolean', false, 'false'],
    ['null', null, 'null'],
    ['nothing', undefined, 'undefined'],
    ['an object', { secret: 'x' }, 'an object'],
    ['an object without a prototype', Object.create(null), 'an object'],
    ['a revoked proxy', revoked(), 'an object'],
    ['a function', () => {}, 'a function'],
    ['a symbol', Symbol('s'), 'a symbol'],
    ['a bigint', 7n, 'a bigint'],
  ])('%s', (_, value, text) => {
    expect(quoted(value)).toBe(text)
  })
})
