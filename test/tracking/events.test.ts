import { createSluice, defineEvents, type EventCatalogue } from 'sluice'
import { describe, expect, it } from 'vitest'
import catalogue from '../fixtures/events.json' with { type: 'json' }
import { startTestReceiver } from '../support/receiver.js'

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

  it('takes entries with a description, and knows their numbers when it compiles', () => {
    const events = defineEvents({ signedUp: { number: 1001, description: 'by mail' }, upgraded: { number: 1002 } })
    const number: 1001 = events.signedUp
    // @ts-expect-error that is the number of another event
    const other: 1002 = events.signedUp
    // @ts-expect-error an event has a number
    expect(() => defineEvents({ signedUp: { description: 'by mail' } })).toThrow(TypeError)
    expect({ ...events, number, other }).toEqual({ signedUp: 1001, upgraded: 1002, number: 1001, other: 1001 })
    expect(Object.isFrozen(events)).toBe(true)
  })

  it('takes a catalogue of JSON, and knows its names when it compiles', () => {
    const events = defineEvents(catalogue)
    const number: number = events['order-placed']
    // @ts-expect-error there is no such event
    const missing = events['order-place']
    expect(events).toEqual({ 'order-placed': 1001, 'order-paid': 1002, signedUp: 1003 })
    expect({ number, missing }).toEqual({ number: 1001, missing: undefined })
  })

  it('gives numbers that every track takes; a name that is not there is counted as invalid', async () => {
    const receiver = await startTestReceiver()
    const sluice = createSluice({ ...receiver.options, onError: () => {} })
    const events = defineEvents(catalogue)
    sluice.track(events['order-placed'], { key: 'o-1' })
    sluice.tracked(events.signedUp, () => {})()
    // @ts-expect-error there is no such event
    sluice.track(events['order-place'])
    expect(await sluice.close()).toMatchObject({ delivered: 2, invalid: 1 })
    expect((await receiver.values()).map(({ eventId }) => eventId).sort()).toEqual([1001, 1003])
    await receiver.close()
  })

  it('keeps an event whose name every object has', () => {
    const events = defineEvents(JSON.parse('{"__proto__":1,"constructor":{"number":2}}') as EventCatalogue)
    expect(Object.entries(events)).toEqual([
      ['__proto__', 1],
      ['constructor', 2],
    ])
  })

  it.each([
    [null, 'events: expected an object with the events by name, got null'],
    [[{ name: 'a', number: 1 }], 'events: expected an object with the events by name, got an array'],
    [{ '': 1 }, 'event "": expected a name'],
    [{ a: 1, b: { number: 1 } }, 'event b, number: the number 1 is that of a already'],
    [{ a: { number: '7' } }, 'event a, number: expected a whole number from 0, got "7"'],
    [{ a: {} }, 'event a, number: expected a whole number from 0, got undefined'],
    [{ a: null }, 'event a: expected a whole number from 0, got null'],
    [{ a: { number: 1, description: 7 } }, 'event a, description: expected a text, got 7'],
    [{ a: { number: 1, descripton: '' } }, 'event a, descripton: expected no fields but number and description'],
    [{ a: 1, b: 2, c: 1 }, 'event c: the number 1 is that of a already'],
    [{ a: Number.NaN }, 'event a: expected a whole number from 0, got NaN'],
    [{ a: 1.5 }, 'event a: expected a whole number from 0, got 1.5'],
    [{ a: -1 }, 'event a: expected a whole number from 0, got -1'],
    [{ a: 2 ** 53 }, 'event a: expected a whole number from 0, got 9007199254740992'],
    [{ a: '7' }, 'event a: expected a whole number from 0, got "7"'],
    [{ a: undefined }, 'event a: expected a whole number from 0, got undefined'],
  ])('refuses %o at once', (events, message) => {
    expect(() => defineEvents(events as EventCatalogue)).toThrow(new TypeError(message))
  })
})
