import { defineEvents } from 'sluice'
import { describe, expect, it } from 'vitest'

describe('defineEvents', () => {
  it('returns the numbers, frozen', () => {
    const events = defineEvents({ signedUp: 1001, upgraded: 1002 })
    expect(events).toEqual({ signedUp: 1001, upgraded: 1002 })
    expect(Object.isFrozen(events)).toBe(true)
  })

  it('knows its events by name and number when it compiles', () => {
    const events = defineEvents({ signedUp: 1001, upgraded: 1002 })
    const number: 1001 = events.signedUp
    // @ts-expect-error there is no such event
    const missing = events.signedDown
    // @ts-expect-error that is the number of another event
    const other: 1002 = events.signedUp
    const change = () => {
      // @ts-expect-error an event has one number
      events.signedUp = 1002
    }
    // @ts-expect-error a number is no text
    expect(() => defineEvents({ signedUp: '1001' })).toThrow(TypeError)
    expect({ number, missing, other }).toEqual({ number: 1001, missing: undefined, other: 1001 })
    expect(change).toThrow(TypeError)
  })

  it.each([
    [{ a: 1, b: 2, c: 1 }, 'event c: the number 1 is that of a already'],
    [{ a: Number.NaN }, 'event a: expected a whole number from 0, got NaN'],
    [{ a: 1.5 }, 'event a: expected a whole number from 0, got 1.5'],
    [{ a: -1 }, 'event a: expected a whole number from 0, got -1'],
    [{ a: 2 ** 53 }, 'event a: expected a whole number from 0, got 9007199254740992'],
    [{ a: '7' }, 'event a: expected a whole number from 0, got "7"'],
    [{ a: undefined }, 'event a: expected a whole number from 0, got undefined'],
  ])('refuses %o at once', (events, message) => {
    expect(() => defineEvents(events as Record<string, number>)).toThrow(new TypeError(message))
  })
})
