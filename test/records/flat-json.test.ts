import fc from 'fast-check'
import { expect, it } from 'vitest'
import { FlatJson } from '../../src/records/flat-json.js'
import { runs } from '../support/full.js'

const texts = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('a', 'b', '"', '\\', 'a":"b', '","b":"', '\t', '\ud83d', '__proto__', '10', '9', ''),
)
const plain = fc.oneof(
  texts,
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(true, false, null, undefined),
)
const others = fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, 1n, [], {}, new Date(0), Symbol('s'), () => 1)
const flat = fc.dictionary(texts, plain, { maxKeys: 6, noNullPrototype: true })
const shown = (fields: object) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
const sorted = (fields: object) => Object.fromEntries(Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1)))
/** The text of each field as it is, so that quotes, backslashes and line ends break it. */
const careless = (fields: object) =>
  `{${Object.entries(fields)
    .map(([key, value]) => `"${key}":${typeof value === 'string' ? `"${value}"` : value}`)
    .join(',')}}`

it('recognises the JSON of flat fields, in alphabetical order and in their own, whatever came before', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(flat, fc.boolean())), (all) => {
      const flatJson = new FlatJson()
      for (const [fields, isSorted] of all) {
        // An object has numbers before names, whatever order they are given in.
        const hasNumbers = Object.keys(fields).some((key) => /^\d+$/.test(key))
        const line = JSON.stringify(isSorted && !hasNumbers ? sorted(fields) : fields)
        expect(flatJson.isOf(fields, line)).toBe(Object.keys(shown(fields)).length > 0)
      }
    }),
  )
})

it('recognises nothing but JSON that has all fields', () => {
  const mixed = fc.dictionary(texts, fc.oneof({ weight: 4, arbitrary: plain }, others), {
    maxKeys: 4,
    noNullPrototype: true,
  })
  const lines = fc
    .tuple(mixed, mixed, fc.constantFrom('same', 'less', 'more', 'other'), fc.boolean())
    .map(([fields, some, how, isCareless]) => {
      const [first = ''] = Object.keys(fields)
      const { [first]: _, ...less } = fields
      const written = { same: fields, less, more: { ...fields, ...some }, other: some }[how]
      return { fields, line: isCareless ? careless(shownAsText(written)) : jsonOf(written) }
    })
  fc.assert(
    fc.property(lines, ({ fields, line }) => {
      if (!new FlatJson().isOf(fields, line)) return
      // -0 is 0 in JSON.
      const expected = Object.entries(shown(fields)).map(([key, value]) => [key, value === 0 ? 0 : value])
      expect(JSON.parse(line)).toEqual(Object.fromEntries(expected))
    }),
    { numRuns: runs({ some: 1000, all: 100_000 }) },
  )
})

it('tells a field from the text of another', () => {
  const flatJson = new FlatJson()
  expect(flatJson.isOf({ a: '1","b":"2' }, '{"a":"1","b":"2"}')).toBe(false)
  expect(flatJson.isOf({ a: 'tab\t' }, '{"a":"tab\t"}')).toBe(false)
  expect(flatJson.isOf({ a: 1 }, '{"a":1,"b":2}')).toBe(false)
  expect(flatJson.isOf({ a: 1, b: 2 }, '{"a":1}')).toBe(false)
  expect(flatJson.isOf({ a: 1 }, '{"a":12}')).toBe(false)
  expect(flatJson.isOf({ a: 1 }, '{"a":1} ')).toBe(false)
})

function jsonOf(fields: object): string {
  return JSON.stringify(fields, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
}

function shownAsText(fields: object): object {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, typeof value === 'symbol' ? '' : value]))
}
