import { describe, expect, it } from 'vitest'
import { idempotencyKeyOf, isEventKey } from '../../src/records/event-key.js'

describe('a key of the application', () => {
  it.each(['e', 'evt_123', '"quoted\\"', '!~', 'k'.repeat(200)])('is accepted: %s', (key) => {
    expect(isEventKey(key)).toBe(true)
  })

  it.each(['', 'k'.repeat(201), 'a b', 'a\n', 'é', '\u007f', 7, null, undefined, ['a']])('is refused: %j', (key) => {
    expect(isEventKey(key)).toBe(false)
  })

  it('gives an idempotency key that differs for each event and each key', () => {
    const pairs = [
      { eventId: 1, key: 'a' },
      { eventId: 1, key: 'b' },
      { eventId: 11, key: 'a' },
      { eventId: 1, key: '1-a' },
      { eventId: 1, key: 'a-1' },
    ]
    expect(idempotencyKeyOf({ eventId: 1001, key: 'evt_123' })).toBe('event-1001-evt_123')
    expect(new Set(pairs.map(idempotencyKeyOf)).size).toBe(pairs.length)
  })
})
