import { deepStrictEqual, equal } from 'node:assert/strict'
import type { LaneName } from '../../../src/delivery/ledger.js'
import { LedgerBook } from '../../../src/delivery/ledger-book.js'
import { Reporter } from '../../../src/diagnostics/reporter.js'
import type { Engine } from '../../../src/engine/engine.js'
import type { BodyWriter, PinoLine } from '../../../src/engine/ports.js'
import { RecordWriter } from '../../../src/engine/record-writer.js'
import { HandOffAccount } from '../../../src/hand-off/account.js'
import { EngineSink } from '../../../src/hand-off/frame-sink.js'
import { Outgoing } from '../../../src/hand-off/outgoing.js'
import { resolve } from '../../../src/options/resolve.js'
import { PipeMemory } from '../../../src/pipe/pipe-memory.js'
import type { WrittenHead } from '../../../src/records/encode.js'
import type { Severity } from '../../../src/records/level.js'
import type { WinstonLine } from '../../../src/records/winston-line.js'
import { systemClock } from '../../../src/runtime/clock.js'
import { Input, seed } from '../input.js'
import { arrivedAt } from '../record-writing.js'

export const seeds = [
  seed([0, 2, 4], 'info{"level":"info","message":"hello","a":1}'),
  seed([1, 2, 1], `{"level":30,"time":${arrivedAt},"pid":1,"hostname":"h","msg":"hello"}`),
  seed([2, 1, 2, 3, 4, 5, 6, 7, 8], ''),
  seed([3, 2, 1], '{"message":"m","level":"info"'),
  seed([4, 9], 'a,b,"\\'),
]

const { options } = resolve(
  { url: 'http://127.0.0.1:1', apiKey: 'key', bucket: 'b', appName: 'shop' },
  { environment: {}, needs: 'logs' },
)
const writer = new RecordWriter(options)
const styles = [{}, { messageKey: 'message', base: { pid: 1, hostname: 'h' } }]
const lanes: readonly LaneName[] = [
  { kind: 'logs', bucket: 'b' },
  { kind: 'values', bucket: 'b' },
]

/** What an engine gets of the records that `write` hands over, by a ring so small that long lines go in parts. */
function read(write: (outgoing: Outgoing) => void): unknown[] {
  const got: unknown[] = []
  const engine = {
    writer,
    plainLine(lines: Buffer, from: number, end: number, bodies: BodyWriter) {
      const memory = Buffer.alloc(bodies.most(end - from))
      const to = bodies.write(lines, from, end, memory, 0)
      if (to !== -1) got.push(memory.toString('utf8', 0, to))
      return to !== -1
    },
    winstonLine: (line: string, about: WinstonLine) => got.push({ line, ...about }),
    pinoLine: (line: string, about: PinoLine) => got.push({ line, ...about }),
    logHead: (written: WrittenHead) => got.push(written),
    value: (eventId: number, milliseconds: number) => got.push({ eventId, milliseconds }),
    keyedValue: (value: unknown) => got.push(value),
  } as unknown as Engine
  const pipe = PipeMemory.open(PipeMemory.create(1024))!
  const book = new LedgerBook(lanes)
  const reporter = new Reporter({ clock: systemClock, listeners: { error: () => {}, channel: () => {} } })
  const account = new HandOffAccount({ lanes, book, reporter, spools: false })
  const fullReason = () => 'hand-off-full' as const
  const plan = { clock: systemClock, pipe, account, maxBytes: 2 ** 30, fullReason, handedOver: () => {} }
  const outgoing = new Outgoing(plan)
  write(outgoing)
  outgoing.takeAll(new EngineSink({ engine, book, styles: [] }))
  return got
}

/** A line arrives as it was, or as the record that it means. */
function same(got: unknown, sent: object, record: () => string): void {
  if (typeof got === 'string') equal(got, record())
  else deepStrictEqual(got, sent)
}

function winston(input: Input): void {
  const severity = input.below(6) as Severity
  const levelLength = input.below(20)
  const text = input.text().toWellFormed()
  const level = text.slice(0, levelLength).toLowerCase().toWellFormed()
  const line = text.slice(levelLength).toWellFormed()
  const about = { level, severity, arrivedAt, below: false }
  const [got] = read((outgoing) => outgoing.winstonLine(line, about))
  same(got, { line, ...about }, () => writer.log(writer.winstonLine(line, about)))
}

function pino(input: Input): void {
  const severity = input.below(6) as Severity
  const style = input.pick(styles)
  const line = input.text().toWellFormed()
  const about = { style, severity, arrivedAt, below: false }
  const [got] = read((outgoing) => outgoing.pinoLine(line, about))
  same(got, { line, ...about }, () => writer.log(writer.pinoLine(line, about)))
}

function value(input: Input): void {
  const bytes = Buffer.alloc(8)
  input.rest().copy(bytes)
  const sent = { eventId: Number(bytes.readBigUInt64LE() >> 11n), milliseconds: arrivedAt + input.below(256) }
  deepStrictEqual(
    read((outgoing) => outgoing.value(sent.eventId, sent.milliseconds)),
    [sent],
  )
}

function log(input: Input): void {
  const severity = input.below(6) as Severity
  const redacted = input.below(2) === 1
  const message = input.text().toWellFormed()
  const facts = input.isEmpty ? undefined : { level: message, text: message }
  const fields = { timeStamp: arrivedAt, level: 'info', message }
  const [got] = read((outgoing) => outgoing.log({ fields, severity, redacted, facts }))
  const { head, ...about } = got as WrittenHead
  deepStrictEqual(about, { severity, redacted, facts, below: false })
  equal(writer.completeLog(head), writer.log({ fields, severity }))
}

function keyed(input: Input): void {
  const sent = { eventId: input.below(256), milliseconds: arrivedAt, key: input.text().slice(0, 50).toWellFormed() }
  deepStrictEqual(
    read((outgoing) => outgoing.keyedValue(sent)),
    [sent],
  )
}

export function fuzz(data: Buffer): void {
  const input = new Input(data)
  input.pick([winston, pino, value, log, keyed])(input)
}
