import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { LedgerBook } from '../../src/delivery/ledger-book.js'
import type { Reporter } from '../../src/diagnostics/reporter.js'
import { Engine } from '../../src/engine/engine.js'
import type { EngineDelivery } from '../../src/engine/engine-delivery.js'
import { lanesOf } from '../../src/engine/engine-setting.js'
import { thisMachine } from '../../src/engine/machine.js'
import type { KeyedValue, Line } from '../../src/engine/ports.js'
import { HandOffAccount } from '../../src/hand-off/account.js'
import { EngineSink } from '../../src/hand-off/frame-sink.js'
import { type News, newsReporter } from '../../src/hand-off/news.js'
import { Outgoing } from '../../src/hand-off/outgoing.js'
import type { SluiceOptions } from '../../src/options/options.js'
import { textAt } from '../../src/pipe/frame.js'
import { PipeReader } from '../../src/pipe/pipe-reader.js'
import { PipeWriter } from '../../src/pipe/pipe-writer.js'
import { configure } from '../../src/process/configure.js'
import type { Severity } from '../../src/records/level.js'
import type { LineStyle } from '../../src/records/line-style.js'
import { runs } from '../support/full.js'
import { pinoLines } from '../support/pino-lines.js'
import { pipeOf, texts } from '../support/pipe.js'
import { VirtualClock } from '../support/virtual-clock.js'
import { winstonLines } from '../support/winston-lines.js'

const everything = Number.POSITIVE_INFINITY
const now = 1_700_000_000_000

/** Nothing is sent: records stay where they are. */
class StillClock extends VirtualClock {
  override soon(): void {}
}

/** What an engine did with a record. */
interface Noted {
  readonly body?: string
  readonly severity?: Severity
  readonly idempotencyKey?: string | undefined
  readonly origin?: string | undefined
  readonly suppressed?: string
  readonly dropped?: string
}

/** A real engine that notes its records before it takes them. */
function notingEngine(more: Partial<SluiceOptions>) {
  const { options } = configure({ url: 'http://127.0.0.1:1', apiKey: 'k', bucket: 'b', ...more }, 'values')
  const clock = new StillClock()
  const noted: Noted[] = []
  const news: News[] = []
  const watch = (delivery: EngineDelivery) => {
    const { accept, refuse, suppress } = delivery
    delivery.accept = (lane, record) => {
      const { body, severity, idempotencyKey, origin } = record
      noted.push({
        body,
        severity,
        ...(idempotencyKey !== undefined && { idempotencyKey }),
        ...(origin !== undefined && { origin }),
      })
      accept.call(delivery, lane, record)
    }
    delivery.refuse = (lane, reason) => {
      noted.push({ dropped: reason })
      refuse.call(delivery, lane, reason)
    }
    delivery.suppress = (lane, reason) => {
      noted.push({ suppressed: reason })
      suppress.call(delivery, lane, reason)
    }
  }
  const book = new LedgerBook(lanesOf(options))
  const engine = new Engine(options, {
    machine: { ...thisMachine, clock, watch },
    memory: book.memory,
    reporter: (warn) => newsReporter({ clock, post: (each) => news.push(each), warn }),
  })
  return { engine, book, noted, news, lanes: lanesOf(options) }
}

function setUp(more: Partial<SluiceOptions> = {}, { ringBytes }: { readonly ringBytes?: number } = {}) {
  const { engine, book, noted, news, lanes } = notingEngine(more)
  const pipe = pipeOf(ringBytes)
  const reporter = {} as Reporter
  const outgoing = new Outgoing({
    clock: new VirtualClock(),
    pipe,
    account: new HandOffAccount({ lanes, book, reporter, spools: false }),
    maxBytes: 2 ** 30,
    mostQuiet: { records: 256, bytes: 32_768 },
    untaken: () => 0,
    fullReason: () => 'hand-off-full',
    handedOver: () => {},
  })
  const styles: LineStyle[] = []
  const state = { isHalted: false }
  const sink = new EngineSink({ engine, book, styles, isHalted: () => state.isHalted })
  const reader = new PipeReader(pipe)
  /** What came of the records that were written since the last call. */
  const taken = () => {
    do reader.take(sink, everything)
    while (!outgoing.push(0) || outgoing.bytes > 0)
    return noted.splice(0)
  }
  return { book, news, noted, outgoing, pipe, reader, sink, state, styles, taken }
}

