import { expect, it } from 'vitest'
import { type ErrorRow, errorList } from '../src/storage/records/error-list.js'
import { anyKind } from '../src/storage/records/error-tallies.js'

const many = (count: number, row: (number: number) => ErrorRow) => Array.from({ length: count }, (_, at) => row(at))

function row(kind: string, names: Partial<ErrorRow>): ErrorRow {
  return { kind, app: '"shop"', env: '', version: '', firstMs: 0, lastMs: 0, lastId: 1, ...names }
}

function listed(rows: readonly ErrorRow[]) {
  const texts = [{ id: 'kind', type: null, message: 'a', frame: null }]
  const steps = { fromMs: 0, stepMs: 60_000, number: 1, parts: [] }
  const found = { kinds: [{ kind: 'kind', records: 1 }], total: 1, texts, rows, steps, stepRows: [] }
  return errorList({ bucket: 'demo', limit: 1, nowMs: 0 }, found).list[0]!
}

it('a kind of very many versions, applications and environments takes linear time', () => {
  const begin = performance.now()
  const versions = many(150_000, (at) => row(anyKind, { version: `"${at}"`, firstMs: at }))
  const inEach = many(5000, (at) => row('kind', { version: '"149999"', env: `"${at}"` }))
  expect(listed([...versions, ...inEach])).toMatchObject({ isNew: true, versions: ['149999'] })
  const apps = many(5000, (at) => row(anyKind, { app: `"${at}"`, version: '"1"' }))
  const ofEach = many(5000, (at) => row('kind', { version: `"${at}"` }))
  expect(listed([...apps, ...ofEach])).toMatchObject({ isNew: false })
  expect(performance.now() - begin).toBeLessThan(1500)
})
