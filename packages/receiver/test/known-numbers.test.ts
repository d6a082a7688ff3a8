import { expect, it } from 'vitest'
import { openSqlite } from '../dist/storage/sqlite/database.js'
import { createNumbers, KnownNumbers } from '../dist/storage/sqlite/known-numbers.js'

function numbersIn(database = openSqlite(':memory:')) {
  database.exec(`ATTACH ':memory:' AS texts; ${createNumbers}`)
  return { database, numbers: new KnownNumbers(database) }
}

it('the numbers of a field are known up to two hundred, also by another connection', () => {
  const { database, numbers } = numbersIn()
  for (let json = 0; json < 200; json++) numbers.add({ lane: 1, path: 'status', json: `${json}` })
  for (const json of ['"7"', 'true', 'null', '7']) numbers.add({ lane: 1, path: 'status', json })
  expect(numbers.of(1, 'status')).toHaveLength(200)
  expect(new KnownNumbers(database).of(1, 'status')).toHaveLength(200)
  expect(numbers.of(2, 'status')).toBeUndefined()
  numbers.add({ lane: 1, path: 'status', json: '200' })
  expect(numbers.of(1, 'status')).toBeUndefined()
  expect(new KnownNumbers(database).of(1, 'status')).toBeUndefined()
})

it('the numbers of two thousand fields are known, and never some of a further one', () => {
  const { database, numbers } = numbersIn()
  for (let field = 0; field < 2000; field++) numbers.add({ lane: 1, path: `f${field}`, json: '1' })
  for (const each of [numbers, new KnownNumbers(database)]) {
    each.add({ lane: 1, path: 'more', json: '1' })
    each.add({ lane: 1, path: 'f7', json: '2' })
    expect([each.of(1, 'more'), each.of(1, 'f7')]).toEqual([undefined, ['1', '2']])
  }
})
