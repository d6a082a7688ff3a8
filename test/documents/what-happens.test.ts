import { describe, expect, it } from 'vitest'
import { readMarkdown } from './markdown.js'
import { isThere } from './proof.js'
import { proofs } from './what-happens.js'

const asked = readMarkdown('README.md').rows['what-happens-when'] ?? []
const others = readMarkdown('docs/delivery.md').rows['what-else-happens-when'] ?? []
const rows = [...asked, ...others]
const topics = rows.map(([when = '']) => /^\*\*(.+?)\*\*/.exec(when)?.[1] ?? when)

describe('the tables of what happens when, in the README and in delivery.md', () => {
  it('has the rows that people ask for', () => {
    expect(asked).toHaveLength(8)
    expect(topics.length).toBeGreaterThanOrEqual(19)
    expect(rows.filter((cells) => cells.length !== 2 || cells.includes(''))).toEqual([])
  })

  it('has tests for each row, and a row for each of these tests', () => {
    expect(topics).toEqual(Object.keys(proofs))
    expect(Object.entries(proofs).filter(([, named]) => named.length === 0)).toEqual([])
  })

  it.each(Object.entries(proofs))('is held by tests that there are: %s', (_, named) => {
    expect(named.filter((each) => !isThere(each))).toEqual([])
  })

  it('would be noticed without one of its tests', () => {
    expect(isThere({ file: 'test/scenarios/applications/worker.test.ts', title: 'is no test at all' })).toBe(false)
  })
})
