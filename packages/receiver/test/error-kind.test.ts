import { expect, it } from 'vitest'
import { errorKindOf, mayHaveError } from '../src/storage/records/error-kind.js'

const kindOf = (message: string, level = 'error') => errorKindOf({ level, message })

const stack = `TypeError: Cannot read properties of undefined (reading 'id')
    at Array.map (<anonymous>)
    at find (/srv/shop/node_modules/orm/src/find.js:3:5)
    at async placeOrder (/srv/shop/releases/81/src/orders.js:12:7)
    at async node:internal/process/task_queues:95:5`

it('takes type, message and first own frame from the stack behind the context', () => {
  const kind = {
    type: 'TypeError',
    message: 'Cannot read properties of undefined (reading <text>)',
    frame: 'placeOrder (src/orders.js)',
  }
  const written = [
    `checkout failed {"order":17,"note":"a } b"}\n${stack}`,
    `checkout failed\n${stack}`,
    `{"order":17}\n${stack}\ncaused by: RangeError: too small\n    at other (/srv/shop/src/other.js:1:1)`,
    `checkout failed\nfor the second time\n${stack}`,
    stack,
    stack.replaceAll('12:7', '99:1').replaceAll('/srv/shop/releases/81', 'file:///home/me/shop'),
    stack.replaceAll('/srv/shop/releases/81/src/orders.js', 'C:\\shop\\src\\orders.js'),
    `Uncaught ${stack}`,
  ]
  for (const message of written) expect(kindOf(message)).toMatchObject(kind)
  expect(new Set(written.map((message) => kindOf(message)?.id)).size).toBe(1)
  expect(kindOf(stack)!.id).toMatch(/^[0-9a-f]{16}$/)
  expect(kindOf(stack, 'warn')).toEqual(kindOf(stack))
})

it.each([
  ['Error\n    at /srv/shop/src/a.js:1:2', ['Error', '', 'src/a.js']],
  [
    'AbortError [ABORT_ERR]: gave up\n    at new Order (/app/order.js:1:2)',
    ['AbortError', 'gave up', 'new Order (order.js)'],
  ],
  [
    'Error: a\n    at Object.<anonymous> (/srv/x/index-3f9c21ab.js?v=17:1:2)',
    ['Error', 'a', 'Object.<anonymous> (index-<id>.js)'],
  ],
  ['Error: a\n    at f [as g] (webpack:///./src/a.ts:1:2)', ['Error', 'a', 'f (src/a.ts)']],
  ['Error: connect ECONNREFUSED 127.0.0.1:5432\n    at f (node:net:1:2)', ['Error', 'connect ECONNREFUSED <n>', null]],
  ['pg.DatabaseError: no\nsecond line\n    at f (/a/b/c.js:1:2)', ['pg.DatabaseError', 'no', 'f (c.js)']],
  ['it broke\nsomehow\n    at f (/a/b/c.js:1:2)', [null, 'somehow', 'f (c.js)']],
  [
    'Error: a\n    at Promise.all (index 0)\n    at eval (eval at f (/a/b.js:1:1), <anonymous>:1:1)',
    ['Error', 'a', null],
  ],
])('reads the stack of %j', (message, [type, text, frame]) => {
  expect(kindOf(message)).toMatchObject({ type, message: text, frame })
})

