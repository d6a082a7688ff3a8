import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { inUnit } from '../../src/records/time.js'
import { ValueBytes } from '../../src/records/value-bytes.js'
import { runs } from '../support/full.js'
import { encoder } from '../support/record-bytes.js'

const events = fc.oneof(fc.constantFrom(0, 9, 10, 1001, Number.MAX_SAFE_INTEGER), fc.maxSafeNat())
const times = fc.constantFrom(0, 7, 999, 1000, 1_700_000_000_000, 1_700_000_000_999, 999_999_999_999_999)
const units = fc.constantFrom('ms' as const, 's' as const)

function bodyOf(eventId: number, milliseconds: number, unit: 'ms' | 's'): string {
  return encoder.value({ eventId, timeStamp: inUnit(milliseconds, unit) })
}

describe('a value record as bytes', () => {
  it('is equal to its text', () => {
    const occurrences = fc.array(fc.tuple(events, times), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(occurrences, units, (all, timestampUnit) => {
        const bytes = new ValueBytes({ tail: encoder.valueTail, timestampUnit })
        for (const [eventId, milliseconds] of all) {
          const memory = Buffer.alloc(3 + bytes.most)
          const line = Buffer.from(`v${eventId},${milliseconds}\nv1,2\n`)
          const to = bytes.read(line, 1, line.length, memory, 3)
          if (eventId >= 1e15) expect(to).toBe(-1)
          else expect(memory.toString('utf8', 3, to)).toBe(bodyOf(eventId, milliseconds, timestampUnit))
        }
      }),
      { numRuns: runs({ some: 400, all: 20_000 }) },
    )
  })

  it('ends with the bytes, or with the line', () => {
    const bytes = new ValueBytes({ tail: encoder.valueTail, timestampUnit: 'ms' })
    const memory = Buffer.alloc(bytes.most)
    const line = Buffer.from('1001,1700000000123')
    const to = bytes.read(line, 0, line.length, memory, 0)
    expect(memory.toString('utf8', 0, to)).toBe(bodyOf(1001, 1_700_000_000_123, 'ms'))
    const shorter = bytes.read(line, 0, line.length - 3, memory, 0)
    expect(memory.toString('utf8', 0, shorter)).toBe(bodyOf(1001, 1_700_000_000, 'ms'))
  })

  it.each(['', ',', '1,', ',1', '01,1', '1,01', '-1,1', '1.5,1', '1,1.5', '1,1 ', '1;1', '1,1\r', '1,1e3', 'x,1'])(
    'is not made of %j',
    (text) => {
      const bytes = new ValueBytes({ tail: encoder.valueTail, timestampUnit: 'ms' })
      expect(bytes.read(Buffer.from(text), 0, text.length, Buffer.alloc(bytes.most), 0)).toBe(-1)
    },
  )
})
