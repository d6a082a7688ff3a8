import { describe, expect, it } from 'vitest'
import { pagedList } from '../../src/content/paged-list.js'

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => ({ id: `${from + index}` }))

/** A list whose items change before each page that is read. */
function changing(items: readonly { id: string }[], change: (items: { id: string }[], pages: number) => void) {
  const stored = [...items]
  let pages = 0
  const list = pagedList<{ id: string }>('list things', async ({ from = 1, to = 20 }) => {
    change(stored, pages++)
    return { total: stored.length, list: stored.slice(from - 1, from - 1 + to) }
  })
  return { list, pages: () => pages }
}

async function idsOf(list: AsyncIterable<{ id: string }>): Promise<string[]> {
  const ids: string[] = []
  for await (const { id } of list) ids.push(id)
  return ids
}

const ids = (items: readonly { id: string }[]) => items.map(({ id }) => id)

describe('a list that is read page by page', () => {
  it('goes back as far as items may have moved up when somebody removes some, and gives each item once', async () => {
    const { list, pages } = changing(numbered(1, 100), (items, page) => {
      if (page === 2) items.splice(5, 3)
      if (page === 4) items.splice(0, 1)
    })
    expect(await idsOf(list)).toEqual(ids(numbered(1, 100)))
    expect(pages()).toBeLessThanOrEqual(8)
  })

  it('reads the rest when so many are removed that the next page is empty', async () => {
    const { list } = changing(numbered(1, 41), (items, page) => {
      if (page === 2) items.splice(0, 20)
    })
    expect(await idsOf(list)).toEqual(ids(numbered(1, 41)))
  })

  it('gives an item once that moved to a later page because others were added before it', async () => {
    const { list } = changing(numbered(1, 30), (items, page) => {
      if (page === 1) items.unshift(...numbered(100, 104))
    })
    expect(await idsOf(list)).toEqual(ids(numbered(1, 30)))
  })

  it('gives items without an id as they come', async () => {
    const items = Array.from({ length: 25 }, (_, name) => ({ name })) as unknown as { id: string }[]
    const { list } = changing(items, () => {})
    expect(await idsOf(list)).toHaveLength(25)
  })

  it('says so when the list grows and shrinks again and again', async () => {
    const { list, pages } = changing(numbered(1, 45), (items, page) => {
      if (page % 2 === 1) items.splice(20)
      else if (page > 0) items.push(...numbered(21, 45))
    })
    const seen: string[] = []
    const walk = async () => {
      for await (const { id } of list) seen.push(id)
    }
    await expect(walk()).rejects.toMatchObject({
      code: 'unreadable-answer',
      message: expect.stringContaining('list things: became shorter'),
    })
    expect(seen).toEqual(ids(numbered(1, 20)))
    expect(pages()).toBeLessThan(50)
  })
})
