import { describe, expect, it } from 'vitest'
import { table } from '../../src/options/table.js'

const { kind } = table.sample
const levels = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`level${index}`, 1]))

describe('shares of levels', () => {
  it.each([
    ['debug:0.01,info:0.25', { debug: 0.01, info: 0.25 }],
    ['Debug:1', { debug: 1 }],
    [' debug : .5 , info : 0 ', { debug: 0.5, info: 0 }],
    ['a:b:0.5', { 'a:b': 0.5 }],
    ['constructor:1.0', { constructor: 1 }],
  ])('are read from %j', (text, value) => {
    expect(kind.read(text)).toEqual(value)
  })

  it('have names in lower case', () => {
    expect(kind.check({ DEBUG: 0.5, http: 0 })).toEqual({ debug: 0.5, http: 0 })
  })

  it('keep a level with the name of a property that all objects have', () => {
    expect(Object.entries(kind.read('__proto__:0.5') ?? {})).toEqual([['__proto__', 0.5]])
  })

  it.each([
    'debug',
    'debug:',
    ':0.5',
    'debug:1.1',
    'debug:-0.1',
    'debug:1%',
    'debug:1e-3',
    'debug:0x1',
    'debug:.',
    'debug:0.5,',
    'debug:0.5,DEBUG:1',
    `${'d'.repeat(61)}:1`,
  ])('are not read from %j', (text) => {
    expect(kind.read(text)).toBeUndefined()
  })

  it.each([
    [{}],
    [[0.5]],
    ['debug:0.5'],
    [{ '': 1 }],
    [{ debug: 1.01 }],
    [{ debug: -0.01 }],
    [{ debug: Number.NaN }],
    [{ debug: '0.5' }],
    [{ debug: 1, Debug: 1 }],
    [{ ['d'.repeat(61)]: 1 }],
    [levels(101)],
  ])('are not %j', (value) => {
    expect(kind.check(value)).toBeUndefined()
  })

  it('are at most 100', () => {
    expect(kind.check(levels(100))).toBeDefined()
  })

  it('are described by the words of the place where they are wrong', () => {
    expect(kind.expected).toMatch(/^an object such as/)
    expect(kind.expectedText).toMatch(/^a text such as/)
  })
})