/** What an engine makes of records that come to it directly. */
function madeDirectly(more: Partial<SluiceOptions>, work: (engine: Engine) => void): Noted[] {
  const { engine, noted } = notingEngine(more)
  work(engine)
  return noted
}

function messageOf({ body }: Noted): string {
  return (JSON.parse(body!) as { message: string }).message
}

beforeEach(() => {
  // Records of Sluice itself have the time of the clock.
  vi.spyOn(Date, 'now').mockReturnValue(now)
})
afterEach(() => {
  vi.restoreAllMocks()
})

const style: LineStyle = { messageKey: 'text' }
const winston: LineStyle = { logger: 'winston', level: 'info' }
const pinoStart = `{"level":30,"time":${now},"pid":1,"hostname":"h"`
const about = { style, severity: 2, arrivedAt: now } as const

describe('a line through a pipe', () => {
  it.each<[string, string, Partial<Line>?]>([
    ['plain', `${pinoStart},"a":1,"text":"plain: \\" ü 😀"}`],
    ['nested', `${pinoStart},"text":"nested","a":{"b":[1,{"c":null}]}}`],
    ['at another level', `{"level":50,"time":${now + 1},"pid":1,"hostname":"h","text":"m"}`],
    ['with an error', `${pinoStart},"err":{"type":"Error","message":"m","stack":"Error: m\\n    at f"}}`],
    ['without JSON', 'no JSON'],
    ['without anything', ''],
    ['with half a character', `${pinoStart},"text":"a\ud800"}`],
    ['with ends of lines', '{\n  "text": "m"\n}'],
    ['of winston', '{"level":"info","b":true,"message":"m"}', { style: winston, severity: 3 }],
    ['of winston, at an odd level', '{"message":"m"}', { style: { logger: 'winston', level: 'ünusual,\n"😀' } }],
    [
      'beside which there are errors',
      '{"message":"m\\n","err":{}}',
      { style: winston, errors: '{"err":{"type":"E","message":"\\n","stack":"E: é"}}' },
    ],
    ['in which something was hidden', '{"text":"m"}', { redacted: true }],
  ])('that is %s makes the record that it makes directly', (_, line, more = {}) => {
    const { book, outgoing, taken } = setUp()
    const given: Line = { ...about, ...more }
    outgoing.line(line, given)
    expect(taken()).toEqual(madeDirectly({}, (engine) => engine.line(line.toWellFormed(), given)))
    expect([book.taken, book.read().redacted]).toEqual([1, given.redacted ? 1 : 0])
  })

  it('is read in the style of its logger', () => {
    const { outgoing, taken } = setUp()
    const styles = [
      { messageKey: 'a' },
      { messageKey: 'b' },
      { messageKey: 'a', labels: { 30: 'notice' } },
      { messageKey: 'é"\n', errorKey: 'a' },
    ]
    const line = `${pinoStart},"a":"of a","b":"of b"}`
    const order = [0, 1, 2, 3, 1, 0, 2]
    const write = (port: Pick<Engine, 'line'>) => {
      for (const each of order) port.line(line, { ...about, style: styles[each]! })
    }
    write({ line: (...given) => outgoing.line(...given) })
    const got = taken()
    expect(got.slice(0, 2).map(messageOf)).toEqual([
      'of a {"pid":1,"hostname":"h","b":"of b"}',
      'of b {"pid":1,"hostname":"h","a":"of a"}',
    ])
    expect(got).toEqual(madeDirectly({}, write))
  })

  it('is read in the style that the worker knew from its start', () => {
    const { book, noted, pipe, reader, sink, styles } = setUp()
    styles.push({}, { messageKey: 'b' })
    const writer = new PipeWriter(pipe)
    writer.text({ kind: 'line', severity: 2, marks: 0, time: now, style: 1 }, '{"b":"of b"}')
    // Nobody knows its style.
    writer.text({ kind: 'line', severity: 2, marks: 0, time: now, style: 9 }, '{"msg":"of msg"}')
    writer.publish()
    expect(reader.take(sink, everything)).toBe(true)
    expect(noted.map(messageOf)).toEqual(['of b', 'of msg'])
    expect(book.taken).toBe(2)
  })

  it('has no part of what stood in the ring before', () => {
    const whole = `${pinoStart},"text":"m","a":"b","c":"d"}`
    for (let length = 0; length < whole.length; length++) {
      const { outgoing, pipe, taken } = setUp()
      const line = whole.slice(0, length)
      // The style has a frame of its own, in the bytes that the line of its logger does not use.
      outgoing.line('{}', about)
      taken()
      pipe.frames.bytes.write(whole, pipe.get('written') + textAt)
      outgoing.line(line, about)
      expect(taken()).toEqual(madeDirectly({}, (engine) => engine.line(line, about)))
    }
  })

  it('whose errors cannot be read becomes a record that says so, is counted once, and is reported', () => {
    const { book, news, outgoing, taken } = setUp()
    outgoing.line('{"message":"m"}', { ...about, style: winston, errors: 'no JSON' })
    outgoing.line('{"message":"the next"}', { ...about, style: winston })
    const got = taken()
    expect(got.map(messageOf)).toEqual(['sluice: a line could not be read', 'the next'])
    expect(got[0]).toMatchObject({ severity: 3, body: expect.stringContaining('"level":"warn"') })
    expect(book.taken).toBe(2)
    expect(book.read()).toMatchObject({ accepted: 2, queued: 2 })
    expect(news).toMatchObject([{ type: 'misused', code: 'SLUICE_UNMAPPED' }])
  })

  it('is left out by `sample`, and counted', () => {
    const { book, outgoing, taken } = setUp({ sample: { info: 0 } })
    for (let time = 0; time < 3; time++) outgoing.line('{"text":"m"}', about)
    expect(taken()).toEqual(new Array(3).fill({ suppressed: 'sampled' }))
    expect([book.taken, book.read().suppressed.sampled]).toEqual([3, 3])
  })

  it('below the level is kept until an error comes', () => {
    const { book, outgoing, taken } = setUp({ keepForError: '5/10s', level: 'info' })
    const below = { ...about, severity: 1, below: true } as const
    outgoing.line('{"level":20,"reqId":"7","text":"pino"}', below)
    outgoing.line('{"message":"winston","reqId":"7"}', { ...below, style: { logger: 'winston', level: 'debug' } })
    expect(taken()).toEqual(new Array(2).fill({ suppressed: 'unneeded' }))
    expect(book.read()).toMatchObject({ suppressed: { unneeded: 2 }, keptForError: 2 })
    outgoing.line('{"level":50,"reqId":"7","text":"error"}', { ...about, severity: 4 })
    const got = taken()
    expect(got.map((noted) => messageOf(noted).split(' ')[0])).toEqual(['pino', 'winston', 'error'])
    expect(got.map(({ origin }) => origin)).toEqual(['unneeded', 'unneeded', undefined])
    expect([book.taken, book.read().keptForError]).toEqual([3, 0])
  })
})

