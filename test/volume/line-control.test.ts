import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lineMapper } from '../../src/records/line.js'
import type { LineMapping } from '../../src/records/line-style.js'
import { controlling } from '../../src/volume/line-control.js'

const plain = { context: 'json', maxMessageBytes: 32_768, timestampUnit: 'ms' } as const
const controlled = (options: object) => controlling({ ...plain, redact: undefined, ...options })
const everything = { sample: { trace: 0, other: 0.5 }, keepForError: { lines: 1, windowMs: 1000 } }
const about = { arrivedAt: 1_700_000_000_000 }
const winston = { logger: 'winston', level: 'info' } as const

describe('the id of a line', () => {
  const idOf = (line: object, options: object = {}) =>
    lineMapper(controlled({ ...everything, ...options }))(JSON.stringify({ level: 30, ...line }), about).id

  it('is that of its request', () => {
    expect(idOf({ time: 1, reqId: 'r', a: 1, msg: 'hello' })).toBe('r')
  })

  it('is none where something is hidden in it', () => {
    const redact = { keys: ['reqId'], patterns: ['email'], mask: '***' }
    expect(idOf({ reqId: 'r', msg: 'm' }, { redact })).toBeUndefined()
    expect(idOf({ requestId: 'r bob@example.com' }, { redact })).toBeUndefined()
  })

  it('is sought only where an option needs it', () => {
    expect(controlled({}).control).toBeUndefined()
    expect(idOf({ reqId: 'r' }, { keepForError: undefined })).toBeUndefined()
  })
})

describe('a line whose trace is hidden', () => {
  const options = controlled({ sample: { info: 0.5 }, redact: { keys: ['trace_id'], patterns: [], mask: 'x' } })
  const ofPino = lineMapper(options)
  const ofWinston = lineMapper({ ...options, ...winston })

  it('is kept or left out with its trace by every logger, and not with all others whose trace is hidden', () => {
    const ids = Array.from({ length: 100 }, (_, number) => ((number * 2.56) | 0).toString(16).padStart(2, '0'))
    const traces = ids.map((id) => `${'0'.repeat(18)}${id}${'0'.repeat(12)}`)
    const kept = traces.map((trace_id) => {
      const fields = { trace_id, message: 'm' }
      const mapped = [ofPino(JSON.stringify({ level: 30, ...fields }), about), ofWinston(JSON.stringify(fields), about)]
      expect(JSON.stringify(mapped)).not.toContain(trace_id)
      return mapped.map(({ sampledOut }) => sampledOut !== true)
    })
    expect(kept.filter((each) => new Set(each).size > 1)).toEqual([])
    const count = kept.filter(([each]) => each).length
    expect([count > 0, count < 100]).toEqual([true, true])
  })
})

describe('a line that is not left out', () => {
  const fields = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 5 })

  it.each<[string, Partial<LineMapping>, object]>([
    ['pino', {}, { time: 1_700_000_000_001, msg: 'x' }],
    ['winston', winston, { message: 'x' }],
  ])('of %s has the same record as without these options', (_, style, own) => {
    const [without, withAll] = [lineMapper({ ...plain, ...style }), lineMapper({ ...controlled(everything), ...style })]
    fc.assert(
      fc.property(fields, fc.constantFrom(20, 30, 40, 50), (others, level) => {
        const line = JSON.stringify({ level, ...others, ...own })
        expect({ ...withAll(line, about), id: undefined }).toEqual(without(line, about))
      }),
    )
  })
})
