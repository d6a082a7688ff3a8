import { deepStrictEqual, equal, ok } from 'node:assert/strict'
import type { Engine } from '../../../src/engine/engine.js'
import type { BodyWriter } from '../../../src/engine/ports.js'
import { RecordWriter } from '../../../src/engine/record-writer.js'
import { PlainFrames } from '../../../src/hand-off/frame-bytes.js'
import {
  deliverLine,
  drainFrame,
  FrameWriter,
  isRecord,
  keyedFrame,
  logFrame,
  readFrame,
} from '../../../src/hand-off/frames.js'
import { resolve } from '../../../src/options/resolve.js'
import type { Severity } from '../../../src/records/level.js'
import type { ValueBytes } from '../../../src/records/value-bytes.js'
import { Input, seed } from '../input.js'
import { arrivedAt } from '../record-writing.js'

export const seeds = [
  seed([0, 2, 4], 'info{"level":"info","message":"hello","a":1}'),
  seed([1, 2, 1], `{"level":30,"time":${arrivedAt},"pid":1,"hostname":"h","msg":"hello"}`),
  seed([2, 1, 2, 3, 4, 5, 6, 7, 8], ''),
  seed([3, 2, 1], '{"message":"m","level":"info"'),
  seed([4], 'v7,8'),
  seed([4], 'a14,{"level":"a"}4{"a":1'),
  seed([4], 'w25,%E0%A4%A,{}'),
  seed([4], 'bbbp20,9,{}'),
  seed([5, 9], 'a,b,"\\'),
]

const { options } = resolve(
  { url: 'http://127.0.0.1:1', apiKey: 'key', bucket: 'b', appName: 'shop' },
  { environment: {}, needs: 'logs' },
)
const writer = new RecordWriter(options)
const styles = [{}, { messageKey: 'message', base: { pid: 1, hostname: 'h', name: undefined } }]

/** The record that a frame gives by its bytes; undefined where it is not plain. */
function plainRecord(frame: string, announced: FrameWriter): string | undefined {
  let body: string | undefined
  const written = (memory: Buffer, to: number) => {
    if (to !== -1) body = memory.toString('utf8', 0, to)
    return to !== -1
  }
  const engine = {
    writer,
    plainLine(lines: Buffer, from: number, end: number, bodies: BodyWriter) {
      const memory = Buffer.alloc(bodies.most(end - from))
      return written(memory, bodies.write(lines, from, end, memory, 0))
    },
    plainValue(lines: Buffer, from: number, end: number, values: ValueBytes) {
      const memory = Buffer.alloc(values.most)
      return written(memory, values.read(lines, from, end, memory, 0))
    },
  } as unknown as Engine
  const bytes = Buffer.from(frame)
  const isPlain = new PlainFrames(engine, announced.styles).take(bytes, 0, bytes.length - 1)
  equal(isPlain, body !== undefined)
  return body
}

/** A frame is one line, carries a record, and is read as it was written. */
function lineOf(frame: string): string {
  equal(frame.indexOf('\n'), frame.length - 1)
  ok(isRecord(frame))
  return frame.slice(0, -1)
}

function winston(input: Input): void {
  const severity = input.below(6) as Severity
  const levelLength = input.below(20)
  const text = input
    .text()
    .replaceAll(/[\r\n]/g, '')
    .toWellFormed()
  const level = text.slice(0, levelLength).toLowerCase().toWellFormed()
  const line = text.slice(levelLength).toWellFormed()
  const frames = new FrameWriter(() => {})
  const about = { level, severity, arrivedAt }
  const frame = frames.winston(line, about)
  deepStrictEqual(readFrame(lineOf(frame)), { type: 'winston', line, ...about })
  const body = plainRecord(frame, frames)
  if (body !== undefined) equal(body, writer.log(writer.winstonLine(line, about)))
}

function pino(input: Input): void {
  const severity = input.below(6) as Severity
  const style = input.pick(styles)
  const line = input
    .text()
    .replaceAll(/[\r\n]/g, '')
    .toWellFormed()
  const frames = new FrameWriter(() => {})
  const about = { style, severity, arrivedAt }
  const frame = frames.pino(line, about)
  deepStrictEqual(readFrame(lineOf(frame)), { type: 'pino', line, severity, arrivedAt, style: 0 })
  const body = plainRecord(frame, frames)
  if (body !== undefined) equal(body, writer.log(writer.pinoLine(line, about)))
}

function value(input: Input): void {
  const bytes = Buffer.alloc(8)
  input.rest().copy(bytes)
  const eventId = Number(bytes.readBigUInt64LE() >> 11n)
  const milliseconds = arrivedAt + input.below(256)
  const frames = new FrameWriter(() => {})
  const frame = frames.value(eventId, milliseconds)
  deepStrictEqual(readFrame(lineOf(frame)), { type: 'value', eventId, milliseconds })
  const body = plainRecord(frame, frames)
  if (body !== undefined) equal(body, writer.value(eventId, milliseconds))
}

function log(input: Input): void {
  const severity = input.below(6) as Severity
  const redacted = input.below(2) === 1
  const head = JSON.stringify(input.text()).toWellFormed()
  const facts = input.isEmpty ? undefined : { level: head, text: head }
  const read = readFrame(lineOf(logFrame({ severity, head, redacted, ...(facts === undefined ? {} : { facts }) })))
  deepStrictEqual(read, { type: 'log', severity, head, redacted, ...(facts === undefined ? {} : { facts }) })
}

function keyed(input: Input): void {
  const eventId = input.below(256)
  const key = input.text().replaceAll('\n', '').toWellFormed()
  const frame = keyedFrame({ eventId, milliseconds: arrivedAt, key })
  deepStrictEqual(readFrame(lineOf(frame)), { type: 'keyed', eventId, milliseconds: arrivedAt, key })
  const drain = { request: eventId, timeoutMs: 5 }
  deepStrictEqual(readFrame(drainFrame('close', drain).trimEnd()), { type: 'drain', mode: 'close', ...drain })
}

const silent = new Proxy({}, { get: () => () => {} }) as Engine

export function fuzz(data: Buffer): void {
  const input = new Input(data)
  const kinds = [winston, pino, value, log, undefined, keyed]
  const kind = input.pick(kinds)
  // Whatever a line is, its delivery does not throw.
  if (kind === undefined) deliverLine(silent, input.text(), [])
  else kind(input)
}
