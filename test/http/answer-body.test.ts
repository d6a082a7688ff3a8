import { describe, expect, it } from 'vitest'
import {
  boundedText,
  boundedValue,
  objectOf,
  readBody,
  readComplaints,
  readValidationErrors,
} from '../../src/http/answer-body.js'

describe('a body', () => {
  it.each([
    ['', { type: 'empty' }],
    ['\ufeff \r\n', { type: 'empty' }],
    [' {"a":1} ', { type: 'json', value: { a: 1 } }],
    ['[]', { type: 'json', value: [] }],
    ['{"a":', { type: 'cut' }],
    ['<html>', { type: 'foreign' }],
    ['[{"a":', { type: 'foreign' }],
  ])('%j is empty, JSON, the beginning of an object, or foreign', (body, expected) => {
    expect(readBody(body)).toEqual(expected)
  })

  it('is an object, and no list, text, number or null', () => {
    expect(objectOf({ a: 1 })).toEqual({ a: 1 })
    for (const value of [[], null, undefined, 'text', 5, true]) expect(objectOf(value)).toBeUndefined()
  })
})

describe('a text with a bound', () => {
  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'abc…'],
    ['ab😀', 4, 'ab😀'],
    ['ab😀d', 3, 'ab…'],
    ['ab😀d', 4, 'ab😀…'],
    ['ab\udc00d', 3, 'ab\udc00…'],
    ['ab\ud7ffd', 3, 'ab\ud7ff…'],
    ['ab\ud800d', 3, 'ab…'],
    ['ab\udbffd', 3, 'ab…'],
  ])('%j of %d characters at most is %j: no character is cut in two', (text, most, expected) => {
    expect(boundedText(text, most)).toBe(expected)
  })
})

describe('a value with bounds', () => {
  const wide = { depth: 9, entries: 99, characters: 999 }

  it('is a copy of what lies within them', () => {
    const value = { a: [1, 'two', null, true, { b: 'c' }] }
    const copy = boundedValue(value, wide)
    expect(copy).toEqual(value)
    expect(copy).not.toBe(value)
  })

  it('has no more levels than the depth', () => {
    expect(boundedValue({ a: { b: { c: 1 } } }, { ...wide, depth: 2 })).toEqual({ a: { b: '…' } })
    expect(boundedValue([[[1]]], { ...wide, depth: 2 })).toEqual([['…']])
    expect(boundedValue({ a: 1 }, { ...wide, depth: 0 })).toBe('…')
  })

  it('has no more entries, of all levels together', () => {
    expect(boundedValue([1, 2, 3, 4], { ...wide, entries: 3 })).toEqual([1, 2, 3])
    expect(boundedValue({ a: 1, b: 2, c: 3 }, { ...wide, entries: 2 })).toEqual({ a: 1, b: 2 })
    expect(
      boundedValue(
        [
          [1, 2, 3],
          [4, 5],
        ],
        { ...wide, entries: 5 },
      ),
    ).toEqual([[1, 2, 3], []])
    expect(boundedValue([{ a: 1, b: 2 }, 3], { ...wide, entries: 2 })).toEqual([{ a: 1 }])
  })

  it('has no more characters, of all texts and names together', () => {
    expect(boundedValue(['abc', 'def'], { ...wide, characters: 4 })).toEqual(['abc', 'd…'])
    expect(boundedValue(['abcdef', 'ghi', ''], { ...wide, characters: 4 })).toEqual(['abcd…', '…', ''])
    expect(boundedValue({ abc: 'def' }, { ...wide, characters: 5 })).toEqual({ abc: 'de…' })
  })

  it('has no field __proto__', () => {
    const value = JSON.parse('{"__proto__":{"x":1},"a":2}')
    const copy = boundedValue(value, wide) as object
    expect(Object.keys(copy)).toEqual(['a'])
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
  })
})

describe('the complaints of an answer', () => {
  it('about fields have a name and a message, whatever stands in their place; others are left out', () => {
    expect(
      readValidationErrors([
        { name: 'a', message: 'b', attemptedValue: 'c' },
        { name: { x: 1 }, message: 5 },
        { name: 'only' },
        { message: 'only' },
        null,
        'text',
        7,
      ]),
    ).toEqual([
      { name: 'a', attemptedValue: 'c', message: 'b' },
      { name: '{"x":1}', attemptedValue: undefined, message: '5' },
    ])
    expect(readValidationErrors('no list')).toEqual([])
  })

  it('are twenty at most', () => {
    const many = Array.from({ length: 30 }, (_, number) => ({ name: `${number}`, message: 'm' }))
    expect(readValidationErrors(many)).toHaveLength(20)
    expect(readComplaints({ errors: many })).toHaveLength(20)
  })

  it('are texts, or objects with a message', () => {
    expect(readComplaints({ errors: ['a', { message: 'b' }, { code: 1 }, null, 5] })).toEqual([
      'a',
      'b',
      '{"code":1}',
      'null',
      '5',
    ])
    expect(readComplaints({ errors: {} })).toEqual([])
  })
})