describe('a value through a pipe', () => {
  it.each([
    [1001, now],
    [0, 0],
    [9_000_000_000_000_000, -5],
    [7, now + 0.5],
    [7, -0.5],
    [2 ** 60, now],
    [-1, now],
    [1.5, now],
  ])('of the event %s at the time %s makes the record of its numbers', (eventId, milliseconds) => {
    for (const timestampUnit of ['ms', 's'] as const) {
      const { book, outgoing, taken } = setUp({ timestampUnit })
      outgoing.value(eventId, milliseconds)
      const timeStamp = timestampUnit === 's' ? Math.floor(milliseconds / 1000) : Math.trunc(milliseconds)
      const [{ body, severity } = expect.fail()] = taken()
      expect(JSON.parse(body!)).toMatchObject({ eventId, timeStamp: timeStamp + 0 })
      expect([severity, book.taken]).toEqual([6, 1])
    }
  })

  it('keeps its key', () => {
    const { book, outgoing, taken } = setUp()
    const values: KeyedValue[] = [
      { eventId: 1001, milliseconds: now, key: 'a,b,"\\' },
      { eventId: 2, milliseconds: 1.5, key: '~'.repeat(200) },
    ]
    for (const value of values) outgoing.keyedValue(value)
    const got = taken()
    expect(got.map(({ idempotencyKey }) => idempotencyKey)).toEqual([
      'event-1001-a,b,"\\',
      `event-2-${'~'.repeat(200)}`,
    ])
    const direct = (engine: Engine) => {
      for (const value of values) engine.keyedValue(value)
    }
    expect(got).toEqual(madeDirectly({}, direct))
    expect(book.taken).toBe(2)
  })
})

