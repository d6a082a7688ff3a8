import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { BodyRoom } from '../../src/delivery/intake.js'
import { LedgerBook } from '../../src/delivery/ledger-book.js'
import type { Reporter } from '../../src/diagnostics/reporter.js'
import { Engine } from '../../src/engine/engine.js'
import type { EngineDelivery } from '../../src/engine/engine-delivery.js'
import { lanesOf } from '../../src/engine/engine-setting.js'
import { thisMachine } from '../../src/engine/machine.js'
import type { KeyedValue, PinoLine } from '../../src/engine/ports.js'
import { HandOffAccount } from '../../src/hand-off/account.js'
import { EngineSink } from '../../src/hand-off/frame-sink.js'
import { type News, newsReporter } from '../../src/hand-off/news.js'
import { Outgoing } from '../../src/hand-off/outgoing.js'
import type { SluiceOptions } from '../../src/options/options.js'
import { textAt } from '../../src/pipe/frame.js'
import { PipeReader } from '../../src/pipe/pipe-reader.js'
import { PipeWriter } from '../../src/pipe/pipe-writer.js'
import { configure } from '../../src/process/configure.js'
import type { MappedLog } from '../../src/records/encode.js'
import type { Severity } from '../../src/records/level.js'
import type { PinoStyle } from '../../src/records/pino-line.js'
import type { WinstonLine } from '../../src/records/winston-line.js'
import { runs } from '../support/full.js'
import { pinoHead, pinoLines } from '../support/pino-lines.js'
import { pipeOf, texts } from '../support/pipe.js'
import { writtenFields } from '../support/plain-lines.js'
import { VirtualClock } from '../support/virtual-clock.js'
import { winstonLines } from '../support/winston-lines.js'

const everything = Number.POSITIVE_INFINITY
const now = 1_700_000_000_000

/** Nothing is sent: records stay where they are. */
class StillClock extends VirtualClock {
  override soon(): void {}
}

/** What an engine did with a record. `asBytes`: its line never became a string. */
interface Noted {
  readonly body?: string
  readonly severity?: Severity
  readonly idempotencyKey?: string | undefined
  readonly kept?: boolean | undefined
  readonly suppressed?: string
  readonly dropped?: string
  readonly asBytes?: boolean
}

