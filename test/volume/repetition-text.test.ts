import { expect, it } from 'vitest'
import { repetitionText } from '../../src/volume/repetition-text.js'

it.each([
  [4211, 60_000, '(repeated 4,211 times in 60 s)'],
  [1, 60_000, '(repeated 1 time in 60 s)'],
  [999, 59_999.7, '(repeated 999 times in 60 s)'],
  [1000, 1499, '(repeated 1,000 times in 1 s)'],
  [1_234_567, 3_600_000, '(repeated 1,234,567 times in 3,600 s)'],
  [2, 999.4, '(repeated 2 times in 999 ms)'],
  [2, 999.6, '(repeated 2 times in 1 s)'],
  [2, 0, '(repeated 2 times in 1 ms)'],
])('%i lines in %f ms are told as %j', (count, windowMs, words) => {
  expect(repetitionText({ text: 'order 42 failed', count, windowMs })).toBe(`order 42 failed ${words}`)
})
