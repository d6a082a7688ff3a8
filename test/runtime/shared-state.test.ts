import { expect, it } from 'vitest'
import { isNews } from '../../src/runtime/shared-state.js'

it('what was told is news again after a minute, and also when the clock was set back by more', () => {
  const now = 1_800_000_000_000
  expect(isNews('lane logs of bucket demo resumed', now)).toBe(true)
  expect(isNews('lane logs of bucket demo resumed', now + 59_000)).toBe(false)
  expect(isNews('lane values of bucket demo resumed', now)).toBe(true)
  expect(isNews('lane logs of bucket demo resumed', now + 60_000)).toBe(true)
  expect(isNews('lane logs of bucket demo resumed', now - 86_400_000)).toBe(true)
})

it('many texts, of which some fall to the same place, are all news', () => {
  for (let number = 0; number < 1000; number++) expect(isNews(`text ${number}`)).toBe(true)
})
