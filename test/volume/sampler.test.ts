import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { traceOf } from '../../src/records/line-ids.js'
import { Sampler } from '../../src/volume/sampler.js'
import { seeded } from '../support/seeded.js'

const trace = (place: number) => `0af7651916cd43dd${place.toString(16).padStart(16, '0')}`
const hex = (digits: number) =>
  fc.array(fc.constantFrom(...'0123456789abcdef'), { minLength: digits, maxLength: digits }).map((all) => all.join(''))

function keeps(sampler: Sampler, level: string, fields: Record<string, unknown>): boolean {
  return sampler.keeps(level, fields, traceOf(fields))
}

describe('the sampler', () => {
  it('keeps all lines of levels that are not named, and of those with the share 1', () => {
    const sampler = new Sampler({ debug: 0.5, info: 1 }, () => 0.999)
    const fields = {}
    expect([keeps(sampler, 'warn', fields), keeps(sampler, 'info', fields), keeps(sampler, 'debug', fields)]).toEqual([
      true,
      true,
      false,
    ])
    expect([sampler.samples('debug'), sampler.samples('info')]).toEqual([true, false])
    expect(fields).toEqual({})
  })

  it('keeps its share of the lines, and writes it into them', () => {
    const sampler = new Sampler({ debug: 0.25 }, seeded(1))
    const fields = Array.from({ length: 10_000 }, () => ({}))
    const kept = fields.filter((each) => keeps(sampler, 'debug', each))
    expect(kept.length).toBeGreaterThan(2300)
    expect(kept.length).toBeLessThan(2700)
    expect(kept[0]).toEqual({ sampleRate: 0.25 })
    expect(fields.filter((each) => Object.keys(each).length > 0)).toHaveLength(kept.length)
  })

  it('keeps nothing of the share 0', () => {
    const sampler = new Sampler({ debug: 0 }, () => 0)
    expect(keeps(sampler, 'debug', {})).toBe(false)
    expect(keeps(sampler, 'debug', { trace_id: trace(0) })).toBe(false)
    expect(keeps(sampler, 'debug', { trace_id: 'f'.repeat(32) })).toBe(false)
  })

  it.each(['trace_id', 'traceId', 'trace.id', 'dd.trace_id'])('decides by the trace in %s', (key) => {
    const sampler = new Sampler({ debug: 0.5, info: 0.5 }, () => Number.NaN)
    fc.assert(
      fc.property(fc.oneof(hex(32), fc.string({ minLength: 1 }), fc.bigInt({ min: 1n }).map(String)), (id) => {
        const kept = ['debug', 'info', 'debug'].map((level) => keeps(sampler, level, { [key]: id }))
        expect(new Set(kept).size).toBe(1)
      }),
    )
  })

  it('keeps a trace of which it keeps lines at one share at every larger share', () => {
    fc.assert(
      fc.property(
        fc.oneof(hex(32), fc.uuid(), fc.string({ minLength: 1 })),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (id, a, b) => {
          const [less, more] = [Math.min(a, b), Math.max(a, b)]
          const sampler = new Sampler({ less, more })
          expect(keeps(sampler, 'less', { trace_id: id }) && !keeps(sampler, 'more', { trace_id: id })).toBe(false)
        },
      ),
    )
  })

  it.each([
    ['random traces', (random: () => number) => trace(Math.floor(random() * 2 ** 52) * 16)],
    ['random numbers of 64 bits', (random: () => number) => String(BigInt(Math.floor(random() * 2 ** 32)) << 32n)],
    ['times of microseconds', (random: () => number) => `${17e14 + Math.floor(random() * 1e9)}`],
    [
      'numbers that follow one another',
      (() => {
        let last = 0
        return () => `trace ${++last}`
      })(),
    ],
  ])('keeps the share of %s', (_, next) => {
    const random = seeded(7)
    const sampler = new Sampler({ debug: 0.1 })
    const kept = Array.from({ length: 20_000 }, () => keeps(sampler, 'debug', { trace_id: next(random) }))
    const count = kept.filter(Boolean).length
    expect(count).toBeGreaterThan(1700)
    expect(count).toBeLessThan(2300)
  })

  it('agrees with OpenTelemetry: the random part of a kept trace is at or above the threshold', () => {
    const sampler = new Sampler({ debug: 0.25 })
    const threshold = 0xc0000000000000n
    for (const random of [threshold - 1n, 0n])
      expect(keeps(sampler, 'debug', { trace_id: `${'0'.repeat(18)}${random.toString(16).padStart(14, '0')}` })).toBe(
        false,
      )
    for (const random of [threshold + 8n, 0xffffffffffffffn])
      expect(keeps(sampler, 'debug', { trace_id: `${'0'.repeat(18)}${random.toString(16)}` })).toBe(true)
  })
})
