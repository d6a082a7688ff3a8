import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { jsonOf } from '../../src/records/json-text.js'

const cyclic: Record<string, unknown> = { name: 'a' }
cyclic.self = cyclic
cyclic.list = [cyclic]

function nested(depth: number): unknown {
  let value: unknown = 'bottom'
  for (let level = 0; level < depth; level++) value = { in: value }
  return value
}

/** Logged values and their text. */
const table: [what: string, value: unknown, json: string][] = [
  ['plain values', { a: 1, b: 'x', c: [true, null], d: {} }, '{"a":1,"b":"x","c":[true,null],"d":{}}'],
  ['undefined', { a: undefined, b: [undefined] }, '{"b":[null]}'],
  ['BigInt', { big: 9_007_199_254_740_993n }, '{"big":"9007199254740993"}'],
  ['numbers that JSON does not know', [Number.NaN, Number.NEGATIVE_INFINITY, -0], '["NaN","-Infinity",0]'],
  ['symbols', { s: Symbol('a') }, '{"s":"Symbol(a)"}'],
  [
    'functions',
    [function named() {}, () => {}, class A {}],
    '["[function named]","[function (anonymous)]","[function A]"]',
  ],
  ['dates', [new Date(0), new Date(Number.NaN)], '["1970-01-01T00:00:00.000Z","Invalid Date"]'],
  ['maps', [new Map([['a', 1]]), new Map([[{ k: 1 }, 2]])], '[{"a":1},{"[key 1]":{"key":{"k":1},"value":2}}]'],
  ['sets', new Set([1, 'a']), '[1,"a"]'],
  ['binary data', [Buffer.alloc(12), new Uint16Array(3)], '["[Buffer, 12 bytes]","[Uint16Array, 6 bytes]"]'],
  ['boxed values', [Object('a'), Object(1), Object(false)], '["a",1,false]'],
  ['patterns and addresses', [/a+/g, new URL('http://a/b')], '["/a+/g","http://a/b"]'],
  ['promises and weak collections', [Promise.resolve(1), new WeakMap()], '["[Promise]","[WeakMap]"]'],
  ['cycles', cyclic, '{"name":"a","self":"[circular]","list":["[circular]"]}'],
  ['the same object twice', [cyclic.none, [1], [1]], '[null,[1],[1]]'],
  ['objects without a prototype', Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
  [
    'values of another realm',
    runInNewContext('[new Date(0), new Map([["a", 1]]), new Set([1]), /a/, new ArrayBuffer(3), Object("a")]'),
    '["1970-01-01T00:00:00.000Z",{"a":1},[1],"/a/","[ArrayBuffer, 3 bytes]","a"]',
  ],
  ['a field that is called __proto__', JSON.parse('{"__proto__":{"a":1}}'), '{"__proto__":{"a":1}}'],
]

describe('JSON of logged values', () => {
  it.each(table)('%s', (_, value, json) => {
    expect(jsonOf(value)).toBe(json)
    expect(() => JSON.parse(json)).not.toThrow()
  })

  it('has all of an error, wherever it is', () => {
    const inner = Object.assign(new TypeError('inner'), { code: 'E2' })
    const error = Object.assign(new Error('outer', { cause: inner }), { status: 500 })
    const { list } = JSON.parse(jsonOf({ list: [error] }))
    expect(list[0]).toMatchObject({
      type: 'Error',
      message: 'outer',
      status: 500,
      cause: { type: 'TypeError', message: 'inner', code: 'E2' },
    })
    expect(list[0].stack).toMatch(/^Error: outer\n {4}at /)
  })

  it('has the members of an aggregate, and stops at an error that is its own cause', () => {
    const error = new AggregateError([new Error('one'), 'two'], 'both')
    error.cause = error
    expect(JSON.parse(jsonOf(error))).toMatchObject({
      type: 'AggregateError',
      errors: [{ message: 'one' }, 'two'],
      cause: '[circular]',
    })
  })

  it('marks values that cannot be read, and reads the rest', () => {
    const value = {
      before: 1,
      get bad() {
        throw new Error('no')
      },
      proxy: new Proxy(
        {},
        {
          ownKeys() {
            throw new Error('hidden')
          },
        },
      ),
      json: {
        toJSON() {
          throw new Error('never')
        },
      },
      after: 2,
    }
    expect(JSON.parse(jsonOf(value))).toEqual({
      before: 1,
      bad: '[unreadable: no]',
      proxy: '[unreadable: hidden]',
      json: '[unreadable: never]',
      after: 2,
    })
  })

  it('stops after twenty levels', () => {
    expect(jsonOf(nested(10_000))).toContain('"[too deep]"')
    expect(jsonOf(nested(10_000)).length).toBeLessThan(200)
    expect(jsonOf(nested(15))).toContain('"bottom"')
  })

  it.each<[string, unknown]>([
    ['a long text', { text: 'x'.repeat(5_000_000) }],
    ['a long list', { list: Array.from({ length: 1_000_000 }, (_, index) => index) }],
    ['an endless one', { list: new Array(4_000_000_000) }],
    ['many fields', Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`field${index}`, index]))],
    [
      'one that branches without end',
      (() => {
        const branch: Record<string, unknown> = {}
        for (let key = 0; key < 10; key++)
          branch[`key${key}`] = {
            get next() {
              return { ...branch }
            },
          }
        return branch
      })(),
    ],
  ])('writes of %s no more than there is room for, as JSON', (_, value) => {
    const text = jsonOf(value, { maxChars: 10_000 })
    expect(text.length).toBeLessThan(12_000)
    expect(() => JSON.parse(text)).not.toThrow()
    expect(text).toMatch(/more|cut/)
  })
})
