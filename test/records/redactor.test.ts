import { describe, expect, it } from 'vitest'
import { defaultRedactedKeys, redaction } from '../../src/options/redaction.js'
import { Redactor } from '../../src/records/redactor.js'
import { type PatternName, patternNames } from '../../src/records/secret-patterns.js'
import { superLinear, type Work } from '../support/linear-time.js'

const redactor = (keys: readonly string[], patterns: readonly PatternName[] = []) =>
  new Redactor({ keys, patterns, mask: '[redacted]' })

describe('a key', () => {
  it.each([
    ['password', 'password', true],
    ['password', 'PassWord', true],
    ['PASSWORD', 'password', true],
    ['password', 'passwords', false],
    ['password', 'my_password', false],
    ['*token*', 'token', true],
    ['*token*', 'accessTokenOf', true],
    ['*token', 'tokens', false],
    ['token*', 'a_token', false],
    ['a*b*c', 'aXbXc', true],
    ['a*b*c', 'abc', true],
    ['a*b*c', 'acb', false],
    ['a*a', 'a', false],
    ['ab*ba', 'aba', false],
    ['*ab*ab*', 'ab', false],
    ['*', '', true],
    ['*', 'anything', true],
    ['**', 'x', true],
    ['a.b', 'axb', false],
    ['straße', 'STRASSE', false],
    ['müller', 'MÜLLER', true],
  ])('%s hides %s: %s', (written, key, hidden) => {
    expect(redactor([written]).hides(key)).toBe(hidden)
  })

  it('of the default list is one that people use for secrets', () => {
    const { hides, ...rest } = { hides: redactor(defaultRedactedKeys) }
    expect(rest).toEqual({})
    const secrets = ['password', 'userPassword', 'Authorization', 'set-cookie', 'client_secret', 'apiKey', 'x-api-key']
    expect([...secrets, 'access_token', 'refreshToken', 'token', 'cvv'].filter((key) => !hides.hides(key))).toEqual([])
    const others = ['tokens', 'author', 'user', 'keyboard', 'passed', 'session', 'pin', 'key', 'maxTokens', 'status']
    expect(others.filter((key) => hides.hides(key))).toEqual([])
  })

  it('is decided in linear time, by the number of keys in the list and in the lines', () => {
    const globs = (count: number) => Array.from({ length: count }, (_, number) => `*secret${number}*x*`)
    const tried = 'secret'.repeat(30)
    const byList: Work = (length) => {
      const each = redactor(globs(length / 16))
      let number = 0
      return () => each.hides(`${tried}${number++}`)
    }
    const byKeys: Work = (length) => {
      const each = redactor(globs(3))
      return () => {
        for (let number = 0; number < length; number++) each.hides(`${tried}${number}`)
      }
    }
    expect([superLinear(byList), superLinear(byKeys)]).toEqual([undefined, undefined])
    const many = redactor(globs(1000))
    expect(many.hides('a secret999 b x c')).toBe(true)
  })
})

it('an object of thousands of keys that are hidden keeps every value, and takes no longer for it', () => {
  const emails = Array.from({ length: 20_000 }, (_, number) => [`user${number}@example.com`, number] as const)
  const fields: Record<string, unknown> = Object.fromEntries(emails)
  const startedAt = performance.now()
  redactor([], ['email']).fields(fields)
  // Some 20 ms. Two hundred million looks for a free name would take many seconds.
  expect(performance.now() - startedAt).toBeLessThan(3000)
  expect(Object.values(fields)).toEqual(emails.map(([, number]) => number))
  expect(Object.keys(fields).filter((key) => key.includes('@'))).toEqual([])
})

