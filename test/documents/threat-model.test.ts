import { describe, expect, it } from 'vitest'
import { readMarkdown } from './markdown.js'
import { isThere, type Proof } from './proof.js'

const { rows } = readMarkdown('docs/threat-model.md')
const threats = Object.entries(rows).flatMap(([section, cells]) => cells.map((row) => [section, row] as const))

function proofsIn(cell: string): Proof[] {
  return [...cell.matchAll(/`([^`]+\.ts)`: “([^”]+)”/g)].map(([, file, title]) => ({
    file: file!,
    title: title!,
  }))
}

describe('the threat model', () => {
  it('says for each threat what holds it', () => {
    expect(threats.length).toBeGreaterThan(30)
    expect(threats.filter(([, cells]) => cells.length !== 3 || cells.includes(''))).toEqual([])
  })

  it.each(threats)('names a test that there is: %s, %j', (_, [, , shownBy = '']) => {
    const proofs = proofsIn(shownBy)
    expect(proofs).not.toEqual([])
    expect(proofs.filter((each) => !isThere(each))).toEqual([])
    // Nothing else stands there.
    expect(shownBy.split('<br>')).toHaveLength(proofs.length)
  })

  it('would be noticed with a test that there is not', () => {
    const [proof] = proofsIn('`test/http/sender.test.ts`: “reports a redirect as a pause and does not follow it”')
    expect(isThere(proof!)).toBe(true)
    expect(isThere({ ...proof!, title: 'is no test at all' })).toBe(false)
    expect(isThere({ ...proof!, file: 'test/http/no.test.ts' })).toBe(false)
  })
})
