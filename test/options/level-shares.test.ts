import { describe, expect, it } from 'vitest'
import { optionTable } from '../../src/options/defaults.js'
import { checkOption, readVariable } from '../../src/options/option-value.js'

const { kind } = optionTable.sample
const levels = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`level${index}`, 1]))

describe('shares of levels', () => {
  it.each([
    ['debug:0.01,info:0.25', { debug: 0.01, info: 0.25 }],
    ['Debug:1', { debug: 1 }],
    [' debug : .5 , info : 0 ', { debug: 0.5, info: 0 }],
    ['a:b:0.5', { 'a:b': 0.5 }],
    ['constructor:1.0', { constructor: 1 }],
  ])('are read from %j', (text, value) => {
    expect(readVariable(kind, text)).toEqual({ ok: true, value })
  })

  it('have names in lower case', () => {
    expect(checkOption(kind, { DEBUG: 0.5, http: 0 })).toEqual({ ok: true, value: { debug: 0.5, http: 0 } })
  })

  it('keep a level with the name of a property that all objects have', () => {
    const checked = readVariable(kind, '__proto__:0.5')
    expect(checked.ok && Object.entries(checked.value)).toEqual([['__proto__', 0.5]])
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
    expect(readVariable(kind, text).ok).toBe(false)
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
    expect(checkOption(kind, value).ok).toBe(false)
  })

  it('are at most 100', () => {
    expect(checkOption(kind, levels(100)).ok).toBe(true)
  })

  it('are described by the words of the place where they are wrong', () => {
    expect(checkOption(kind, [])).toMatchObject({ expected: expect.stringMatching(/^an object such as/) })
    expect(readVariable(kind, 'x')).toMatchObject({ expected: expect.stringMatching(/^a text such as/) })
  })
})