/** A real engine that notes its records before it takes them. */
function notingEngine(more: Partial<SluiceOptions>) {
  const { options } = configure({ url: 'http://127.0.0.1:1', apiKey: 'k', bucket: 'b', ...more }, 'values')
  const clock = new StillClock()
  const noted: Noted[] = []
  const news: News[] = []
  const watch = (delivery: EngineDelivery) => {
    const { accept, append, refuse, room, suppress } = delivery
    let last: BodyRoom
    delivery.room = (...about) => {
      last = room.apply(delivery, about)
      return last
    }
    delivery.append = (lane, bytes, severity) => {
      const body = last.memory.toString('utf8', last.at, last.at + bytes)
      noted.push({ body, severity, asBytes: true })
      append.call(delivery, lane, bytes, severity)
    }
    delivery.accept = (lane, record) => {
      const { body, severity, idempotencyKey, kept = false } = record
      noted.push({ body, severity, ...(idempotencyKey !== undefined && { idempotencyKey }), ...(kept && { kept }) })
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
    fullReason: () => 'hand-off-full',
    handedOver: () => {},
  })
  const styles: PinoStyle[] = []
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

/** Without the way that the line went. */
function records(noted: readonly Noted[]): Noted[] {
  return noted.map(({ asBytes: _, ...rest }) => rest)
}

/** What an engine makes of records that come to it directly. */
function madeDirectly(more: Partial<SluiceOptions>, work: (engine: Engine) => void): Noted[] {
  const { engine, noted } = notingEngine(more)
  work(engine)
  return records(noted)
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

const style: PinoStyle = { messageKey: 'text', base: { pid: 1, hostname: 'h' } }
const pinoStart = `{"level":30,"time":${now},"pid":1,"hostname":"h"`

describe('a line of pino through a pipe', () => {
  it.each([
    ['plain', `${pinoStart},"a":1,"text":"plain: \\" ü 😀"}`, true],
    ['nested', `${pinoStart},"text":"nested","a":{"b":[1,{"c":null}]}}`, true],
    ['at another level', `{"level":50,"time":${now + 1},"pid":1,"hostname":"h","text":"m"}`, true],
    ['of another host', `{"level":30,"time":${now},"pid":1,"hostname":"other","text":"m"}`, false],
    ['with an error', `${pinoStart},"err":{"type":"Error","message":"m","stack":"Error: m\\n    at f"}}`, false],
    ['without JSON', 'no JSON', false],
    ['without anything', '', false],
    ['with half a character', `${pinoStart},"text":"a\ud800"}`, true],
  ])('that is %s makes the record that it makes directly', (_, line, asBytes) => {
    const { book, outgoing, taken } = setUp()
    const about: PinoLine = { style, severity: 2, arrivedAt: now + 5 }
    outgoing.pinoLine(line, about)
    const got = taken()
    expect(records(got)).toEqual(madeDirectly({}, (engine) => engine.pinoLine(line.toWellFormed(), about)))
    expect([got.length, got[0]!.asBytes ?? false, book.taken]).toEqual([1, asBytes, 1])
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
    const write = (port: Pick<Engine, 'pinoLine'>) => {
      for (const each of order) port.pinoLine(line, { style: styles[each]!, severity: 2, arrivedAt: now })
    }
    write({ pinoLine: (...line) => outgoing.pinoLine(...line) })
    const got = records(taken())
    expect(got.slice(0, 2).map(messageOf)).toEqual(['of a {"b":"of b"}', 'of b {"a":"of a"}'])
    expect(got).toEqual(madeDirectly({}, write))
  })

  it('is read in the style that the worker knew from its start', () => {
    const { book, noted, pipe, reader, sink, styles } = setUp()
    styles.push({}, { messageKey: 'b' })
    const writer = new PipeWriter(pipe)
    writer.text({ kind: 'pino', severity: 2, marks: 0, time: now, style: 1 }, `${pinoStart},"b":"of b"}`)
    // Nobody knows its style.
    writer.text({ kind: 'pino', severity: 2, marks: 0, time: now, style: 9 }, `${pinoStart},"msg":"of msg"}`)
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
      const about: PinoLine = { style: {}, severity: 2, arrivedAt: now }
      // The style has a frame of its own, in the bytes that the line of its logger does not use.
      outgoing.pinoLine('{}', about)
      taken()
      pipe.frames.bytes.write(whole, pipe.get('written') + textAt)
      outgoing.pinoLine(line, about)
      expect(records(taken())).toEqual(madeDirectly({}, (engine) => engine.pinoLine(line, about)))
    }
  })
})

describe('a line of winston through a pipe', () => {
  const levels = [
    'info',
    '',
    'ünusual 😀',
    'with, a comma',
    'with\nan end',
    '"quoted\\"',
    'half \ud83d',
    'x'.repeat(300),
  ]

  it.each(levels)('at the level %j makes the record that it makes directly', (level) => {
    const { book, outgoing, taken } = setUp()
    const about: WinstonLine = { level, severity: 3, arrivedAt: now + 5 }
    const lines = ['{"level":"info","b":true,"message":"m"}', '{"message":"with an escape: \\n","stack":"s"}']
    for (const line of lines) outgoing.winstonLine(line, about)
    const got = taken()
    const direct = { ...about, level: level.toWellFormed() }
    expect(records(got)).toEqual(
      madeDirectly({}, (engine) => {
        for (const line of lines) engine.winstonLine(line, direct)
      }),
    )
    expect(got.map(({ asBytes = false }) => asBytes)).toEqual([level.length < 300, false])
    expect(book.taken).toBe(2)
  })

  it('has the level, the severity and the time of its own frame', () => {
    const { outgoing, taken } = setUp()
    const abouts: WinstonLine[] = [
      { level: 'info', severity: 2, arrivedAt: now },
      { level: 'inf', severity: 2, arrivedAt: now },
      { level: 'info', severity: 2, arrivedAt: now + 1 },
      { level: 'audit', severity: 2, arrivedAt: now + 1 },
      // Two loggers rank one name differently.
      { level: 'audit', severity: 4, arrivedAt: now + 1 },
      { level: 'audit', severity: 2, arrivedAt: now + 1 },
    ]
    for (const about of abouts) outgoing.winstonLine('{"message":"m"}', about)
    const got = taken().map(({ body, severity, asBytes }) => ({ ...JSON.parse(body!), severity, asBytes }))
    expect(got).toMatchObject(
      abouts.map(({ level, severity, arrivedAt }) => ({ level, severity, timeStamp: arrivedAt, asBytes: true })),
    )
  })

  it('that is no JSON becomes a record that says so, is counted once, and is reported', () => {
    const { book, news, outgoing, taken } = setUp()
    outgoing.winstonLine('no JSON', { level: 'info', severity: 2, arrivedAt: now })
    outgoing.winstonLine('{"message":"the next"}', { level: 'info', severity: 2, arrivedAt: now })
    const got = taken()
    expect(got.map(messageOf)).toEqual(['sluice: a line could not be read', 'the next'])
    expect(got[0]).toMatchObject({ severity: 3, body: expect.stringContaining('"level":"warn"') })
    expect(book.taken).toBe(2)
    expect(book.read()).toMatchObject({ accepted: 2, queued: 2 })
    expect(news).toMatchObject([{ type: 'misused', code: 'SLUICE_UNMAPPED' }])
  })
})

describe('a line that was mapped before it went through a pipe', () => {
  const fields = { timeStamp: now, level: 'info', message: 'm\n"\ud800' } as const
  const log: MappedLog = { fields: { ...fields, eventId: 5 }, severity: 2 }

  it.each([
    ['as it is', {}, log],
    ['with something hidden in it', {}, { ...log, redacted: true }],
    ['with facts', { repeat: '1/10s' }, { ...log, facts: { level: 'a,b', text: '{"é":"\ud800"}', logger: 'l' } }],
    ['with facts that no option needs', {}, { ...log, facts: { level: 'info', text: 't' } }],
    ['below the level', { keepForError: '5/10s' }, { ...log, below: true, facts: { level: 'a', text: 't', id: '1' } }],
    ['left out by `sample`', {}, { ...log, sampledOut: true }],
  ] as const)('%s makes the record that it makes directly, once', (_, options, mapped) => {
    const { book, outgoing, taken } = setUp(options)
    for (let time = 0; time < 3; time++) outgoing.log(mapped)
    const work = (engine: Engine) => {
      for (let time = 0; time < 3; time++) engine.log(mapped)
    }
    expect(taken()).toEqual(madeDirectly(options, work))
    expect(book.taken).toBe(3)
    const { redacted, suppressed } = book.read()
    expect(redacted).toBe('redacted' in mapped ? 3 : 0)
    expect(suppressed.sampled).toBe('sampledOut' in mapped ? 3 : 0)
  })

  it('is kept below the level until an error comes, as lines of loggers are', () => {
    const options = { keepForError: '5/10s', level: 'info' } as const
    const { book, outgoing, taken } = setUp(options)
    const line = (level: number, text: string) =>
      `{"level":${level},"time":${now},"pid":1,"hostname":"h","reqId":"7","text":"${text}"}`
    const about = { style, severity: 1, arrivedAt: now } as const
    const winston = { level: 'debug', severity: 1, arrivedAt: now, below: true } as const
    outgoing.pinoLine(line(20, 'pino'), { ...about, below: true })
    outgoing.winstonLine('{"message":"winston","reqId":"7"}', winston)
    outgoing.log({ ...log, below: true, facts: { level: 'debug', text: 'mapped', id: '7' } })
    expect(taken()).toEqual(new Array(3).fill({ suppressed: 'unneeded' }))
    expect(book.read()).toMatchObject({ suppressed: { unneeded: 3 }, keptForError: 3 })
    outgoing.pinoLine(line(50, 'error'), { ...about, severity: 4 })
    const got = taken()
    expect(got.map((noted) => messageOf(noted).split(' ')[0])).toEqual(['pino', 'winston', 'm\n"\ud800', 'error'])
    expect(got.map(({ kept = false }) => kept)).toEqual([true, true, true, false])
    expect([book.taken, book.read().keptForError]).toEqual([4, 0])
  })
})

describe('a value through a pipe', () => {
  it.each([
    [1001, now, true],
    [0, 0, true],
    [9_000_000_000_000_000, -5, true],
    [7, now + 0.5, true],
    [7, -0.5, true],
    [2 ** 60, now, false],
    [-1, now, false],
    [1.5, now, false],
  ])('of the event %s at the time %s makes the record of its text', (eventId, milliseconds, asBytes) => {
    for (const timestampUnit of ['ms', 's'] as const) {
      const { book, outgoing, taken } = setUp({ timestampUnit })
      outgoing.value(eventId, milliseconds)
      const { engine } = notingEngine({ timestampUnit })
      const body = engine.writer.value(eventId, milliseconds)
      expect(taken()).toEqual([{ body, severity: 6, ...(asBytes && { asBytes }) }])
      expect(book.taken).toBe(1)
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
  const about = { level: 'é', severity: 2, arrivedAt: now } as const
  const lineOf = (text: string) => `{"message":"${text}","a":1}`

  it('makes the record that it makes directly, whatever its kind', () => {
    const { book, outgoing, taken } = setUp({}, { ringBytes: 4096 })
    const long = 'é€😀'.repeat(500)
    const mapped: MappedLog = { fields: { timeStamp: now, level: 'info', message: long }, severity: 2 }
    const write = (port: Pick<Engine, 'pinoLine' | 'winstonLine' | 'log'>) => {
      port.winstonLine(lineOf(long), about)
      port.pinoLine(`${pinoStart},"text":"${long}"}`, { style, severity: 2, arrivedAt: now })
      port.log(mapped)
      port.winstonLine(lineOf('short'), about)
      // Longer than a message may be.
      port.pinoLine(`${pinoStart},"text":"${'x'.repeat(100_000)}"}`, { style, severity: 2, arrivedAt: now })
    }
    write({
      winstonLine: (...line) => outgoing.winstonLine(...line),
      pinoLine: (...line) => outgoing.pinoLine(...line),
      log: (each) => outgoing.log(each),
    })
    const got = taken()
    expect(records(got)).toEqual(madeDirectly({}, write))
    expect(got.map(({ asBytes = false }) => asBytes)).toEqual([true, true, false, true, false])
    expect(book.taken).toBe(5)
  })

  it('whose beginning went with another worker is dropped, and counted once', () => {
    const { book, noted, outgoing, pipe, reader, sink } = setUp({}, { ringBytes: 4096 })
    outgoing.winstonLine(lineOf('x'.repeat(2000)), about)
    outgoing.winstonLine(lineOf('the next'), about)
    outgoing.handOver()
    reader.take(sink, 1)
    expect(book.taken).toBe(0)
    expect(new PipeReader(pipe).take(sink, everything)).toBe(true)
    expect(noted).toMatchObject([{ dropped: 'unreadable' }, { body: expect.stringContaining('the next') }])
    expect(book.read()).toMatchObject({ accepted: 2, queued: 1, dropped: { unreadable: 1 } })
    expect(book.taken).toBe(2)
  })

  it('that is the style of a logger is no record, though its beginning went with another worker', () => {
    const { book, noted, outgoing, pipe, reader, sink } = setUp({}, { ringBytes: 4096 })
    const style = { messageKey: 'x'.repeat(2000) }
    outgoing.pinoLine('{}', { style, severity: 2, arrivedAt: now })
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
    const known = [{ messageKey: 'm', base: { pid: 1 } }, { labels: { 30: 'é' } }]
    for (const style of known) outgoing.pinoLine('{}', { style, severity: 2, arrivedAt: now })
    expect(taken()).toHaveLength(2)
    expect([book.taken, styles]).toEqual([2, known])
  })

  it('tells how many records of both kinds the engine has taken', () => {
    const { outgoing, sink, taken } = setUp()
    outgoing.value(1, 1)
    outgoing.winstonLine('{}', { level: 'info', severity: 2, arrivedAt: now })
    outgoing.log({ fields: { timeStamp: 1, level: 'info', message: '' }, severity: 2, sampledOut: true })
    expect(sink.taken()).toBe(0)
    taken()
    expect(sink.taken()).toBe(3)
  })
})

type Written =
  | { readonly kind: 'pino'; readonly line: string; readonly style: number; readonly below: boolean }
  | { readonly kind: 'winston'; readonly line: string; readonly about: WinstonLine }
  | { readonly kind: 'log'; readonly mapped: MappedLog }
  | { readonly kind: 'value'; readonly eventId: number; readonly milliseconds: number }
  | { readonly kind: 'keyed'; readonly eventId: number; readonly milliseconds: number; readonly key: string }

const severities = fc.constantFrom<Severity>(0, 1, 2, 3, 4, 5)
const times = fc.constantFrom(now, now + 1, 7, now + 0.5, -1)
const events = fc.maxSafeNat().map((event) => event - (event % 100))
/** In lower case, as `levelOf` of winston's lines gives them. */
const levelNames = fc.string({ unit: 'binary' }).map((name) => name.toLowerCase())
/** A line contains no line end. */
const oneLine = (line: string) => line.replaceAll('\n', ' ')
const styles: readonly PinoStyle[] = [
  {},
  style,
  { messageKey: 'message', errorKey: 'error', base: { pid: 1, hostname: 'h', name: undefined } },
  { labels: { 30: 'nötice', 35: 'audit' }, base: {} },
]
const pinoTexts = fc.oneof(
  pinoLines,
  writtenFields.map((fields) => `${pinoHead}${fields === '' ? '' : `,${fields}`}}`),
  fc.tuple(fc.constantFrom(pinoStart, pinoHead), texts(6000)).map(([start, text]) => `${start},"msg":"${text}"}`),
)
const winstonTexts = fc.oneof(
  winstonLines.map(([start, fields, end]) => start + fields.map(([key, value]) => `"${key}":${value}`).join() + end),
  texts(6000).map((text) => `{"level":"info","message":${JSON.stringify(text)}}`),
)
const written: fc.Arbitrary<Written> = fc.oneof(
  fc.record({
    kind: fc.constant('pino' as const),
    line: pinoTexts.map(oneLine),
    style: fc.nat(styles.length - 1),
    below: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('winston' as const),
    line: winstonTexts.map(oneLine),
    about: fc.record({
      level: fc.oneof(fc.constantFrom('info', 'error', '', 'ünusual', 'a,\nb'), levelNames),
      severity: severities,
      arrivedAt: times,
      below: fc.boolean(),
    }),
  }),
  fc.record({
    kind: fc.constant('log' as const),
    mapped: fc.record(
      {
        fields: fc.record({ timeStamp: times, level: fc.constantFrom('info', 'é'), message: texts(6000) }),
        severity: severities,
        redacted: fc.boolean(),
        below: fc.boolean(),
        sampledOut: fc.boolean(),
        facts: fc.record(
          { level: fc.constantFrom('info', 'é'), text: texts(100), id: fc.constantFrom('1', '2'), logger: texts(9) },
          { requiredKeys: ['level', 'text'] },
        ),
      },
      { requiredKeys: ['fields', 'severity'] },
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
  { repeat: '2/10s' },
  { keepForError: '3/10s', sample: { debug: 0 } },
)

function sendTo(outgoing: Outgoing, sent: Written): void {
  if (sent.kind === 'pino') {
    const { line, style, below } = sent
    outgoing.pinoLine(line, { style: styles[style]!, severity: 2, arrivedAt: now, below })
  } else if (sent.kind === 'winston') outgoing.winstonLine(sent.line, sent.about)
  else if (sent.kind === 'log') outgoing.log(sent.mapped)
  else if (sent.kind === 'value') outgoing.value(sent.eventId, sent.milliseconds)
  else outgoing.keyedValue(sent)
}

/** Half a character becomes the replacement character on its way. */
function giveTo(engine: Engine, sent: Written): void {
  if (sent.kind === 'pino') {
    const { line, style, below } = sent
    engine.pinoLine(line.toWellFormed(), { style: styles[style]!, severity: 2, arrivedAt: now, below })
  } else if (sent.kind === 'winston') {
    const { line, about } = sent
    engine.winstonLine(line.toWellFormed(), { ...about, level: about.level.toWellFormed() })
  } else if (sent.kind === 'log') engine.log(sent.mapped)
  else if (sent.kind === 'value') engine.value(sent.eventId, sent.milliseconds)
  else engine.keyedValue(sent)
}

describe('records through a pipe', () => {
  it('are the same as without it, in the same order, each counted once', () => {
    const sizes = fc.constantFrom(2048, 16_384, undefined)
    const steps = fc.array(fc.oneof({ weight: 8, arbitrary: written }, fc.nat(5000)), { maxLength: 25 })
    let asBytes = 0
    let all = 0
    fc.assert(
      fc.property(steps, optionSets, sizes, (steps, options, ringBytes) => {
        const { book, outgoing, reader, sink, taken } = setUp(options, ringBytes === undefined ? {} : { ringBytes })
        const sent: Written[] = []
        for (const step of steps) {
          if (typeof step === 'number') {
            outgoing.handOver()
            reader.take(sink, step)
          } else {
            sendTo(outgoing, step)
            sent.push(step)
          }
        }
        const got = taken()
        const expected = madeDirectly(options, (engine) => {
          for (const each of sent) giveTo(engine, each)
        })
        expect(records(got)).toEqual(expected)
        expect(book.taken).toBe(sent.length)
        asBytes += got.filter((noted) => noted.asBytes === true).length
        all += got.length
      }),
      { numRuns: runs({ some: 150, all: 10_000 }) },
    )
    // Both ways were gone.
    expect(asBytes).toBeGreaterThan(all / 5)
    expect(asBytes).toBeLessThan(all)
  })
})
