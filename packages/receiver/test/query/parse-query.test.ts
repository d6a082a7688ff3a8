import { expect, it } from 'vitest'
import { parseQuery } from '../../src/query/parse-query.js'

const now = Date.parse('2026-11-23T12:00:00Z')
const parse = (written: string) => parseQuery(written, now)
const word = (...phrase: string[]) => ({ type: 'words', phrase })
const levels = (...names: string[]) => ({
  type: 'value',
  field: 'level',
  values: names.flatMap((name) =>
    [name, name[0]!.toUpperCase() + name.slice(1), name.toUpperCase()].map((each) => `"${each}"`),
  ),
})

it.each([
  ['checkout failed', { type: 'all', of: [word('checkout'), word('failed')] }],
  ['checkout AND failed', { type: 'all', of: [word('checkout'), word('failed')] }],
  ['"Card  declined"', word('card', 'declined')],
  ['"a \\"b\\" \\\\"', word('a', 'b')],
  ['order-42', word('order', '42')],
  ['check*', { ...word('check'), isPrefix: true }],
  ['"card decl"*', { ...word('card', 'decl'), isPrefix: true }],
  ['check-*', word('check')],
  ['*', { type: 'all', of: [] }],
  ['-health', { type: 'not', of: word('health') }],
  ['NOT health', { type: 'not', of: word('health') }],
  ['--health', { type: 'not', of: { type: 'not', of: word('health') } }],
  ['a - b % c', { type: 'all', of: [word('a'), word('b'), word('c')] }],
  ['not or and', { type: 'all', of: [word('not'), word('or'), word('and')] }],
  ['"OR"', word('or')],
  ['level:error', levels('error')],
  ['level:wArn', { type: 'value', field: 'level', values: ['"wArn"', '"warn"', '"Warn"', '"WARN"'] }],
  ['level>=crit', levels('crit', 'critical', 'alert', 'emerg', 'fatal')],
  ['level<debug', levels('silly', 'trace')],
  ['app:shop', { type: 'value', field: 'appName', values: ['"shop"'] }],
  ['env:"a b"', { type: 'value', field: 'env', values: ['"a b"'] }],
  ['host:web-*', { type: 'prefix', field: 'machineName', prefixes: ['"web-'] }],
  ['version:1.4.2', { type: 'value', field: 'appVersion', values: ['"1.4.2"'] }],
  ['version:*', { type: 'prefix', field: 'appVersion', prefixes: [''] }],
  ['event:1004', { type: 'value', field: 'eventId', values: ['1004'] }],
  ['event>1e3', { type: 'number', field: 'eventId', is: '>', than: 1000 }],
  ['reqId:req-21c', { type: 'value', field: '.reqId', values: ['"req-21c"'] }],
  ['id:5.0', { type: 'value', field: '.id', values: ['"5.0"', '5'] }],
  ['id:1e400', { type: 'value', field: '.id', values: ['"1e400"'] }],
  ['ok:true', { type: 'value', field: '.ok', values: ['"true"', 'true'] }],
  ['res.statusCode>=500', { type: 'number', field: '.res.statusCode', is: '>=', than: 500 }],
  ['user.id:*', { type: 'prefix', field: '.user.id', prefixes: [''] }],
  ['user.id:"*"', { type: 'value', field: '.user.id', values: ['"*"'] }],
  ['code:50*', { type: 'prefix', field: '.code', prefixes: ['"50', '50'] }],
  ['code:a\0*', { type: 'prefix', field: '.code', prefixes: ['"a\\u0000'] }],
  ['"app":x', { type: 'value', field: '.app', values: ['"x"'] }],
  ['"a b":""', { type: 'value', field: '.a b', values: ['""'] }],
  ['http://localhost/x', word('http', 'localhost', 'x')],
  ['12:30', word('12', '30')],
  ['at:12:30', { type: 'value', field: '.at', values: ['"12:30"'] }],
  ['pay(1) done', { type: 'all', of: [word('pay', '1'), word('done')] }],
  ['(pay(1))', word('pay', '1')],
  ['a b OR c', { type: 'any', of: [{ type: 'all', of: [word('a'), word('b')] }, word('c')] }],
  ['a (b OR -c)', { type: 'all', of: [word('a'), { type: 'any', of: [word('b'), { type: 'not', of: word('c') }] }] }],
  ['since:1h', { type: 'time', since: now - 3_600_000 }],
  ['until:2026-11-23T12:00Z', { type: 'time', until: now }],
  ['since:2026-11-23T12:00', { type: 'time', since: now }],
  ['since:2026-11-23', { type: 'time', since: now - 12 * 3_600_000 }],
  ['  ', undefined],
] as const)('reads %s', (written, query) => {
  expect(parse(written)).toEqual(query)
})

it.each([
  ['level:', 'q: expected a value after "level:" at 7'],
  ['a level: b', 'q: expected a value after "level:" at 9'],
  ['(level:)', 'q: expected a value after "level:" at 8'],
  ['level>=loud', /^q: expected one of silly, trace, .*, fatal after "level>=" at 8$/],
  ['event:many', 'q: expected a number after "event:" at 7'],
  ['event:1e400', 'q: expected a number after "event:" at 7'],
  ['took>long', 'q: expected a number after "took>" at 6'],
  ['app>=shop', 'q: expected ":" in place of ">=" after "app>=" at 6'],
  ['since:yesterday', 'q: expected a time such as 30s, 5m, 2h, 7d or 2026-11-23T12:00Z after "since:" at 7'],
  ['since:2026-02-31T99:00Z', /^q: expected a time/],
  ['(a', 'q: expected ")" for the "(" at 1 at 3'],
  ['a) b', 'q: unexpected ")" at 2'],
  ['a OR', 'q: expected a condition at 5'],
  ['OR a', 'q: expected a condition at 1'],
  ['a AND OR b', 'q: expected a condition at 7'],
  ['NOT', 'q: expected a condition at 4'],
  ['()', 'q: expected a condition at 2'],
  ['say "hello', 'q: expected a second quotation mark for the one at 5'],
  ['% -', 'q: expected a word with a letter or a digit at 1'],
  ['a'.repeat(1001), 'q: expected at most 1000 characters at 1001'],
  ['('.repeat(30), 'q: expected at most 20 levels of ( and NOT at 21'],
  ['a '.repeat(101), 'q: expected at most 100 conditions at 201'],
])('says where %s is wrong', (written, message) => {
  expect(() => parse(written)).toThrow(message)
})
