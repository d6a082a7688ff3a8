import { describe, expect, it } from 'vitest'
import { LineSplitter, maxLineBytes } from '../../src/line-splitter.js'
import { readEntry } from '../../src/migrate/entry.js'

const entryOf = (content: string | Uint8Array) => {
  const [line] = [...new LineSplitter().push(Buffer.concat([Buffer.from(content), Buffer.from('\n')]))]
  return readEntry(line!)
}

describe('an entry', () => {
  it('keeps the text of its line for the request, without a byte order mark', () => {
    expect(entryOf('\ufeff{"fields":{"size":1.10}}')).toEqual({
      type: 'entry',
      body: '{"fields":{"size":1.10}}',
      fields: { size: 1.1 },
    })
  })

  it('is not in a line that is not UTF-8', () => {
    expect(entryOf(Buffer.from('{"fields":{"title":"\xff"}}', 'latin1'))).toEqual({
      type: 'invalid',
      reasons: ['the line is not UTF-8'],
    })
  })

  it('is not in a line that is too long', () => {
    expect(entryOf('y'.repeat(maxLineBytes + 1))).toEqual({
      type: 'invalid',
      reasons: ['the line is longer than 16777216 bytes'],
    })
  })
})

describe('the content type of an entry', () => {
  it('may be another than that of the command', () => {
    expect(entryOf('{"fields":{},"contentTypeKey":"note"}')).toMatchObject({ type: 'entry', contentTypeKey: 'note' })
  })

  it.each([
    ['7', 'a number'],
    ['""', '""'],
    ['null', 'null'],
  ])('is not %s', (written, got) => {
    expect(entryOf(`{"fields":{},"contentTypeKey":${written}}`)).toEqual({
      type: 'invalid',
      reasons: [`contentTypeKey: expected a key or id, got ${got}`],
    })
  })
})

describe('a time of an entry', () => {
  const isValid = (time: string) => entryOf(JSON.stringify({ fields: {}, createdAt: time })).type === 'entry'

  it.each(['2024-05-01T12:00:00Z', '2024-02-29T23:59:59.123456789Z', '2024-05-01T12:00:00+00:00'])(
    'may be %s',
    (time) => {
      expect(isValid(time)).toBe(true)
    },
  )

  it.each([
    '2024-05-01',
    '2024-05-01T12:00:00',
    '2024-05-01T12:00Z',
    '2024-05-01T12:00:00.1234567890Z',
    '2024-05-01T12:00:00+02:00',
    '2023-02-29T00:00:00Z',
    '2024-13-01T00:00Z',
    '',
  ])('may not be %j', (time) => {
    expect(isValid(time)).toBe(false)
  })
})
