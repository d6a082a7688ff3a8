import { setEnvironmentData } from 'node:worker_threads'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { endBegins, leftOfEnd, noteFlushInVain } from '../../src/runtime/end-clock.js'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

it('an end right after a flush in vain has a quarter of its time, one that comes later all of it', () => {
  noteFlushInVain(performance.now() - 500)
  expect(leftOfEnd(4000)).toBe(1000)
  noteFlushInVain(performance.now() - 1500)
  expect(leftOfEnd(4000)).toBe(4000)
})

// In this order: an end that has begun is over only with the process.
it('the end of a process leaves everything its whole time until it begins, then what is left of it, and a quarter at least', () => {
  expect(leftOfEnd(4000)).toBe(4000)
  endBegins(4000)
  vi.advanceTimersByTime(1000)
  expect(leftOfEnd(4000)).toBe(3000)
  endBegins(4000)
  vi.advanceTimersByTime(60_000)
  expect(leftOfEnd(4000)).toBe(1000)
  expect(leftOfEnd(4000, 0)).toBe(0)
})

it('a wall clock that is set back gives nobody more than his whole time', () => {
  vi.setSystemTime(Date.now() - 86_400_000)
  expect(leftOfEnd(4000)).toBe(4000)
})

it('an end that begins right after a flush in vain has that quarter from then on, for everybody', async () => {
  setEnvironmentData('sluice:end', undefined)
  vi.resetModules()
  const fresh = await import('../../src/runtime/end-clock.js')
  fresh.noteFlushInVain(performance.now())
  fresh.endBegins(4000)
  expect(fresh.leftOfEnd(4000, 0)).toBe(1000)
  vi.advanceTimersByTime(600)
  expect(fresh.leftOfEnd(4000, 0)).toBe(400)
  expect(fresh.leftOfEnd(4000)).toBe(1000)
})
