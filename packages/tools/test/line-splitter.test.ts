import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { type Line, LineSplitter, linesOfFile, maxLineBytes, textOfLine } from '../src/line-splitter.js'

const folder = mkdtempSync(join(tmpdir(), 'sluice-lines-'))
const path = join(folder, 'file')
afterAll(() => rmSync(folder, { recursive: true }))
async function linesOf(content: string | Uint8Array): Promise<Line[]> {
  writeFileSync(path, content)
  const lines: Line[] = []
  for await (const line of linesOfFile(path)) lines.push(line)
  return lines
}

describe('the lines of a file', () => {
  it('end at line feeds only', async () => {
    const lines = await linesOf('a\u2028b\n\nc\r\nd')
    expect(lines.map(textOfLine)).toEqual(['a\u2028b', '', 'c\r', 'd'])
    expect(lines.map(({ number }) => number)).toEqual([1, 2, 3, 4])
    expect(lines.map(({ size }) => size)).toEqual([6, 1, 3, 1])
    expect(lines.map(({ ended }) => ended)).toEqual([true, true, true, false])
    expect(await linesOf('')).toEqual([])
  })

  it('are complete, wherever the pieces end', async () => {
    const length = fc.oneof(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 65_530, max: 65_545 }))
    await fc.assert(
      fc.asyncProperty(fc.array(length, { maxLength: 6 }), async (lengths) => {
        const texts = lengths.map((each, index) => String.fromCharCode(97 + index).repeat(each))
        expect((await linesOf(texts.map((text) => `${text}\n`).join(''))).map(textOfLine)).toEqual(texts)
      }),
      { numRuns: 30 },
    )
  })

  it('are held up to a bound', async () => {
    const lines = await linesOf(`${'x'.repeat(maxLineBytes)}\n${'y'.repeat(maxLineBytes + 1)}\nz\n`)
    expect(lines.map(({ tooLong }) => tooLong)).toEqual([false, true, false])
    expect(lines.map(({ bytes }) => bytes.length)).toEqual([maxLineBytes, maxLineBytes, 1])
    expect(lines.map(({ size }) => size)).toEqual([maxLineBytes + 1, maxLineBytes + 2, 2])
  })
})

function split(...pieces: (string | Buffer)[]): Line[] {
  const splitter = new LineSplitter()
  const lines = pieces.flatMap((piece) => [...splitter.push(Buffer.from(piece))])
  const rest = splitter.end()
  return rest === undefined ? lines : [...lines, rest]
}

describe('pieces of an input', () => {
  it('give the same lines wherever they end', () => {
    const text = Buffer.from('\ufeffäöü\r\n\r\n😀\n\nlast')
    for (let at = 0; at <= text.length; at++) {
      const lines = split(text.subarray(0, at), text.subarray(at))
      expect(lines.map(textOfLine)).toEqual(['äöü\r', '\r', '😀', '', 'last'])
    }
  })

  it('account for every byte', () => {
    const splitter = new LineSplitter()
    const lines = [...splitter.push(Buffer.from('\ufeffa\r\nb\n')), ...splitter.push(Buffer.from('c'))]
    expect(lines.map(({ size }) => size)).toEqual([6, 2])
    expect(splitter.end()?.size).toBe(1)
    expect(splitter.end()).toBeUndefined()
  })

  it('without a line feed are held up to the bound', () => {
    const splitter = new LineSplitter()
    const piece = Buffer.alloc(1_048_576, 'x')
    for (let count = 0; count < 20; count++) expect([...splitter.push(piece)]).toEqual([])
    const [long, next] = [...splitter.push(Buffer.from('\nnext\n'))]
    expect(long).toMatchObject({ tooLong: true, size: 20 * piece.length + 1 })
    expect(long?.bytes.length).toBe(maxLineBytes)
    expect(next).toMatchObject({ tooLong: false, bytes: Buffer.from('next') })
  })

  it('show that a last line is too long, too', () => {
    const [long] = split('x'.repeat(maxLineBytes), 'x')
    expect(long).toMatchObject({ tooLong: true, ended: false, size: maxLineBytes + 1 })
  })
})
