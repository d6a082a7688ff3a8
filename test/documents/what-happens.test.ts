import { describe, expect, it } from 'vitest'
import { readMarkdown } from './markdown.js'
import { isThere } from './proof.js'
import { proofs } from './what-happens.js'

const rows = readMarkdown('README.md').rows['what-happens-when'] ?? []
const topics = rows.map(([when = '']) => /^\*\*(.+?)\*\*/.exec(when)?.[1] ?? when)

describe('the README’s table of what happens when', () => {
  it('has the rows that people ask for', () => {
    expect(topics.length).toBeGreaterThanOrEqual(13)
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
