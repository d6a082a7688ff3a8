import { expect, it } from 'vitest'
import { getRecord } from '../../dist/mcp/get-record.js'

/** A receiver with records of these ids, at most so many on a page. */
function receiver(ids: readonly number[], { mostOnPage = 1000 } = {}) {
  const asked: string[] = []
  return {
    bucket: 'demo',
    asked,
    async ask(path: string) {
      asked.push(path)
      const query = new URLSearchParams(path.slice(path.indexOf('?')))
      const [limit, after, before] = ['limit', 'after', 'before'].map((name) => Number(query.get(name) ?? Number.NaN))
      const isNext = !Number.isNaN(after)
      const found = ids.filter((id) => !(id <= after!) && !(id >= before!)).toSorted((a, b) => (isNext ? a - b : b - a))
      const page = found.slice(0, Math.min(limit!, mostOnPage))
      const list = (isNext ? page.toReversed() : page).map((id) => ({
        ...{ id, receivedAt: '', timeStamp: 1_700_000_000_000, level: 'info', message: 'a', appName: 'shop' },
      }))
      const isCut = list.length < Math.min(limit!, found.length)
      return { total: found.length, list, ...(isCut ? { next: page.at(-1)! } : {}) }
    },
  }
}

const idsOf = async (from: ReturnType<typeof receiver>, { id, around }: { id: number; around: number }) =>
  (await getRecord.answer({ id, around }, from))
    .split('\n')
    .flatMap((line) => (/^(\d+) \d{4}-/.exec(line) ?? []).slice(1))

it.each([
  ['close to each other', 1],
  ['of a database: 8192 in a millisecond', 8192 * 60_000],
  ['with the largest gaps', 2 ** 43],
])('get_record shows the records next to one, with ids %s', async (_, gap) => {
  const from = receiver(Array.from({ length: 1000 }, (_, at) => (at + 1) * gap))
  expect(await idsOf(from, { id: 500 * gap, around: 2 })).toEqual([502, 501, 499, 498].map((at) => `${at * gap}`))
  expect(await idsOf(from, { id: 999 * gap, around: 2 })).toEqual([1000, 998, 997].map((at) => `${at * gap}`))
  expect(from.asked.length).toBeLessThan(10)
})

it('get_record shows the records next to one where large ones cut each page', async () => {
  const from = receiver(
    Array.from({ length: 1000 }, (_, at) => at + 1),
    { mostOnPage: 3 },
  )
  expect(await idsOf(from, { id: 500, around: 3 })).toEqual(['503', '502', '501', '499', '498', '497'])
})
