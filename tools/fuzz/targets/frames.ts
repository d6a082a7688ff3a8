import { deepStrictEqual } from 'node:assert/strict'
import type { LaneName } from '../../../src/delivery/ledger.js'
import { LedgerBook } from '../../../src/delivery/ledger-book.js'
import { Reporter } from '../../../src/diagnostics/reporter.js'
import type { Engine } from '../../../src/engine/engine.js'
import type { Line } from '../../../src/engine/ports.js'
import { HandOffAccount } from '../../../src/hand-off/account.js'
import { EngineSink } from '../../../src/hand-off/frame-sink.js'
import { Outgoing } from '../../../src/hand-off/outgoing.js'
import { PipeMemory } from '../../../src/pipe/pipe-memory.js'
import type { Severity } from '../../../src/records/level.js'
import type { LineStyle } from '../../../src/records/line-style.js'
import { systemClock } from '../../../src/runtime/clock.js'
import { Input, seed } from '../input.js'
import { arrivedAt } from '../record-writing.js'

export const seeds = [
  seed([0, 2, 0, 0, 0, 0], `{"level":30,"time":${arrivedAt},"pid":1,"hostname":"h","msg":"hello"}`),
  seed([0, 4, 1, 1, 1, 20], '{"name":"Error"}\n:"a{"level":"error","message":"m","err":{}}\n'),
  seed([0, 1, 2, 0, 0, 1], 'no JSON\n'),
  seed([1, 1, 2, 3, 4, 5, 6, 7, 8], ''),
  seed([2, 9], 'a,b,"\\'),
]

const styles: readonly LineStyle[] = [{}, { messageKey: 'message' }, { logger: 'winston', level: 'info' }]
const lanes: readonly LaneName[] = [
  { kind: 'logs', bucket: 'b' },
  { kind: 'values', bucket: 'b' },
]

/** What an engine gets of the records that `write` hands over, by a ring so small that long lines go in parts. */
function read(write: (outgoing: Outgoing) => void): unknown[] {
  const got: unknown[] = []
  const engine = {
    line: (text: string, about: Line) => got.push({ text, ...about }),
    value: (eventId: number, milliseconds: number) => got.push({ eventId, milliseconds }),
    keyedValue: (value: unknown) => got.push(value),
  } as unknown as Engine
  const pipe = PipeMemory.open(PipeMemory.create(1024))!
  const book = new LedgerBook(lanes)
  const reporter = new Reporter({ clock: systemClock, listeners: { error: () => {}, channel: () => {} } })
  const account = new HandOffAccount({ lanes, book, reporter, spools: false })
  const fullReason = () => 'hand-off-full' as const
  const mostQuiet = { records: 256, bytes: 32_768 }
  const plan = {
    clock: systemClock,
    pipe,
    account,
    maxBytes: 2 ** 30,
    mostQuiet,
    untaken: () => 0,
    fullReason,
    handedOver: () => {},
  }
  const outgoing = new Outgoing(plan)
  write(outgoing)
  outgoing.takeAll(new EngineSink({ engine, book, styles: [] }))
  return got
}

function line(input: Input): void {
  const severity = input.below(6) as Severity
  const style = input.pick(styles)
  const about = { style, severity, arrivedAt, below: input.below(2) === 1, redacted: input.below(2) === 1 }
  const errorsLength = input.below(256)
  const text = input.text().toWellFormed()
  // The errors are an object of JSON, which has no line end.
  const errors = errorsLength === 0 ? undefined : JSON.stringify({ err: text.slice(0, errorsLength).toWellFormed() })
  const sent = { text: text.slice(errorsLength).toWellFormed(), ...about, errors }
  deepStrictEqual(
    read((outgoing) => outgoing.line(sent.text, sent)),
    [sent],
  )
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

function keyed(input: Input): void {
  const sent = { eventId: input.below(256), milliseconds: arrivedAt, key: input.text().slice(0, 50).toWellFormed() }
  deepStrictEqual(
    read((outgoing) => outgoing.keyedValue(sent)),
    [sent],
  )
}

export function fuzz(data: Buffer): void {
  const input = new Input(data)
  input.pick([line, value, keyed])(input)
}