describe('a long line through a pipe', () => {
  const lineOf = (text: string) => `{"message":"${text}","a":1}`

  it('makes the record that it makes directly', () => {
    const { book, outgoing, taken } = setUp({}, { ringBytes: 4096 })
    const long = 'é€😀'.repeat(500)
    const write = (port: Pick<Engine, 'line'>) => {
      port.line(lineOf(long), { ...about, style: winston })
      port.line(`${pinoStart},"text":"${long}"}`, about)
      port.line(lineOf('short'), {
        ...about,
        style: winston,
        errors: JSON.stringify({ '': { message: long, stack: long } }),
      })
      port.line(lineOf('short'), { ...about, style: winston })
      // Longer than a message may be.
      port.line(`${pinoStart},"text":"${'x'.repeat(100_000)}"}`, about)
    }
    write({ line: (...given) => outgoing.line(...given) })
    expect(taken()).toEqual(madeDirectly({}, write))
    expect(book.taken).toBe(5)
  })

  it('whose beginning went with another worker is dropped, and counted once', () => {
    const { book, noted, outgoing, pipe, reader, sink } = setUp({}, { ringBytes: 4096 })
    outgoing.line('{}', about)
    outgoing.handOver()
    reader.take(sink, everything)
    noted.splice(0)
    outgoing.line(lineOf('x'.repeat(2000)), about)
    outgoing.line(lineOf('the next'), about)
    outgoing.handOver()
    reader.take(sink, 1)
    expect(book.taken).toBe(1)
    expect(new PipeReader(pipe).take(sink, everything)).toBe(true)
    expect(noted).toMatchObject([{ dropped: 'unreadable' }, { body: expect.stringContaining('the next') }])
    expect(book.read()).toMatchObject({ accepted: 3, queued: 2, dropped: { unreadable: 1 } })
    expect(book.taken).toBe(3)
  })

  it('that is the style of a logger is no record, though its beginning went with another worker', () => {
    const { book, noted, outgoing, pipe, reader, sink } = setUp({}, { ringBytes: 4096 })
    const style = { messageKey: 'x'.repeat(2000) }
    outgoing.line('{}', { style, severity: 2, arrivedAt: now })
    outgoing.handOver()
    reader.take(sink, 1)
    expect(new PipeReader(pipe).take(sink, everything)).toBe(true)
    expect(noted).toMatchObject([{ body: expect.stringContaining('"message"') }])
    expect(book.taken).toBe(1)
  })
})

describe('the sink of a worker', () => {
  it('takes nothing once it is halted', () => {
    const { book, outgoing, reader, sink, state, taken } = setUp()
    for (let eventId = 0; eventId < 5; eventId++) outgoing.value(eventId, 1)
    outgoing.handOver()
    // Halted while it has a record: that one is its last.
    reader.take(sink, 24)
    expect(book.taken).toBe(1)
    state.isHalted = true
    expect(sink.taken()).toBe(undefined)
    expect(reader.take(sink, everything)).toBe(false)
    expect(book.taken).toBe(1)
    state.isHalted = false
    expect(taken()).toHaveLength(5)
    expect(book.taken).toBe(5)
  })

  it('counts styles as no records, and adds them to those of its worker', () => {
    const { book, outgoing, styles, taken } = setUp()
    const known = [{ messageKey: 'm' }, { labels: { 30: 'é' } }]
    for (const style of known) outgoing.line('{}', { style, severity: 2, arrivedAt: now })
    expect(taken()).toHaveLength(2)
    expect([book.taken, styles]).toEqual([2, known])
  })

  it('tells how many records of both kinds the engine has taken', () => {
    const { outgoing, sink, taken } = setUp()
    outgoing.value(1, 1)
    outgoing.line('{}', about)
    expect(sink.taken()).toBe(0)
    taken()
    expect(sink.taken()).toBe(2)
  })
})

