import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readHead } from '../../src/http/answer-head.js'
import { HeadReader } from '../../src/http/head-reader.js'

const status = fc.constantFrom('HTTP/1.1 201 Created', 'HTTP/1.1 201 Created', 'HTTP/1.1 204 X', 'HTTP/1.0 201 Created')
const names = fc.constantFrom(
  ...['date', 'x-correlation-id', 'X-Correlation-Id', 'idempotency-key', 'content-length', 'connection', 'server'],
  ...['transfer-encoding', 'keep-alive', 'retry-after', 'location', 'bad name', '', 'idempotency-key-x'],
)
const values = fc.constantFrom(
  ...[
    'a',
    ' a',
    'b',
    ' ab',
    '',
    ' close',
    ' chunked',
    '5',
    ' 15',
    'timeout=72',
    'a: b',
    'tab\t',
    'nul\0',
    'bare\rcr',
    '\n',
  ],
)
const field = fc.tuple(names, values).map(([name, value]) => `${name}:${value}`)
const fields = fc.array(field, { maxLength: 6 })

describe('heads of one connection', () => {
  it('are read as each of them alone, however similar to the ones before', { timeout: 300_000 }, () => {
    // The lines of the first head, some with another value, some left out or added.
    const changes = fc.array(
      fc.tuple(fc.nat({ max: 5 }), fc.constantFrom('value', 'line', 'none', 'more'), values, field),
      { maxLength: 2 },
    )
    // The reader learns anew after ten heads.
    const others = fc.array(fc.tuple(status, changes), { maxLength: 30, size: 'max' })
    fc.assert(
      fc.property(status, fields, others, (first, lines, others) => {
        const reader = new HeadReader()
        for (const [start, changed] of [[first, []] as const, ...others]) {
          const mine = [...lines]
          for (const [at, how, value, line] of changed) {
            if (how === 'more') mine.splice(at, 0, line)
            else if (at < mine.length && how === 'none') mine.splice(at, 1)
            else if (at < mine.length) mine[at] = how === 'line' ? line : mine[at]!.replace(/:.*/s, `:${value}`)
          }
          const text = [start, ...mine].join('\r\n')
          expect(reader.read(`${text}\r\n`)).toEqual(readHead(text))
        }
      }),
      { numRuns: process.env.FULL ? 25_000 : 2000 },
    )
  })
})
