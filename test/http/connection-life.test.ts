import { describe, expect, it } from 'vitest'
import { ConnectionAge, ConnectionLife } from '../../src/http/connection-life.js'

const unlimited = Number.POSITIVE_INFINITY

describe('the requests that may be written on a connection', () => {
  it('are all, while the server has said nothing and closed nothing', () => {
    const life = new ConnectionLife()
    expect(life.allowance('logs', { served: 0, limit: unlimited })).toBe(unlimited)
    expect(life.allowance('values', { served: 0, limit: unlimited })).toBe(unlimited)
  })

  it('are those up to the limit that the server has announced, and none after it', () => {
    const life = new ConnectionLife()
    expect(life.allowance('logs', { served: 0, limit: 100 })).toBe(100)
    expect(life.allowance('logs', { served: 60, limit: 100 })).toBe(40)
    expect(life.allowance('logs', { served: 100, limit: 100 })).toBe(0)
    expect(life.allowance('logs', { served: 101, limit: 100 })).toBe(0)
  })

  it('are one value at first where the connection may close: a repeated value is a wrong number', () => {
    const life = new ConnectionLife()
    expect(life.allowance('values', { served: 0, limit: 100 })).toBe(1)
    expect(life.allowance('values', { served: 1, limit: 100 })).toBe(99)
    life.closed({ served: 7, limit: unlimited })
    life.closed({ served: 7, limit: unlimited })
    expect(life.allowance('values', { served: 0, limit: unlimited })).toBe(1)
    expect(life.allowance('values', { served: 1, limit: unlimited })).toBe(6)
  })

  it('are one after a close that was not foreseen, until the closes follow a rule', () => {
    const life = new ConnectionLife()
    life.closed({ served: 50, limit: unlimited })
    expect(life.allowance('logs', { served: 0, limit: unlimited })).toBe(1)
    life.closed({ served: 50, limit: unlimited })
    expect(life.allowance('logs', { served: 0, limit: unlimited })).toBe(50)
    expect(life.allowance('logs', { served: 48, limit: unlimited })).toBe(2)
    expect(life.allowance('logs', { served: 0, limit: 20 })).toBe(20)
    // A close that follows the rule changes nothing.
    life.closed({ served: 50, limit: unlimited })
    expect(life.allowance('logs', { served: 0, limit: unlimited })).toBe(50)
  })

  it('are none where the closes say that the next one is on its way', () => {
    const life = new ConnectionLife()
    for (let close = 0; close < 2; close++) life.closed({ served: 1, limit: unlimited })
    expect(life.allowance('logs', { served: 0, limit: unlimited })).toBe(1)
    expect(life.allowance('logs', { served: 1, limit: unlimited })).toBe(0)
    expect(life.allowance('logs', { served: 2, limit: unlimited })).toBe(0)
  })

  it('are one again when the rule is broken by an earlier close', () => {
    const life = new ConnectionLife()
    for (let close = 0; close < 2; close++) life.closed({ served: 50, limit: unlimited })
    life.closed({ served: 20, limit: unlimited })
    expect(life.allowance('logs', { served: 0, limit: unlimited })).toBe(1)
  })

  it('are one again where the server goes on at the end of the rule: the closes were alike by chance', () => {
    const life = new ConnectionLife()
    for (let close = 0; close < 2; close++) life.closed({ served: 2, limit: unlimited })
    life.goesOn({ served: 1, limit: unlimited })
    expect(life.allowance('logs', { served: 1, limit: unlimited })).toBe(1)
    expect(life.allowance('logs', { served: 2, limit: unlimited })).toBe(0)
    life.goesOn({ served: 2, limit: unlimited })
    expect(life.allowance('logs', { served: 2, limit: unlimited })).toBe(1)
    expect(life.allowance('logs', { served: 0, limit: unlimited })).toBe(1)
  })

  it('are not changed by a close that the server had announced', () => {
    const life = new ConnectionLife()
    life.closed({ served: 100, limit: 100 })
    expect(life.allowance('logs', { served: 0, limit: unlimited })).toBe(unlimited)
  })

  it('are all again after ten thousand answers without such a close', () => {
    const life = new ConnectionLife()
    life.answered(50_000)
    life.closed({ served: 50, limit: unlimited })
    life.answered(9999)
    expect(life.allowance('logs', { served: 0, limit: unlimited })).toBe(1)
    life.answered(1)
    expect(life.allowance('logs', { served: 0, limit: unlimited })).toBe(unlimited)
    life.closed({ served: 30, limit: unlimited })
    life.answered(9999)
    expect(life.allowance('logs', { served: 0, limit: unlimited })).toBe(1)
  })

  it('follow a rule for ten thousand answers, then one shows at a time whether it still holds', () => {
    for (const holds of [true, false]) {
      const life = new ConnectionLife()
      for (let close = 0; close < 2; close++) life.closed({ served: 50, limit: unlimited })
      life.answered(9999)
      expect(life.allowance('logs', { served: 0, limit: unlimited })).toBe(50)
      life.answered(1)
      expect(life.allowance('logs', { served: 50, limit: unlimited })).toBe(1)
      if (holds) life.closed({ served: 50, limit: unlimited })
      else life.answered(10_000)
      expect(life.allowance('logs', { served: 0, limit: unlimited })).toBe(holds ? 50 : unlimited)
    }
  })
})

describe('the limit that a server announces', () => {
  /** Take these words of the server, each from one more answer. */
  const answered = (age: ConnectionAge, ...said: (number | undefined)[]) => {
    for (const max of said) {
      age.read(max)
      age.served++
    }
    return age.limit
  }

  it('is that of the connection, and of new ones until they say something themselves', () => {
    const life = new ConnectionLife()
    const first = new ConnectionAge(life)
    expect(first.limit).toBe(unlimited)
    expect(answered(first, undefined)).toBe(unlimited)
    expect(answered(first, 100)).toBe(100)
    expect(life.limit).toBe(100)
    const second = new ConnectionAge(life)
    expect(second.limit).toBe(100)
    expect([answered(second, 30), life.limit]).toEqual([30, 30])
  })

  it('counts down with some servers: the answers so far and those that are left', () => {
    const life = new ConnectionLife()
    const age = new ConnectionAge(life)
    expect(answered(age, 99, 98)).toBe(100)
    expect(answered(age, 98)).toBe(100)
    expect(answered(age, 96)).toBe(100)
    expect(life.limit).toBe(99)
  })

  it('may grow', () => {
    expect(answered(new ConnectionAge(new ConnectionLife()), 10, 20)).toBe(20)
  })
})
