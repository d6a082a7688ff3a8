import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/errors/sluice-error.js'
import { currentGate, levelGate } from '../../src/loggers/level-gate.js'
import type { Severity } from '../../src/records/level.js'

const values = { trace: 10, debug: 20, info: 30, audit: 35, warn: 40, error: 50, fatal: 60 }
const names = fc.constantFrom('trace', 'debug', 'info', 'audit', 'warn', 'error', 'fatal', 'silly', 'notice', 'ERROR')
const known = names.filter((name) => name !== 'audit')
const lines = fc.record({
  number: fc.option(fc.constantFrom(5, 10, 20, 25, 30, 35, 40, 50, 60, 70), { nil: undefined }),
  severity: fc.integer({ min: 0, max: 5 }).map((severity) => severity as Severity),
})

function unreported(text: string): never {
  throw new Error(`reported: ${text}`)
}

describe('the gate of a logger', () => {
  it('lets through under setLevel what a gate lets through that was made with that level', () => {
    const step = fc.tuple(fc.option(names, { nil: undefined }), lines)
    fc.assert(
      fc.property(fc.option(names, { nil: undefined }), fc.array(step, { maxLength: 30 }), (level, steps) => {
        let override: string | undefined
        const gate = currentGate({ level, values, report: unreported, overriding: () => override })
        for (const [next, line] of steps) {
          override = next
          expect(gate(line)).toBe(levelGate(override ?? level, values)(line))
        }
      }),
    )
  })

  it('does so by severity where the numbers of the levels are not known', () => {
    fc.assert(
      fc.property(known, known, lines, (level, override, line) => {
        const gate = currentGate({ level, values: undefined, report: unreported, overriding: () => override })
        expect(gate(line)).toBe(levelGate(override, undefined)(line))
      }),
    )
  })

  it('stays at the option under a level that its logger does not know, and says so once', () => {
    const told: string[] = []
    const gate = currentGate({ level: 'warn', values, report: (text) => told.push(text), overriding: () => 'loud' })
    expect([20, 30, 40, 50].map((number) => gate({ number, severity: 0 }))).toEqual([false, false, true, true])
    expect(told).toEqual([
      'setLevel: a logger does not know the level "loud" and stays at its option level (SLUICE_LEVEL)',
    ])
  })

  it('refuses an unknown level in the option', () => {
    for (const level of ['loud', 'constructor']) {
      expect(() => currentGate({ level, values, report: unreported })).toThrow(ConfigError)
    }
  })
})
