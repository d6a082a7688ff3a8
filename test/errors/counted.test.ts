import { expect, it } from 'vitest'
import { counted } from '../../src/errors/counted.js'

it('counts one as one, and all other numbers as several', () => {
  expect([0, 1, 2].map((count) => counted(count, 'record'))).toEqual(['0 records', '1 record', '2 records'])
})
