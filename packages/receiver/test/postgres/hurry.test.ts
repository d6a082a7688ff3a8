import { expect, it } from 'vitest'
import { RecordReader } from '../../dist/storage/postgres/record-reader.js'

it('the total of a page is not less than its records where the time to count was over', async () => {
  let isOver = false
  const record = { id: 5, bytes: 2, receivedMs: 0, record: '{}' }
  const ask = async ({ sql }: { readonly sql: string }) => {
    if (sql.startsWith('WITH newest')) return [{ isEnd: true, id: 6, bytes: 0 }] as never
    return (sql.includes('received_ms') ? [record] : []) as never
  }
  const hurry = {
    begin: () => {},
    isOver: () => isOver,
    ask: async ({ sql }: { readonly sql: string }) => {
      // The index is asked first whether there are many.
      if (sql.startsWith('WITH found')) return [{ count: 1 }] as never
      if (isOver) throw new Error('the time is over')
      isOver = true
      return [record] as never
    },
  }
  const reader = new RecordReader(ask, { days: { list: async () => [19_723] } as never, hurry: hurry as never })
  const page = await reader.read({ kind: 'logs', bucket: 'demo', text: 'word', limit: 10, before: 100 })
  expect(page).toMatchObject({ total: 1, totalIsAtLeast: true, list: [{ id: 5 }] })
})
