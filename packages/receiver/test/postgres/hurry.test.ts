import { expect, it } from 'vitest'
import { RecordReader } from '../../dist/storage/postgres/record-reader.js'
import { maxNames } from '../../dist/storage/records/named-fields.js'

const day = 20_000

it('a value is not called unknown where the time to look for it was over', async () => {
  let isOver = false
  const searched: boolean[] = []
  const answers: readonly (readonly [RegExp, readonly object[]])[] = [
    [/^WITH newest/, [{ isEnd: true, id: Number.MAX_SAFE_INTEGER, bytes: 0 }]],
    [/^SELECT name FROM sluice_names/, Array.from({ length: maxNames }, (_, at) => ({ name: `"${at}"` }))],
  ]
  const ask = async ({ sql }: { readonly sql: string }) =>
    (answers.find(([pattern]) => pattern.test(sql.trim()))?.[1] ?? []) as never
  const hurry = {
    begin: () => {},
    isOver: () => isOver,
    ask: async () => {
      searched.push(isOver)
      if (isOver) throw new Error('the time is over')
      isOver = true
      return [] as never
    },
  }
  const reader = new RecordReader(ask, { days: { list: async () => [day] } as never, hurry: hurry as never })
  const page = await reader.read({ kind: 'logs', bucket: 'demo', appName: 'shop', limit: 10 })
  expect(searched).toEqual([false, true])
  expect(page).toEqual({ total: 0, list: [] })
})

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
    ask: async () => {
      if (isOver) throw new Error('the time is over')
      isOver = true
      return [record] as never
    },
  }
  const reader = new RecordReader(ask, { days: { list: async () => [19_723] } as never, hurry: hurry as never })
  const page = await reader.read({ kind: 'logs', bucket: 'demo', text: 'word', limit: 10, before: 100 })
  expect(page).toMatchObject({ total: 1, totalIsAtLeast: true, list: [{ id: 5 }] })
})
