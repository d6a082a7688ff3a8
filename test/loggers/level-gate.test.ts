import fc from 'fast-check'
import pino from 'pino'
import { sluicePino } from 'sluice/pino'
import { captureSluice } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/errors/sluice-error.js'
import { currentGate, levelGate } from '../../src/loggers/level-gate.js'
import { LevelNames, type Severity } from '../../src/records/level.js'
import { lineMapper } from '../../src/records/line.js'

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

  it('lets nothing through at silent, whether the levels of the logger are known or not', () => {
    for (const known of [values, { ...values, silent: Number.POSITIVE_INFINITY }, undefined]) {
      const gate = currentGate({ level: 'silent', values: known, report: unreported, overriding: () => undefined })
      const ofSource = currentGate({ level: 'silent', source: 'SLUICE_LEVEL', values: known, report: unreported })
      expect([gate({ number: 60, severity: 5 }), ofSource({ number: undefined, severity: 5 })]).toEqual([false, false])
    }
  })

  it('refuses an unknown level in the option', () => {
    for (const level of ['loud', 'constructor']) {
      expect(() => currentGate({ level, values, report: unreported })).toThrow(ConfigError)
    }
  })
})

/** As syslog counts: the lower the number, the more severe. */
const descending = { emerg: 10, error: 30, warning: 40, audit: 45, info: 60, debug: 70 }
const labels = Object.fromEntries(Object.entries(descending).map(([name, number]) => [number, name]))

describe('the levels of a logger with levelComparison DESC', () => {
  const line = (number: number) => ({ number, severity: new LevelNames(labels).severityOf(number) })
  const passed = (level: string) =>
    Object.values(descending).filter((number) => levelGate(level, descending)(line(number)))

  it('are let through down to the option level', () => {
    expect(passed('warning')).toEqual([10, 30, 40])
    expect(passed('audit')).toEqual([10, 30, 40, 45])
    expect(passed('warn')).toEqual([10, 30, 40])
    expect(passed('debug')).toEqual(Object.values(descending))
  })

  it('are by their names as important as those of other loggers', () => {
    const names = new LevelNames(labels)
    expect(Object.values(descending).map((number) => names.severityOf(number))).toEqual([5, 4, 3, 2, 2, 1])
    expect([5, 35, 99].map((number) => names.severityOf(number))).toEqual([5, 3, 1])
    const mapping = { labels, context: 'json', maxMessageBytes: 1000, timestampUnit: 'ms' } as const
    for (const text of ['{"level":30,"time":1700000000000,"msg":"m"}', '{"level":30,"msg":"m"}', '{"level":30,"a":{}}'])
      expect(lineMapper(mapping)(text, { arrivedAt: 0 })).toMatchObject({ fields: { level: 'error' }, severity: 4 })
  })

  it('reach sluicePino() from the option level on', () => {
    using captured = captureSluice()
    const options = {
      customLevels: descending,
      useOnlyCustomLevels: true,
      levelComparison: 'DESC',
      level: 'debug',
    } as const
    const logger = pino(options, sluicePino({ level: 'warning' }))
    for (const name of ['emerg', 'warning', 'info', 'debug'] as const) logger[name](name)
    expect(captured.logs.map(({ message }) => message)).toEqual(['emerg', 'warning'])
  })
})