it.each([
  ['order 17 of 2,000 failed after 1.5 s', 'order <n> of <n> failed after <n> s'],
  ['took 300ms, -5 left, order-42, m16, 21c8', 'took <n>ms, <n> left, order-<n>, m<n>, <id>'],
  ['user 0b5d8e6a-3a4f-4e52-9d35-0d9a5a3f8f11 is gone', 'user <id> is gone'],
  ['session V1StGXR8_Z5jdHi6B-myT and 0x7ffe and deadbeef01', 'session <id> and <id> and <id>'],
  ['cannot find "ord-1a2b" or \'name\'', 'cannot find <text> or <text>'],
  [`Unexpected token 'a', "abcd" is not valid JSON`, 'Unexpected token <text>, <text> is not valid JSON'],
  [`Unexpected token '"', ..."{"x": y", z"... is not valid JSON`, 'Unexpected token <text>, <text> is not valid JSON'],
  [`Unexpected token ''', "'abc'" is not valid JSON`, 'Unexpected token <text>, <text> is not valid JSON'],
  [`the shop's cart “tea” isn't \`x y\` or "say \\"no\\" twice"`, "the shop's cart <text> isn't <text> or <text>"],
  ['body was "never ended', 'body was <text>'],
  ['connect ECONNREFUSED 2001:db8::17:5432', 'connect ECONNREFUSED <n>'],
  ['no route to [fe80::1%eth0]:443, ::ffff:10.0.0.1 and ::1', 'no route to <n> and <n>'],
  ['listen EADDRINUSE: address already in use :::3000', 'listen EADDRINUSE: address already in use <n>'],
  ['Shop::Order std::bad_alloc at 12:30:05', 'Shop::Order std::bad_alloc at <n>'],
  ['cannot read /srv/shop/releases/81/views/cart.html', 'cannot read cart.html'],
  ['GET /carts/17/items failed', 'GET /carts/<n>/items failed'],
  ['\u001b[1;31mred\u001b[K \u001b]8;;http://a/b\u0007link\u001b]8;;\u0007', 'red link'],
  ['mail to ann.lee+x@shop.example failed', 'mail to <email> failed'],
  ['GET https://shop.example/carts/17?token=abc#x failed', 'GET https://shop.example/carts/<n> failed'],
  ['since 2026-11-23T12:00:00.123Z and 2026-11-23', 'since <time> and <time>'],
  ['missing ids 1, 2, 3', 'missing ids <n>'],
  ['first line\nsecond line {"a":1}', 'first line'],
  ['text {"a":1} {"b":2}', 'text'],
  ['{"a":1}', ''],
  ['a\0b', 'a b'],
  ['\u001b[31mred\u001b[0m text', 'red text'],
  ['é'.repeat(300), 'é'.repeat(200)],
])('groups %j by its text', (message, expected) => {
  expect(kindOf(message)).toMatchObject({ type: null, message: expected, frame: null })
})

it('knows the levels of errors in any case, and finds none in other logs and in values', () => {
  for (const level of ['error', 'Error', 'FATAL', 'crit', 'alert', 'emerg']) expect(kindOf('a', level)).toBeDefined()
  for (const level of ['info', 'warn', 'constructor', '']) expect(kindOf('a', level)).toBeUndefined()
  expect(errorKindOf({ message: stack })).toBeUndefined()
  expect(errorKindOf({ level: 'error' })).toBeUndefined()
})

it('tells from the JSON of a record whether it may have an error', () => {
  const json = (message: string) => JSON.stringify({ message })
  expect(mayHaveError({ level: 'info', json: json('all is well\n  at home') })).toBe(false)
  expect(mayHaveError({ level: 'info', json: json(`a\n${stack}`) })).toBe(true)
  expect(mayHaveError({ level: 'error', json: json('a') })).toBe(true)
})

it('takes linear time for hostile texts', () => {
  const texts = [
    'a',
    '1',
    '1a',
    '-',
    '{"',
    ' {"',
    '\n',
    '}\n',
    'a@',
    'a.',
    '<n> ',
    '0x',
    'é',
    '\ud800',
    '/',
    ': ',
    'at ',
    '    at ',
    '\n    at ',
    '"',
    "'",
    '"{',
    ':',
    '::1',
    '[',
    '/a.b',
    '\n\tat a(',
    '\n\ta.go:1',
    'goroutine 1\n',
    '\n  File "/a", line 1',
    'Traceback (most recent call last):\n',
    '\u001b[',
  ]
  const hostile = texts.flatMap((text) => [
    text.repeat(1_000_000 / text.length),
    `${text.repeat(250_000 / text.length)}\n    at ${text.repeat(250_000 / text.length)}`,
  ])
  for (const message of hostile) kindOf(message.slice(0, 1000))
  const begin = performance.now()
  for (const message of hostile) {
    const kind = kindOf(message)!
    expect([kind.message.length <= 200, (kind.frame ?? '').length <= 400]).toEqual([true, true])
  }
  expect((performance.now() - begin) / hostile.length).toBeLessThan(50)
})

it('takes linear time for a frame with many other names', () => {
  const message = `Error: a\n    at f${' [as g'.repeat(1600)} (/srv/src/a.js:1:2)`
  const begin = performance.now()
  for (let count = 0; count < 50; count++) kindOf(message)
  expect(performance.now() - begin).toBeLessThan(200)
})
