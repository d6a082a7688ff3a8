import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { readEntry } from '../../../src/cli/migrate/entry.js'
import { type Line, maxLineBytes, readLines, textOf } from '../../../src/cli/migrate/line-reader.js'

const folder = mkdtempSync(join(tmpdir(), 'sluice-lines-'))
const path = join(folder, 'file')
afterAll(() => rmSync(folder, { recursive: true }))
async function linesOf(content: string | Uint8Array): Promise<Line[]> {
  writeFileSync(path, content)
  const lines: Line[] = []
  for await (const line of readLines(path)) lines.push(line)
  return lines
}

describe('the lines of a file', () => {
  it('are what stands between the line feeds, and nothing else is an end', async () => {
    const lines = await linesOf('a\u2028b\n\nc\r\nd')
    expect(lines.map(textOf)).toEqual(['a\u2028b', '', 'c\r', 'd'])
    expect(lines.map(({ number }) => number)).toEqual([1, 2, 3, 4])
    expect(lines.map(({ size }) => size)).toEqual([6, 1, 3, 1])
    expect(lines.map(({ ended }) => ended)).toEqual([true, true, true, false])
    expect(await linesOf('')).toEqual([])
  })

  it('come whole, however the file is cut into pieces', async () => {
    const length = fc.oneof(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 65_530, max: 65_545 }))
    await fc.assert(
      fc.asyncProperty(fc.array(length, { maxLength: 6 }), async (lengths) => {
        const texts = lengths.map((each, index) => String.fromCharCode(97 + index).repeat(each))
        expect((await linesOf(texts.map((text) => `${text}\n`).join(''))).map(textOf)).toEqual(texts)
      }),
      { numRuns: 30 },
    )
  })

  it('are not held where they are too long', async () => {
    const lines = await linesOf(`${'x'.repeat(maxLineBytes)}\n${'y'.repeat(maxLineBytes + 1)}\nz\n`)
    expect(lines.map(({ tooLong }) => tooLong)).toEqual([false, true, false])
    expect(lines.map(({ bytes }) => bytes.length)).toEqual([maxLineBytes, 0, 1])
    expect(readEntry(lines[1]!)).toMatchObject({ type: 'invalid', reasons: ['the line is longer than 16777216 bytes'] })
  })

  it('that are not UTF-8 are no entries', async () => {
    const [line] = await linesOf(Buffer.from('{"fields":{"title":"\xff"}}', 'latin1'))
    expect(readEntry(line!)).toEqual({ type: 'invalid', reasons: ['the line is not UTF-8'] })
  })
})

describe('a time of an entry', () => {
  const isValid = async (time: string) => {
    const [line] = await linesOf(JSON.stringify({ fields: {}, createdAt: time }))
    return readEntry(line!).type === 'entry'
  }

  it.each(['2024-05-01T12:00:00Z', '2024-02-29T23:59:59.123456789Z', '2024-05-01T12:00:00+00:00'])(
    'may be %s',
    async (time) => {
      expect(await isValid(time)).toBe(true)
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
  ])('may not be %j', async (time) => {
    expect(await isValid(time)).toBe(false)
  })
})
