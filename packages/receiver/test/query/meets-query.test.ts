import { expect, it } from 'vitest'
import { meetsQuery } from '../../src/query/meets-query.js'
import { parseQuery } from '../../src/query/parse-query.js'

const meets = (message: string, q: string) => meetsQuery({ timeStamp: 1, message }, parseQuery(q, 0)!)

it.each([
  ['ÉCRIT a-b', ['a b, ecrit', 'Écrit: a.b'], ['ecrit a c b', 'ecrits a b']],
  ['-écrit -a-b', ['a c b', 'ecrits'], ['ecrit', 'a.b']],
  // A letter in each of its forms, as the stores find it.
  ['"5 \u03bcs"', ['5 \u00b5s'], ['5 ms']],
  ['-\u03c3', ['x'], ['\u03c2']],
  [
    'n>=500',
    ['{"n":500}', 'x {"n":[1,501]}', 'x {"n":1e9}\nError: y\n    at z'],
    ['{"n":"500"}', '{"n":499.9}', '{"n":true}', 'n 500'],
  ],
  ['a.b:*', ['{"a":{"b":null}}', '{"a.b":0}', '{"a":[{"b":1}]}'], ['{"a":{"b":{}}}', '{"a":{"b":[]}}', '{"b":1}']],
  ['n:1', ['{"n":1}', '{"n":"1"}', '{"n":[0,1]}', '{"n":1.0}'], ['{"n":11}', '{"n":true}', '{"m":1}']],
  ['k64:* OR k63:0', [], [JSON.stringify(Object.fromEntries(Array.from({ length: 70 }, (_, at) => [`k${at}`, at])))]],
  ['k63:63', [JSON.stringify(Object.fromEntries(Array.from({ length: 70 }, (_, at) => [`k${at}`, at])))], []],
  ['long:xx*', [], [`{"long":"${'x'.repeat(300)}"}`]],
  ['long:*', [`{"long":"${'x'.repeat(300)}"}`], ['{"other":1}']],
  ['*', [''], []],
  // What a person sees: JSON escapes and codes of a terminal are no letters.
  [
    'from',
    [
      '{"sql":"SELECT *\\nFROM"}',
      'x {"a":["b\\tfrom\\u0020x"]}\nError: y\n    at z',
      'body {"sql":"a\\r\\nFrom", "b":1} ok',
      JSON.stringify({ body: JSON.stringify({ sql: JSON.stringify({ deep: 'a\nfrom' }) }) }),
      '[\n  "a\\nfrom"\n]',
      '\u001b[32mFrom\u001b[0m x',
      '{"a":"\\u001b[1;31mfrom\\u001b[0m"}',
      '\u001b]8;;https://x\u0007from\u001b]8;;\u0007',
    ],
    ['{"sql":"SELECT *nfrom"}'],
  ],
  ['nfrom', [], ['{"sql":"SELECT *\\nFROM"}']],
  ['32mfrom OR 32m', [], ['\u001b[32mfrom']],
  ['starting', ['Start\u001b[1ming\u001b[0m'], ['Start\u001b[2Kings']],
  ['"sql select from"', ['{"sql":"SELECT *\\nFROM"}'], []],
  ['é', ['{"a":"\\u00e9"}', '{"\\u00e9":1}'], ['{"a":"\\\\u00e9"}']],
  // A text is no JSON: a path of Windows stays what it is.
  ['"c new table"', ['C:\\new\\table', 'open "C:\\new\\table"', JSON.stringify({ path: 'C:\\new\\table' })], []],
  [
    'reqId:r-1',
    [`${'{"a":1} '.repeat(100)}{"reqId":"r-1"}`, `${'line\n'.repeat(200)}end {"reqId":"r-1"}\nError: y`],
    [],
  ],
  ['reqId:r-1', ['x} {"reqId":"r-1"}', '"x {"reqId":"r-1"}', 'x {"reqId":"r-1","b":"{\\"}"}'], ['x{"reqId":"r-1"}']],
])('%s means %j and not %j', (q, found, others) => {
  for (const message of found) expect(meets(message, q), message).toBe(true)
  for (const message of others) expect(meets(message, q), message).toBe(false)
})

it('takes a time in proportion to the message, whatever signs it has', () => {
  const signs = ['{"', '"\\', ',"\\"', '}', ' {"a":', '\\', '\u001b[', '\u001b]', ' {"a":1}\n', '{"a":"}\n', '"}\n']
  for (const sign of signs) {
    for (const end of ['', '}', '"}']) meets(sign.repeat(50_000) + end, 'a:1 a')
  }
})

it('ends on a context of any depth', () => {
  const deep = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`
  expect(meets(deep, 'a:1')).toBe(false)
})
