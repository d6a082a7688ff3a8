import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { inUnit } from '../../src/records/time.js'
import { ValueBytes } from '../../src/records/value-bytes.js'
import { runs } from '../support/full.js'
import { encoder } from '../support/record-bytes.js'

type Unit = 'ms' | 's'

const units: readonly Unit[] = ['ms', 's']
const powersOfTen = Array.from({ length: 16 }, (_, exponent) => 10 ** exponent)
const untouched = 0xaa

function bodyOf(eventId: number, milliseconds: number, unit: Unit): string {
  return encoder.value({ eventId, timeStamp: inUnit(milliseconds, unit) })
}

/** The body that is written at a position; undefined for -1. No byte outside of the room for it may change. */
function written(bytes: ValueBytes, eventId: number, milliseconds: number): string | undefined {
  const at = 3
  const memory = Buffer.alloc(at + bytes.most + 8, untouched)
  const to = bytes.write(eventId, milliseconds, memory, at)
  const end = to === -1 ? at : to
  expect(end).toBeLessThanOrEqual(at + bytes.most)
  for (const outside of [memory.subarray(0, at), memory.subarray(end)]) {
    expect(outside.every((byte) => byte === untouched)).toBe(true)
  }
  return to === -1 ? undefined : memory.toString('utf8', at, to)
}

const newBytes = (timestampUnit: Unit) => new ValueBytes({ tail: encoder.valueTail, timestampUnit })

describe('a value record as bytes', () => {
  /** Those of the last hundred safe numbers: see below. */
  const most = Number.MAX_SAFE_INTEGER - 100
  const events = fc.oneof(
    fc.constantFrom(0, -0, ...powersOfTen, ...powersOfTen.map((power) => power - 1), most),
    fc.nat(99_999),
    fc.maxSafeNat().map((event) => Math.min(event, most)),
  )
  const times = fc.oneof(
    fc.constantFrom(0, -0, 7, 999, 1000, 1_700_000_000_000, 1_700_000_000_999, 1_700_000_000_000.5, -1, -0.5, -1001),
    fc.constantFrom(8.64e15, -8.64e15, Number.MAX_VALUE, -Number.MIN_VALUE),
    fc.double({ noNaN: true, min: -8.64e15, max: 8.64e15 }),
  )

  it('is equal to its text, whatever came before it', () => {
    const occurrences = fc.array(fc.tuple(events, times), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(occurrences, fc.constantFrom(...units), fc.boolean(), (all, unit, isOneMoment) => {
        const bytes = newBytes(unit)
        for (const [eventId, time] of all) {
          const milliseconds = isOneMoment ? all[0]![1] : time
          expect(written(bytes, eventId, milliseconds)).toBe(bodyOf(eventId, milliseconds, unit))
        }
      }),
      { numRuns: runs({ some: 500, all: 50_000 }) },
    )
  })

  it.each([-1, 0.5, -0.5, 1e15 + 0.5, 2 ** 53, 2 ** 60, -(2 ** 53), Number.NaN, Number.POSITIVE_INFINITY, 1e-300])(
    'is not made of the event %d',
    (eventId) => {
      for (const unit of units) {
        const bytes = newBytes(unit)
        expect(written(bytes, eventId, 1_700_000_000_000)).toBe(undefined)
        expect(written(bytes, 1001, 1_700_000_000_000)).toBe(bodyOf(1001, 1_700_000_000_000, unit))
      }
    },
  )

  it('has the number of its event up to the last safe one', () => {
    const bytes = newBytes('ms')
    for (let eventId = Number.MAX_SAFE_INTEGER - 100; eventId <= Number.MAX_SAFE_INTEGER; eventId++) {
      expect(written(bytes, eventId, 1)).toBe(bodyOf(eventId, 1, 'ms'))
    }
  })
})
