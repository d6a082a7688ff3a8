import { describe, expect, it } from 'vitest'
import { readMarkdown } from './markdown.js'
import { isThere } from './proof.js'
import { proofs } from './threats.js'

const rows = Object.values(readMarkdown('docs/threat-model.md').rows).flat()

describe('the threat model', () => {
  it('says for each threat what holds it', () => {
    expect(rows.length).toBeGreaterThan(30)
    expect(rows.filter((cells) => cells.length !== 2 || cells.includes(''))).toEqual([])
  })

  it('has tests for each threat, and a threat for each of these tests', () => {
    expect(rows.map(([threat]) => threat)).toEqual(Object.keys(proofs))
    expect(Object.entries(proofs).filter(([, named]) => named.length === 0)).toEqual([])
  })

  it.each(Object.entries(proofs))('names tests that there are: %s', (_, named) => {
    expect(named.filter((each) => !isThere(each))).toEqual([])
  })

  it('would be noticed with a test that there is not', () => {
    const file = 'test/http/sender.test.ts'
    expect(isThere({ file, title: 'reports a redirect as a pause and does not follow it' })).toBe(true)
    expect(isThere({ file, title: 'is no test at all' })).toBe(false)
    expect(isThere({ file: 'test/http/no.test.ts', title: 'is no test at all' })).toBe(false)
  })
})
