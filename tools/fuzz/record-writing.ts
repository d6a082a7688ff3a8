import { deepStrictEqual, ok } from 'node:assert/strict'
import { RecordEncoder } from '../../src/records/encode.js'
import { fieldsMapper, lineMapper } from '../../src/records/line.js'
import type { LineAbout, LineMapping } from '../../src/records/line-style.js'
import { parseJson } from '../../src/records/long-numbers.js'
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

/** Each line gives a record, whatever it is, and the same one where it is plain as where it is parsed. */
export function checkLines(mapping: LineMapping, lines: readonly string[], about: LineAbout): void {
  const map = lineMapper(mapping)
  const mapFields = fieldsMapper(mapping)
  for (const line of lines) {
    const record = map(line, about)
    const { fields, severity } = record
    ok(Number.isInteger(severity) && severity >= 0 && severity <= 5, `the severity is ${severity}`)
    checkRecord(encoder.log(fields), mapping.maxMessageBytes)
    const value = parsed(line)
    if (typeof value !== 'object' || value === null) continue
    // A plain line has no id.
    deepStrictEqual({ id: undefined, ...record }, mapFields(value as Record<string, unknown>, about, line))
  }
}

function parsed(line: string): unknown {
  try {
    return parseJson(line)
  } catch {
    return undefined
  }
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
