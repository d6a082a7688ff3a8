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
