import { describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine.js'
import {
  deliverLine,
  drainFrame,
  engineCode,
  engineFrame,
  FrameWriter,
  isRecord,
  isValue,
  keyedFrame,
  logFrame,
  pinoStart,
  readFrame,
  sampledOutFrame,
  styleFrame,
  valueEnd,
  valueStart,
  winstonStart,
} from '../../src/hand-off/frames.js'

const frames = {
  log: logFrame({ severity: 4, head: '{"a":1' }),
  redacted: logFrame({ severity: 3, head: '{"a":1', redacted: true }),
  facts: logFrame({
    severity: 1,
    head: '{"a":1',
    redacted: true,
    below: true,
    facts: { level: 'a,b', text: 'b,{"é"}' },
  }),
  sampledOut: sampledOutFrame,
  below: `b${pinoStart(7, { severity: 1, arrivedAt: 34 })}{"c":1}\n`,
  winston: `${winstonStart({ level: 'warn, "é"', severity: 3, arrivedAt: 12 })}{"b":"x,y"}\n`,
  pino: `${pinoStart(7, { severity: 2, arrivedAt: 34 })}{"c":"x,y"}\n`,
  style: styleFrame(3, { messageKey: 'a,b' }),
  value: `${valueStart}1001${valueEnd(56)}`,
  keyed: keyedFrame({ eventId: 1001, milliseconds: 56, key: 'a,b,"\\' }),
  flush: drainFrame('flush', { request: 1, timeoutMs: 500 }),
  park: drainFrame('park', { request: 2, timeoutMs: 0 }),
  close: drainFrame('close', { request: 3, timeoutMs: 5000 }),
}

describe('a frame', () => {
  it.each([
    [frames.log, { type: 'log', severity: 4, head: '{"a":1', redacted: false }],
    [frames.redacted, { type: 'log', severity: 3, head: '{"a":1', redacted: true }],
    [
      frames.facts,
      {
        type: 'log',
        severity: 1,
        head: '{"a":1',
        redacted: true,
        below: true,
        facts: { level: 'a,b', text: 'b,{"é"}' },
      },
    ],
    [frames.sampledOut, { type: 'sampled-out' }],
    [frames.below, { type: 'pino', severity: 1, style: 7, arrivedAt: 34, line: '{"c":1}', below: true }],
    [frames.winston, { type: 'winston', severity: 3, arrivedAt: 12, level: 'warn, "é"', line: '{"b":"x,y"}' }],
    [frames.pino, { type: 'pino', severity: 2, style: 7, arrivedAt: 34, line: '{"c":"x,y"}' }],
    [frames.style, { type: 'style', number: 3, style: { messageKey: 'a,b' } }],
    [frames.value, { type: 'value', eventId: 1001, milliseconds: 56 }],
    [frames.keyed, { type: 'keyed', eventId: 1001, milliseconds: 56, key: 'a,b,"\\' }],
    [frames.flush, { type: 'drain', mode: 'flush', request: 1, timeoutMs: 500 }],
    [frames.park, { type: 'drain', mode: 'park', request: 2, timeoutMs: 0 }],
    [frames.close, { type: 'drain', mode: 'close', request: 3, timeoutMs: 5000 }],
  ])('is one line, and is read as it was written: %j', (line, frame) => {
    expect(line.indexOf('\n')).toBe(line.length - 1)
    expect(readFrame(line.slice(0, -1))).toEqual(frame)
    expect(line.charCodeAt(0)).not.toBe(engineCode)
  })

  it('carries a record, or not', () => {
    const { style, flush, park, close, ...records } = frames
    expect(Object.values(records).map(isRecord)).not.toContain(false)
    for (const severity of [0, 6] as const) expect(isRecord(logFrame({ severity, head: '' }))).toBe(true)
    expect([style, flush, park, close, engineFrame(2), '/', ':', ''].map(isRecord)).not.toContain(true)
    expect([frames.value, frames.keyed, frames.log, frames.winston].map(isValue)).toEqual([true, true, false, false])
  })

  it('names the engine of the lines behind it', () => {
    expect(engineFrame(12)).toBe('e12\n')
    expect(engineFrame(12).charCodeAt(0)).toBe(engineCode)
  })

  it('with a level that is no text of Unicode is still a line', () => {
    expect(readFrame(`${winstonStart({ level: 'a\ud800', severity: 2, arrivedAt: 0 })}{}`)).toMatchObject({
      level: 'a\ufffd',
    })
  })
})

describe('the writer of frames', () => {
  it('writes each line with its own level and time', () => {
    const writer = new FrameWriter(() => {})
    const lines = [
      { level: 'info', severity: 2, arrivedAt: 1 },
      { level: 'info', severity: 2, arrivedAt: 1 },
      { level: 'error', severity: 4, arrivedAt: 1 },
      { level: 'error', severity: 4, arrivedAt: 2 },
    ] as const
    for (const about of lines)
      expect(readFrame(writer.winston('{}', about).trimEnd())).toMatchObject({ ...about, line: '{}' })
    for (const [event, ms] of [
      [1, 0],
      [2, 0],
      [3, 5],
      [3, 6],
    ] as const) {
      expect(readFrame(writer.value(event, ms).trimEnd())).toEqual({ type: 'value', eventId: event, milliseconds: ms })
    }
  })

  it('gives each line of winston its own severity, also where two loggers rank one name differently', () => {
    const writer = new FrameWriter(() => {})
    for (const severity of [2, 4, 2] as const) {
      const frame = writer.winston('{}', { level: 'audit', severity, arrivedAt: 1 })
      expect(readFrame(frame.trimEnd())).toMatchObject({ severity })
    }
  })

  it('announces the style of each logger once, before its first line, and knows all for the next worker', () => {
    const announced: string[] = []
    const writer = new FrameWriter((frame) => announced.push(frame))
    const [first, second] = [{ messageKey: 'm' }, { messageKey: 'text' }]
    const about = { severity: 2, arrivedAt: 0 } as const
    const numbers = [first, second, first].map((style) => readFrame(writer.pino('{}', { style, ...about }).trimEnd()))
    expect(numbers.map((frame) => frame.type === 'pino' && frame.style)).toEqual([0, 1, 0])
    expect(announced).toEqual([styleFrame(0, first), styleFrame(1, second)])
    expect(writer.allStyles()).toBe(announced.join(''))
    expect(writer.styles).toEqual([first, second])
  })
})

describe('a line', () => {
  const receive = (line: string) => {
    const calls: unknown[][] = []
    const note =
      (name: string) =>
      (...values: unknown[]) =>
        void calls.push([name, ...values])
    const engine = {
      logHead: note('log'),
      winstonLine: note('winston'),
      pinoLine: note('pino'),
      value: note('value'),
      unreadableLine: note('unreadable'),
    } as unknown as Engine
    deliverLine(engine, line, [{ messageKey: 'm' }])
    return calls
  }

  it('gives its record to the engine', () => {
    const log = (severity: number, redacted: boolean) => ({ type: 'log', severity, head: '{"a":1', redacted })
    expect(receive('4{"a":1')).toEqual([['log', log(4, false)]])
    expect(receive('r4{"a":1')).toEqual([['log', log(4, true)]])
    expect(receive('v7,8')).toEqual([['value', 7, 8]])
    expect(receive('w25,info,{}')).toEqual([['winston', '{}', expect.objectContaining({ level: 'info', severity: 2 })]])
    expect(receive('p20,9,{}')).toEqual([['pino', '{}', expect.objectContaining({ style: { messageKey: 'm' } })]])
    expect(receive('p25,9,{}')).toEqual([['pino', '{}', expect.objectContaining({ style: {} })]])
  })

  it('that cannot be read is reported, and throws nothing', () => {
    expect(receive('w2,%E0%A4%A,{}')).toEqual([['unreadable', expect.any(URIError)]])
  })
})
