import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mapPinoLine, pinoMapper } from '../../src/records/pino-line.js'
import { winstonMapper } from '../../src/records/winston-info.js'
import { mapParsedLine, winstonLineMapper } from '../../src/records/winston-line.js'
import { controlling } from '../../src/volume/line-control.js'

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
  const options = controlled({ sample: { info: 0.5 }, redact: { keys: ['trace_id'], patterns: [], mask: 'x' } })
  const pino = pinoMapper(options)
  const winston = winstonLineMapper(options)
  const info = winstonMapper(options)

  it('is kept or left out with its trace by every logger, and not with all others whose trace is hidden', () => {
    const ids = Array.from({ length: 100 }, (_, number) => ((number * 2.56) | 0).toString(16).padStart(2, '0'))
    const traces = ids.map((id) => `${'0'.repeat(18)}${id}${'0'.repeat(12)}`)
    const kept = traces.map((trace_id) => {
      const fields = { trace_id, message: 'm' }
      const mapped = [
        mapPinoLine(pino, JSON.stringify({ level: 30, ...fields }), about),
        winston(JSON.stringify(fields), { ...about, level: 'info', severity: 2 }),
        info({ level: 'info', ...fields }, about),
      ]
      expect(JSON.stringify(mapped)).not.toContain(trace_id)
      return mapped.map(({ sampledOut }) => sampledOut !== true)
    })
    expect(kept.filter((each) => new Set(each).size > 1)).toEqual([])
    const count = kept.filter(([each]) => each).length
    expect([count > 0, count < 100]).toEqual([true, true])
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
