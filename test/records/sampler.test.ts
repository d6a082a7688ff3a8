import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Sampler } from '../../src/records/sampler.js'
import { seeded } from '../support/seeded.js'

const trace = (place: number) => `0af7651916cd43dd${place.toString(16).padStart(16, '0')}`
const hex = (digits: number) =>
  fc.array(fc.constantFrom(...'0123456789abcdef'), { minLength: digits, maxLength: digits }).map((all) => all.join(''))

describe('the sampler', () => {
  it('keeps all lines of levels that are not named, and of those with the share 1', () => {
    const sampler = new Sampler({ debug: 0.5, info: 1 }, () => 0.999)
    const fields = {}
    expect([sampler.keeps('warn', fields), sampler.keeps('info', fields), sampler.keeps('debug', fields)]).toEqual([
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
    const kept = fields.filter((each) => sampler.keeps('debug', each))
    expect(kept.length).toBeGreaterThan(2300)
    expect(kept.length).toBeLessThan(2700)
    expect(kept[0]).toEqual({ sampleRate: 0.25 })
    expect(fields.filter((each) => Object.keys(each).length > 0)).toHaveLength(kept.length)
  })

  it('keeps nothing of the share 0', () => {
    const sampler = new Sampler({ debug: 0 }, () => 0)
    expect(sampler.keeps('debug', {})).toBe(false)
    expect(sampler.keeps('debug', { trace_id: trace(0) })).toBe(false)
    expect(sampler.keeps('debug', { trace_id: 'f'.repeat(32) })).toBe(false)
  })

  it.each(['trace_id', 'traceId', 'trace.id', 'dd.trace_id'])('decides by the trace in %s', (key) => {
    const sampler = new Sampler({ debug: 0.5, info: 0.5 }, () => Number.NaN)
    fc.assert(
      fc.property(fc.oneof(hex(32), fc.string({ minLength: 1 }), fc.bigInt({ min: 1n }).map(String)), (id) => {
        const keeps = ['debug', 'info', 'debug'].map((level) => sampler.keeps(level, { [key]: id }))
        expect(new Set(keeps).size).toBe(1)
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
          expect(sampler.keeps('less', { trace_id: id }) && !sampler.keeps('more', { trace_id: id })).toBe(false)
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
    const kept = Array.from({ length: 20_000 }, () => sampler.keeps('debug', { trace_id: next(random) }))
    const count = kept.filter(Boolean).length
    expect(count).toBeGreaterThan(1700)
    expect(count).toBeLessThan(2300)
  })

  it('agrees with OpenTelemetry: the random part of a kept trace is at or above the threshold', () => {
    const sampler = new Sampler({ debug: 0.25 })
    const threshold = 0xc0000000000000n
    for (const random of [threshold - 1n, 0n])
      expect(sampler.keeps('debug', { trace_id: `${'0'.repeat(18)}${random.toString(16).padStart(14, '0')}` })).toBe(
        false,
      )
    for (const random of [threshold + 8n, 0xffffffffffffffn])
      expect(sampler.keeps('debug', { trace_id: `${'0'.repeat(18)}${random.toString(16)}` })).toBe(true)
  })
})
