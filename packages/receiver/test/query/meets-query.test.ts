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
])('%s means %j and not %j', (q, found, others) => {
  for (const message of found) expect(meets(message, q), message).toBe(true)
  for (const message of others) expect(meets(message, q), message).toBe(false)
})

it('ends on a context of any depth', () => {
  const deep = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`
  expect(meets(deep, 'a:1')).toBe(false)
})
