import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type EndedRepetition, maxWindows, type RepeatableLine, RepeatGuard } from '../../src/volume/repeat-guard.js'
import { full } from '../support/full.js'
import { VirtualClock } from '../support/virtual-clock.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const windowMs = 1000

function setUp({ most = 2 } = {}) {
  const clock = new VirtualClock()
  const ended: EndedRepetition[] = []
  const guard = new RepeatGuard({ most, windowMs, clock, ended: (repetition) => ended.push(repetition) })
  const passes = (text: string, about: Partial<RepeatableLine> = {}) =>
    guard.passes({ logger: 'shop', level: 'info', severity: 2, text, ...about })
  return { clock, ended, guard, passes }
}

/** A word of letters that is different for each number. */
const word = (number: number) => [...String(number)].map((digit) => 'abcdefghij'[Number(digit)]).join('')

describe('the guard against repeated lines', () => {
  it('lets the first lines of a window pass and counts the others at its end', async () => {
    const { clock, ended, passes } = setUp()
    expect([1, 2, 3, 4, 5].map((number) => passes(`order ${number}`))).toEqual([true, true, false, false, false])
    await clock.advance(windowMs - 1)
    expect(ended).toEqual([])
    await clock.advance(1)
    const counted = { logger: 'shop', level: 'info', severity: 2, text: 'order 3', count: 3, windowMs }
    expect(ended).toEqual([counted])
    await clock.advance(10 * windowMs)
    expect(ended).toEqual([counted])
  })

  it('begins a new window with the first line after the end', async () => {
    const { clock, ended, passes } = setUp({ most: 1 })
    passes('a')
    await clock.advance(1500)
    expect([passes('a'), passes('a')]).toEqual([true, false])
    await clock.advance(999)
    expect(ended).toEqual([])
    await clock.advance(1)
    expect(ended).toMatchObject([{ count: 1, windowMs }])
  })

  it('says nothing of a window that has suppressed nothing', async () => {
    const { clock, ended, guard, passes } = setUp()
    passes('a')
    passes('a')
    await clock.advance(windowMs)
    passes('a')
    guard.end()
    expect(ended).toEqual([])
  })

  it('compares logger, level and message', () => {
    const { passes } = setUp({ most: 1 })
    expect(passes('a')).toBe(true)
    expect(passes('a', { logger: 'other' })).toBe(true)
    expect(passes('a', { logger: undefined })).toBe(true)
    expect(passes('a', { level: 'warn' })).toBe(true)
    expect(passes('b')).toBe(true)
    expect(passes('a', { logger: undefined })).toBe(false)
    expect(passes('a')).toBe(false)
  })

  it('ends a window in time when the timer is late', () => {
    const { clock, ended, passes } = setUp({ most: 1 })
    passes('a')
    passes('a')
    clock.block(windowMs + 500)
    expect(passes('b')).toBe(true)
    expect(ended).toMatchObject([{ count: 1, windowMs }])
    expect(passes('a')).toBe(true)
  })

  it('ends all windows at once when it is told to, with the time that has passed', async () => {
    const { clock, ended, guard, passes } = setUp({ most: 1 })
    for (const text of ['a', 'a', 'b', 'b', 'b']) passes(text)
    await clock.advance(400)
    guard.end()
    expect(ended).toMatchObject([
      { text: 'a', count: 1, windowMs: 400 },
      { text: 'b', count: 2, windowMs: 400 },
    ])
    guard.end()
    expect(ended).toHaveLength(2)
    expect(clock.timers).toBe(0)
    expect(passes('a')).toBe(true)
  })

  it('needs one timer for all windows, which does not hold the process, and none without a window', async () => {
    const { clock, passes } = setUp()
    expect(clock.timers).toBe(0)
    for (let number = 0; number < 50; number++) {
      passes(word(number))
      expect(clock.timers).toBe(1)
      await clock.advance(30)
    }
    expect(clock.holding).toBe(0)
    await clock.advance(windowMs)
    expect(clock.timers).toBe(0)
  })

  it('ends the oldest window early when there are too many', async () => {
    const { clock, ended, passes } = setUp({ most: 1 })
    passes('first')
    passes('first')
    await clock.advance(250)
    for (let number = 1; number < maxWindows; number++) passes(word(number))
    expect(ended).toEqual([])
    passes('one more')
    expect(ended).toMatchObject([{ text: 'first', count: 1, windowMs: 250 }])
    expect(passes('first')).toBe(true)
  })

  it.runIf(full)(
    'keeps what it holds small with a million different messages, long and cut out of longer texts',
    () => {
      const { ended, guard, passes } = setUp({ most: 1 })
      const messages = 1_000_000
      for (let number = 0; number < messages; number++) passes(`${word(number)} failed`)
      for (let number = messages - maxWindows; number < messages; number++) {
        expect(passes(`${word(number)} failed`)).toBe(false)
      }
      expect(passes(`${word(messages - maxWindows - 1)} failed`)).toBe(true)
      guard.end()
      expect(ended).toHaveLength(maxWindows)
      ended.length = 0

      const held = () => {
        collectGarbage()
        collectGarbage()
        return process.memoryUsage().heapUsed / 2 ** 20
      }
      const before = held()
      for (let number = 0; number < maxWindows; number++) {
        const long = Buffer.from(`${word(number)} ${'x'.repeat(200_000)}`).toString()
        const [text, name] = [long.slice(0, 150_000), long.slice(0, 100_000)]
        passes(text, { logger: name, level: name })
        if (number % 2 === 0) passes(text, { logger: name, level: name })
      }
      expect(held() - before).toBeLessThan(20)
      guard.end()
      expect(ended).toHaveLength(maxWindows / 2)
      const [{ text, logger }] = ended as [EndedRepetition]
      expect([text.length, text.at(-1), logger?.length]).toEqual([1001, '…', 200])
    },
  )

  it('does as a simple model does, whatever lines come at whatever times', async () => {
    const step = fc.oneof(
      { weight: 8, arbitrary: fc.record({ line: fc.nat(3), number: fc.nat(9) }) },
      { weight: 3, arbitrary: fc.record({ advance: fc.nat(700) }) },
      { weight: 1, arbitrary: fc.record({ block: fc.nat(1500) }) },
      { weight: 1, arbitrary: fc.constant({ end: true }) },
      // More keys than there may be windows.
      { weight: 1, arbitrary: fc.record({ flood: fc.integer({ min: maxWindows - 2, max: maxWindows + 2 }) }) },
    )
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 60 }), async (most, steps) => {
        const { clock, ended, guard, passes } = setUp({ most })
        const model = new Model(most)
        let lines = 0
        let passed = 0
        const take = (text: string, number: number) => {
          const expected = model.passes(text, clock.now())
          expect(passes(`${text} ${number}`)).toBe(expected)
          lines++
          if (expected) passed++
        }
        for (const each of steps) {
          if ('line' in each) take(word(each.line), each.number)
          else if ('advance' in each) await clock.advance(each.advance)
          else if ('block' in each) clock.block(each.block)
          else if ('flood' in each) for (let key = 0; key < each.flood; key++) take(`flood ${word(key)}`, 1)
          else guard.end()
          if ('end' in each) model.endUntil(Number.POSITIVE_INFINITY)
          // The timer is late after a block, until the next line or the next moment.
          if ('advance' in each) model.endUntil(clock.now())
          if (!('block' in each))
            expect(ended.map(({ text, count }) => [text.split(' ')[0], count])).toEqual(model.ended)
          expect(clock.timers).toBeLessThanOrEqual(1)
        }
        guard.end()
        const suppressed = ended.reduce((sum, { count }) => sum + count, 0)
        expect(passed + suppressed).toBe(lines)
        expect(ended.every(({ count, windowMs: ms }) => count > 0 && ms >= 0 && ms <= windowMs)).toBe(true)
      }),
    )
  })
})

/** The rules in the fewest words: a list of windows, from the oldest. */
class Model {
  readonly ended: (readonly [name: string, count: number])[] = []
  readonly #most: number
  #windows: { readonly text: string; readonly startedAt: number; lines: number }[] = []

  constructor(most: number) {
    this.#most = most
  }

  passes(text: string, now: number): boolean {
    this.endUntil(now)
    let window = this.#windows.find((each) => each.text === text)
    if (window === undefined) {
      if (this.#windows.length === 1000) this.#end(this.#windows.splice(0, 1))
      window = { text, startedAt: now, lines: 0 }
      this.#windows.push(window)
    }
    return ++window.lines <= this.#most
  }

  endUntil(now: number): void {
    const isOver = ({ startedAt }: { readonly startedAt: number }) => startedAt + windowMs <= now
    this.#end(this.#windows.filter(isOver))
    this.#windows = this.#windows.filter((window) => !isOver(window))
  }

  #end(windows: readonly { readonly text: string; readonly lines: number }[]): void {
    for (const { text, lines } of windows) {
      if (lines > this.#most) this.ended.push([text.split(' ')[0]!, lines - this.#most])
    }
  }
}