describe('a pattern', () => {
  const cases: [PatternName, string, string][] = [
    ['card', 'paid with 4111 1111 1111 1111.', 'paid with [redacted].'],
    ['card', '4111111111111111', '[redacted]'],
    ['card', '5500-0000-0000-0004, 378282246310005', '[redacted], [redacted]'],
    ['card', '5 4111111111111111 2024', '5 [redacted]'],
    ['card', '7 7 7 7 7 4111 1111 1111 1111', '7 7 7 7 7 [redacted]'],
    ['card', '4111 1111 1111 1111 123.', '[redacted].'],
    ['card', 'order 4111111111111112', 'order 4111111111111112'],
    ['card', 'at 1700000000000 ms', 'at 1700000000000 ms'],
    ['card', '41111111111111111111111111', '41111111111111111111111111'],
    ['bearer', 'Authorization: Bearer abc.def-123_x==', 'Authorization: Bearer [redacted]'],
    ['bearer', 'BEARER  0123456789', 'BEARER  [redacted]'],
    ['bearer', 'the bearer of news', 'the bearer of news'],
    ['jwt', 'got eyJhbGciOi.eyJzdWIi.c2ln-_', 'got [redacted]'],
    ['jwt', 'eyJhbGciOi.eyJzdWIi.', '[redacted]'],
    ['jwt', 'keyJack.eyes.only', 'keyJack.eyes.only'],
    ['jwt', 'a \u001b[32meyJhbGciOi.eyJzdWIi.c2ln\u001b[39m', 'a \u001b[32m[redacted]\u001b[39m'],
    ['jwt', 'token%3DeyJhbGciOi.eyJzdWIi.c2ln%26a=1', 'token%3D[redacted]%26a=1'],
    ['jwt', String.raw`{"a":"x\neyJhbGciOi.eyJzdWIi.c2ln"}`, String.raw`{"a":"x\n[redacted]"}`],
    [
      'jwt',
      String.raw`"{\"a\":\"\\u001b[1meyJhbGciOi.eyJzdWIi.c2ln\"}"`,
      String.raw`"{\"a\":\"\\u001b[1m[redacted]\"}"`,
    ],
    [
      'bearer',
      '\u001b[1mBearer\u001b[22m \u001b[32mabcdefgh12\u001b[39m',
      '\u001b[1mBearer\u001b[22m \u001b[32m[redacted]\u001b[39m',
    ],
    ['bearer', 'auth%3DBearer%20abc%2Bdef%3D%3D', 'auth%3DBearer%20[redacted]'],
    ['bearer', 'auth=Bearer+abcdefgh', 'auth=Bearer+[redacted]'],
    ['bearer', String.raw`"a\nBearer abcdefgh"`, String.raw`"a\nBearer [redacted]"`],
    ['jwt', 'a%3Dtoken%253DeyJhbGciOi.eyJzdWIi.c2ln', 'a%3Dtoken%253D[redacted]'],
    ['jwt', String.raw`\x1b[32meyJhbGciOi.eyJzdWIi.c2ln`, String.raw`\x1b[32m[redacted]`],
    ['card', 'card%253D4111111111111111', 'card%253D[redacted]'],
    ['bearer', 'auth%253DBearer%2520abcdefgh', 'auth%253DBearer%2520[redacted]'],
    ['bearer', 'Bearer%09abcdefgh', 'Bearer%09[redacted]'],
    ['bearer', 'Bearer\nabcdefgh', 'Bearer\n[redacted]'],
    ['bearer', 'Bearer\u00a0abcdefgh', 'Bearer\u00a0[redacted]'],
    ['bearer', 'forbearer abcdefghij', 'forbearer abcdefghij'],
    ['card', '%224111111111111111%22', '%22[redacted]%22'],
    ['card', 'no%204111111111111111', 'no%20[redacted]'],
    ['card', '\u001b[31m4111111111111111', '\u001b[31m[redacted]'],
    ['card', String.raw`\u00204111111111111111`, String.raw`\u0020[redacted]`],
    ['card', String.raw`\u00004111111111111111`, String.raw`\u0000[redacted]`],
    ['email', 'mail to bob.o+news@mail.example.com, please', 'mail to [redacted], please'],
    ['email', 'jürgen@müller.example', '[redacted]'],
    ['email', 'to rene\u0301@example.com, please', 'to [redacted], please'],
    ['email', 'a\u0308b@mu\u0308ller.exa\u0302mple!', '[redacted]!'],
    ['email', 'नमस्ते@उदाहरण.भारत', '[redacted]'],
    ['email', 'user@localhost @decorated a@b', 'user@localhost @decorated a@b'],
    ['url-credentials', 'postgres://app:s3cr3t@db:5432/x', 'postgres://[redacted]@db:5432/x'],
    ['url-credentials', 'https://u:p@ss@host/a@b', 'https://[redacted]@host/a@b'],
    ['url-credentials', 'https://host/path?mail=a@b', 'https://host/path?mail=a@b'],
  ]
  it.each(cases)('%s: %s → %s', (name, text, expected) => {
    expect(redactor([], [name]).text(text)).toBe(expected)
  })

  it.each([
    ['digits', '4'],
    ['digits with spaces', '4 '],
    ['card after card', '4111 1111 1111 1112 '],
    ['starts of a JWT', 'eyJ-'],
    ['parts of a JWT', 'eyJa.'],
    ['a long local part', 'a'],
    ['a long local part with accents', 'e\u0301'],
    ['accents', '\u0301'],
    ['accents before at signs', '\u0301@e\u0301'],
    ['dots', 'a.'],
    ['at signs', 'a@'],
    ['a long domain', 'a@b.'],
    ['urls', 'a://'],
    ['bearers', 'bearer '],
    ['colours', '\u001b[1m'],
    ['colours before JWTs', '\u001b[1meyJ'],
    ['long colours', '\u001b[1;1;1;1;1;1;1;1;1;1;1;1;'],
    ['percents', '%3D'],
    ['percents before JWTs', '%3DeyJ'],
    ['percents of percents', '25'],
    ['percents of percents before cards', '%25254111111111111112'],
    ['bearers and spaces', 'bearer%2520'],
    ['escapes before JWTs', '\\neyJ'],
    ['bearers behind percents', '%20bearer%20'],
    ['cards behind percents', '%204'],
    ['spaces', ' '],
    ['dashes', '-'],
  ])('takes time in proportion to the text: %s', (_, unit) => {
    const all = redactor([], patternNames)
    const text = unit.repeat(200_000 / unit.length)
    const startedAt = performance.now()
    all.text(text)
    // It takes some milliseconds. The square of the length would take minutes.
    expect(performance.now() - startedAt).toBeLessThan(2000)
  })
})

describe('the option', () => {
  it.each([
    [{}],
    [{ keys: [] }],
    [{ keys: [''] }],
    [{ keys: 'password' }],
    [{ keys: [7] }],
    [{ keys: ['a'], pattern: [] }],
    [{ patterns: ['cards'] }],
    [{ keys: ['a'], mask: '' }],
    [{ keys: ['a'.repeat(201)] }],
    [{ keys: Array.from({ length: 101 }, (_, number) => `*secret${number}*`) }],
    [['password']],
    [null],
  ])('%j is refused', (value) => {
    expect(redaction.check(value)).toBeUndefined()
  })

  it('takes as many keys as a line can stand', () => {
    const globs = Array.from({ length: 100 }, (_, number) => `*secret${number}*`)
    const names = Array.from({ length: 9000 }, (_, number) => `key${number}`)
    expect(redaction.check({ keys: ['default', ...globs, ...names] })?.keys).toHaveLength(
      defaultRedactedKeys.length + 9100,
    )
  })

  it('takes the default list beside other keys', () => {
    const checked = redaction.check({ keys: ['default', 'pin'], mask: '***' })
    expect(checked).toEqual({ keys: [...defaultRedactedKeys, 'pin'], patterns: [], mask: '***' })
  })
})
