import { ok } from 'node:assert/strict'
import { RecordEncoder } from '../../src/records/encode.js'
import { Redactor } from '../../src/records/redactor.js'
import { patternNames } from '../../src/records/secret-patterns.js'
import type { Input } from './input.js'

/** An encoder whose fields need escapes and more than one byte for a character. */
export const encoder = new RecordEncoder({
  appName: 'shop → "a"',
  machineName: 'h',
  env: 'test',
  runtimeVersion: 'v20',
  runtime: 1,
})
export const arrivedAt = 1_700_000_000_000

const redactor = new Redactor({ keys: ['a', '*tok*', 'pin'], patterns: patternNames, mask: '[redacted]' })

/** The options for the records of a logger. */
export function mappingFrom(input: Input) {
  return {
    context: input.pick(['json', 'logfmt', 'none'] as const),
    maxMessageBytes: input.pick([256, 32_768, 100]),
    timestampUnit: input.pick(['ms', 's'] as const),
    redactor: input.pick([undefined, redactor]),
  }
}

interface LineWriter {
  most(lineBytes: number): number
  write(lines: Buffer, from: number, end: number, memory: Buffer, at: number): number
}

const untouched = 0xaa
const margin = 64

/** The body that is written for a line; undefined where it is not plain. No byte outside of the room for it may change. */
export function writtenBody(writer: LineWriter, line: Buffer): string | undefined {
  const at = line.length % 7
  const room = at + writer.most(line.length)
  const memory = Buffer.alloc(room + margin, untouched)
  const to = writer.write(line, 0, line.length, memory, at)
  const outside = [...memory.subarray(0, at), ...memory.subarray(room)]
  ok(
    outside.every((byte) => byte === untouched),
    'bytes outside of the room have changed',
  )
  return to === -1 ? undefined : memory.toString('utf8', at, to)
}

/** The record of a body. It has the fields that the API requires. */
export function checkRecord(body: string, maxMessageBytes: number): void {
  ok(!/[\r\n]/.test(body), 'a record has a line end')
  const { message, level, timeStamp, appName } = JSON.parse(body)
  ok(typeof message === 'string' && typeof level === 'string', 'a record has no message or level')
  ok(Number.isSafeInteger(timeStamp) && timeStamp >= 0, `the time of a record is ${timeStamp}`)
  ok(appName === 'shop → "a"', 'a line has changed the name of the application')
  ok(Buffer.byteLength(message) <= maxMessageBytes, `a message has ${Buffer.byteLength(message)} bytes`)
}