type Written =
  | { readonly kind: 'line'; readonly text: string; readonly line: Line }
  | { readonly kind: 'value'; readonly eventId: number; readonly milliseconds: number }
  | { readonly kind: 'keyed'; readonly eventId: number; readonly milliseconds: number; readonly key: string }

const times = fc.constantFrom(now, now + 1, 7, now + 0.5, -1)
const events = fc.maxSafeNat().map((event) => event - (event % 100))
const styles: readonly LineStyle[] = [
  {},
  style,
  { messageKey: 'message', errorKey: 'error' },
  { labels: { 30: 'nötice', 35: 'audit' } },
  winston,
  { logger: 'winston', level: 'a,\nb' },
]
const lineTexts = fc.oneof(
  pinoLines,
  winstonLines,
  texts(6000).map((text) => `{"level":"info","message":${JSON.stringify(text)}}`),
  texts(6000),
)
const written: fc.Arbitrary<Written> = fc.oneof(
  fc.record({
    kind: fc.constant('line' as const),
    text: lineTexts,
    line: fc.record(
      {
        style: fc.constantFrom(...styles),
        severity: fc.constantFrom<Severity>(0, 1, 2, 3, 4, 5),
        arrivedAt: times,
        below: fc.boolean(),
        redacted: fc.boolean(),
        errors: fc.constantFrom('{}', '{"":{"message":"m\\n","stack":"s"}}', '{"err":{"message":"m","stack":"s"}}'),
      },
      { requiredKeys: ['style', 'severity', 'arrivedAt'] },
    ),
  }),
  fc.record({ kind: fc.constant('value' as const), eventId: events, milliseconds: times }),
  fc.record({
    kind: fc.constant('keyed' as const),
    eventId: events,
    milliseconds: times,
    key: fc.string({ minLength: 1, maxLength: 200 }),
  }),
)
const optionSets = fc.constantFrom<Partial<SluiceOptions>>(
  {},
  {},
  { context: 'logfmt' },
  { context: 'none', timestampUnit: 's', maxMessageBytes: 256 },
  { redact: { keys: ['a', '*tok*'] } },
  { sample: { info: 0 } },
  { keepForError: '3/10s', sample: { debug: 0 } },
)

/** Half a character becomes the replacement character on its way. */
function give(
  port: Pick<Engine, 'line' | 'value' | 'keyedValue'>,
  sent: Written,
  arrives = (text: string) => text,
): void {
  if (sent.kind === 'line') port.line(arrives(sent.text), sent.line)
  else if (sent.kind === 'value') port.value(sent.eventId, sent.milliseconds)
  else port.keyedValue(sent)
}

describe('records through a pipe', () => {
  it('are the same as without it, in the same order, each counted once', () => {
    const sizes = fc.constantFrom(2048, 16_384, undefined)
    const steps = fc.array(fc.oneof({ weight: 8, arbitrary: written }, fc.nat(5000)), { maxLength: 25 })
    fc.assert(
      fc.property(steps, optionSets, sizes, (steps, options, ringBytes) => {
        // Without the option, no line below the level is handed over.
        const keeps = options.keepForError !== undefined
        const all = steps.map((step) =>
          typeof step === 'number' || step.kind !== 'line' || keeps
            ? step
            : { ...step, line: { ...step.line, below: false } },
        )
        const { book, outgoing, reader, sink, taken } = setUp(options, ringBytes === undefined ? {} : { ringBytes })
        const sent = all.filter((step) => typeof step !== 'number')
        for (const step of all) {
          if (typeof step !== 'number') give(outgoing, step)
          else {
            outgoing.handOver()
            reader.take(sink, step)
          }
        }
        const got = taken()
        const expected = madeDirectly(options, (engine) => {
          for (const each of sent) give(engine, each, (text) => text.toWellFormed())
        })
        expect(got).toEqual(expected)
        expect(book.taken).toBe(sent.length)
      }),
      { numRuns: runs({ some: 150, all: 10_000 }) },
    )
  })
})
