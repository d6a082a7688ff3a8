import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { controlling } from '../../src/records/line-control.js'
import { mapPinoLine, pinoMapper } from '../../src/records/pino-line.js'
import { winstonMapper } from '../../src/records/winston-info.js'
import { mapParsedLine, winstonLineMapper } from '../../src/records/winston-line.js'

const plain = { context: 'json', maxMessageBytes: 32_768, timestampUnit: 'ms' } as const
const controlled = (options: object) => controlling({ ...plain, redact: undefined, ...options })
const everything = {
  sample: { trace: 0, other: 0.5 },
  repeat: { most: 1, windowMs: 1000 },
  keepForError: { lines: 1, windowMs: 1000 },
}
const about = { arrivedAt: 1_700_000_000_000 }

describe('the facts of a line', () => {
  const factsOf = (line: object, options: object = {}) => {
    const map = pinoMapper(controlled({ ...everything, ...options }))
    return mapPinoLine(map, JSON.stringify({ level: 30, ...line }), about).facts
  }

  it('name its logger, its level, its text and its id', () => {
    expect(factsOf({ time: 1, pid: 1, hostname: 'h', name: 'shop', reqId: 'r', a: 1, msg: 'hello' })).toEqual({
      logger: 'shop',
      level: 'info',
      text: 'hello',
      id: 'r',
    })
  })

  it('have no hidden text, and no id of which something is hidden', () => {
    const redact = { keys: ['reqId'], patterns: ['email'], mask: '***' }
    expect(factsOf({ reqId: 'r', msg: 'bob@example.com' }, { redact })).toEqual({ level: 'info', text: '***' })
    expect(factsOf({ requestId: 'r bob@example.com', msg: '' }, { redact })).toEqual({ level: 'info', text: '' })
  })

  it('have no part of a secret where the message is cut', () => {
    const redact = { keys: [], patterns: ['card', 'email'], mask: '***' }
    const map = winstonMapper(controlled({ ...everything, redact }))
    for (const secret of ['4111 1111 1111 1111', 'bob.of.a.long.name@example.com']) {
      const { facts } = map({ level: 'info', message: `${'x'.repeat(989)} ${secret} was refused` }, about)
      expect(facts?.text).toBe(`${'x'.repeat(989)} *** was ref`)
    }
  })

  it('are bounded', () => {
    const facts = factsOf({ time: 1, pid: 1, hostname: 'h', name: 'n'.repeat(1000), msg: 'm'.repeat(10_000) })
    expect([facts?.logger?.length, facts?.text.length]).toEqual([200, 1001])
  })

  it('are gathered only where an option needs them', () => {
    expect(controlled({}).control).toBeUndefined()
    const { control } = controlled({ sample: { debug: 0.5 } })
    expect(['info', 'debug'].map((level) => control?.leavesAlone(level, 2))).toEqual([true, false])
    expect(controlled({ repeat: everything.repeat }).control?.leavesAlone('info', 0)).toBe(false)
    const { control: forErrors } = controlled({ keepForError: everything.keepForError })
    expect(([3, 4, 5] as const).map((severity) => forErrors?.leavesAlone('any', severity))).toEqual([
      true,
      false,
      false,
    ])
    expect(mapPinoLine(pinoMapper(controlled({ sample: { debug: 0.5 } })), '{"level":30}', about).facts).toBeUndefined()
  })
})

describe('a line whose trace is hidden', () => {
  it('is kept or left out by chance, and not with all others whose trace is hidden', () => {
    const map = winstonLineMapper(
      controlled({ sample: { info: 0.5 }, redact: { keys: ['trace_id'], patterns: [], mask: 'x' } }),
    )
    const line = JSON.stringify({ trace_id: 'a', message: 'm' })
    const mapped = Array.from({ length: 200 }, () => map(line, { ...about, level: 'info', severity: 2 }))
    const kept = mapped.filter(({ sampledOut }) => !sampledOut)
    expect([kept.length > 0, kept.length < 200]).toEqual([true, true])
  })
})

describe('a line that is not left out', () => {
  const json = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 5 })

  it('of pino has the same fields as without these options', () => {
    const [without, withAll] = [pinoMapper(plain), pinoMapper(controlled(everything))]
    fc.assert(
      fc.property(json, fc.constantFrom(20, 30, 40, 50), (fields, level) => {
        const line = JSON.stringify({ level, time: 1_700_000_000_001, ...fields, msg: 'x' })
        const { facts: _, ...mapped } = mapPinoLine(withAll, line, about)
        expect(mapped).toEqual(mapPinoLine(without, line, about))
      }),
    )
  })

  it('of winston has the same fields as without these options', () => {
    const withAll = winstonLineMapper(controlled(everything))
    fc.assert(
      fc.property(json, fc.constantFrom('debug', 'info', 'error'), (fields, level) => {
        const line = JSON.stringify({ ...fields, level, message: 'x' })
        const given = { ...about, level, severity: 2 } as const
        const { facts: _, ...mapped } = withAll(line, given)
        expect(mapped).toEqual(mapParsedLine(winstonMapper(plain), line, given))
      }),
    )
  })
})
