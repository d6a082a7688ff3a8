import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KeyWriter } from '../../src/log/idempotency-key.js'

describe('the keys of an engine', () => {
  it('are the same as text and as bytes, and unlike those of any other sequence', () => {
    const keys = new KeyWriter('engine')
    const sequence = fc.oneof(fc.nat(50), fc.maxSafeNat())
    fc.assert(
      fc.property(sequence, sequence, (one, other) => {
        const memory = Buffer.alloc(keys.mostBytes + 2)
        const end = keys.write(one, memory, 2)
        const text = memory.toString('latin1', 2, end)
        expect(text).toBe(keys.textOf(one))
        expect([keys.isKey(one, text), keys.isKey(other, text)]).toEqual([true, one === other])
        expect([keys.isKey(one, `x${text}`), keys.isKey(one, `${text}0`), keys.isKey(one, '')]).toEqual([
          false,
          false,
          false,
        ])
        expect(new KeyWriter('enginE').isKey(one, text)).toBe(false)
      }),
    )
  })
})
