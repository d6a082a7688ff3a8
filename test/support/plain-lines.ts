import fc from 'fast-check'
import { Redactor } from '../../src/records/redactor.js'
import { patternNames } from '../../src/records/secret-patterns.js'

/** None in half of all cases. */
export const redactors = fc.option(
  fc
    .constantFrom(['a', '*tok*', 'pin'], [])
    .map((keys) => new Redactor({ keys, patterns: patternNames, mask: '[redacted]' })),
  { freq: 1, nil: undefined },
)

/** Values as they may stand in a line of JSON: written by JavaScript, by others, and broken. */
export const scalarsOfLines = fc.oneof(
  { weight: 3, arbitrary: fc.string().map((text) => JSON.stringify(text)) },
  fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
  fc.string({ unit: 'grapheme' }).map((text) => `"${text}"`),
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom('true', 'false', 'null', '-0', '0', '00', '01', '1.0', '1e3', '1e400', '-1e400', '1E+2', '0.0000001'),
  fc.constantFrom('9007199254740993', '12345678901234567890', '999999999999999', '-', '-Infinity', 'NaN', '0x1f', '.5'),
  fc.constantFrom('5.', 'tru', 'nullx', '"open', '"a\\u0041"', '"\\ud83d"', '"\ud83d"', '"tab\t"', ' 1', '1 ', ''),
  fc.constantFrom(
    '0.10000000000000001',
    '1234567890123456.5',
    '1.10000000000000001',
    '-0.5',
    '-0.0',
    '0.50',
    '1.',
    '-9007199254740991',
    '9.9e-7',
  ),
  fc
    .constantFrom(
      '\\n',
      '\\"',
      '\\\\',
      '\\/',
      '\\u0001',
      '\\u0009',
      '\\u000b',
      '\\u000B',
      '\\u000g',
      '\\u001f',
      '\\u0020',
      '\\u00e9',
      '\\',
    )
    .map((written) => `"a${written}b"`),
  fc.constantFrom(
    '{"b":1,"1":2}',
    '{"a":1,"a":2}',
    '{"a":{"a":1},"b":[{"a":2}]}',
    '{"__proto__":1}',
    '[1, 2]',
    '[1,]',
    '{"a":1,}',
  ),
  fc.constantFrom(
    '{}',
    '[]',
    '[[[[[[[[[[]]]]]]]]]]',
    '{"a" :1}',
    '{a:1}',
    '{"message":"m","stack":"s","code":1}',
    '{"\\n":1}',
  ),
  fc.constantFrom(
    '"to bob@example.com"',
    '"4111 1111 1111 1111"',
    '4111111111111111',
    '"a\\nBearer abcdefghij"',
    '"eyJhbGci.eyJzdWIi.c2ln"',
    '{"token":{"x":1},"Pin":[2]}',
    '[{"bob@example.com":"http://u:p@h"}]',
  ),
  fc.nat(600).map((length) => JSON.stringify('"'.repeat(length))),
  fc.json(),
)

/** Numbers of events, good and bad. */
export const eventFields = fc.tuple(
  fc.constant('eventId'),
  fc.constantFrom(
    '0',
    '1001',
    '-5',
    '1.5',
    '"7"',
    '123456789012345',
    '9007199254740991',
    '9007199254740992',
    'null',
    '{}',
  ),
)

const writtenTexts = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({
    unit: fc.constantFrom('a', '"', '\\', '\n', '\t', '\b', '\u0001', '\u001f', '\u007f', '\u2028', 'é', '€', '😀'),
  }),
)

/** Fields as `JSON.stringify` writes them, with no brace around them: texts with escapes, numbers of all kinds, objects, errors. */
export const writtenFields = fc
  .dictionary(
    fc.oneof(
      fc.constantFrom('a', 'b', 'c', 'orderId', 'msg', 'message', 'err', 'error', 'req', 'severity', 'timestamp', ''),
      fc.string({ maxLength: 12 }),
    ),
    fc.oneof(
      writtenTexts,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.double({ min: -1, max: 1, noNaN: true }),
      fc.integer({ min: -100_000, max: 100_000 }).map((number) => number / 100),
      fc.maxSafeInteger(),
      fc.jsonValue({ maxDepth: 4 }),
      fc.record(
        { message: writtenTexts, stack: writtenTexts, type: fc.constant('Error') },
        { requiredKeys: ['message'] },
      ),
    ),
    { maxKeys: 12 },
  )
  .map((fields) => JSON.stringify(fields).slice(1, -1))

/** Fields of several lines in a row: those of the first, some left out, said twice, moved, or with those of another line between them. */
export function runsOf<Field>(fields: fc.Arbitrary<Field[]>): fc.Arbitrary<Field[][]> {
  const change = fc.tuple(fc.constantFrom('none', 'without', 'twice', 'moved', 'more'), fc.nat(6), fc.nat(6), fields)
  return fc.tuple(fields, fc.array(change, { maxLength: 6 })).map(([first, changes]) => {
    const lines = [first]
    for (const [how, at, to, others] of changes) {
      const line = [...lines.at(-1)!]
      const picked = line.slice(at, at + 1)
      if (how === 'without' || how === 'moved') line.splice(at, 1)
      if (how === 'twice' || how === 'moved') line.splice(to, 0, ...picked)
      if (how === 'more') line.splice(at, 0, ...others)
      lines.push(line, first)
    }
    return lines
  })
}
