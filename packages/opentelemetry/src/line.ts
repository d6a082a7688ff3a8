import { readOrReason } from '../../../src/records/error-like.js'
import { jsonOf } from '../../../src/records/json-text.js'
import { type Severity, severityOfName } from '../../../src/records/level.js'
import { isTime } from '../../../src/records/time.js'
import type { HrTime, OpenTelemetryRecord } from './record.js'

/** A record of OpenTelemetry as a line of pino. */
export interface Line {
  readonly text: string
  /** pino's number of the level. */
  readonly level: number
}

/** What pino tells the readers of its lines about these: the keys of message and error are names that no attribute has. */
export const lineStyle = { messageKey: '', errorKey: 'exception.stacktrace' } as const

/**
 * The line that pino would write. Level, time and message come first: a reader of pino's lines takes an attribute of the same name, further back,
 * for a field. The SDK shares its records, so they are never changed.
 *
 * @param arrivedAt milliseconds since 1970, for a record without a time
 */
export function lineOf(record: OpenTelemetryRecord, arrivedAt: number): Line {
  const { level, severity } = levelOf(record)
  const fields = fieldsOf(record, level)
  const exception = takeException(fields)
  if (exception !== undefined) fields.set(lineStyle.errorKey, exception)
  const isOfFields = isPlainObject(record.body)
  if (isOfFields) addBody(fields, record.body)
  const number = (severity + 1) * 10
  const isPinos = pinoLevels[severity] === level
  const time = millisecondsOf(record.hrTime) ?? millisecondsOf(record.hrTimeObserved) ?? arrivedAt
  const body = record.body === undefined || isOfFields ? '""' : jsonOf(record.body)
  const head = `{"level":${isPinos ? number : jsonOf(level)},"time":${writtenTime(time)},"":${body}`
  const rest = jsonOf(fields)
  return { text: rest === '{}' ? `${head}}` : `${head},${rest.slice(1)}`, level: number }
}

const numbersPerRange = 4
/** pino's levels, by severity, are also those of OpenTelemetry's numbers: 1 to 4 is trace, 21 to 24 fatal. */
const pinoLevels: readonly string[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal']

/** A name that loggers use, then the level of the number, then any other name. A record without both is of level info. */
function levelOf(record: OpenTelemetryRecord): { readonly level: string; readonly severity: Severity } {
  const name = writtenLevel(record)
  const known = severityOfName(name)
  if (known !== undefined) return { level: name, severity: known }
  const { severityNumber: number } = record
  const ofNumber = typeof number === 'number' ? pinoLevels[Math.floor((number - 1) / numbersPerRange)] : undefined
  const level = ofNumber ?? (name === '' ? 'info' : name)
  return { level, severity: severityOfName(level) ?? 2 }
}

function writtenLevel({ severityText }: OpenTelemetryRecord): string {
  return typeof severityText === 'string' ? severityText.toLowerCase() : ''
}

/** The fields of a record: its attributes, then what else it says of itself, where no attribute has the same name. */
function fieldsOf(record: OpenTelemetryRecord, level: string): Map<string, unknown> {
  const { attributes, spanContext, instrumentationScope, eventName } = record
  const fields = new Map(Object.keys(attributes).map((key) => [key, readOrReason(attributes, key)]))
  const about = {
    scope: isNamed(record) ? instrumentationScope.name : undefined,
    eventName,
    severityText: writtenLevel(record) === level ? undefined : record.severityText || undefined,
    trace_id: spanContext?.traceId,
    span_id: spanContext?.spanId,
  }
  for (const [key, value] of Object.entries(about)) if (!fields.has(key)) fields.set(key, value)
  return fields
}

/** The fields of a body join the others: a record has one object. Those whose names are taken, or stand for the message, are within `body`. */
function addBody(fields: Map<string, unknown>, body: object): void {
  const isTaken = (key: string) => key === lineStyle.messageKey || fields.get(key) !== undefined
  const [taken, free] = [new Map<string, unknown>(), new Map<string, unknown>()]
  for (const key of Object.keys(body)) (isTaken(key) ? taken : free).set(key, readOrReason(body, key))
  for (const [key, value] of free) fields.set(key, value)
  let name = 'body'
  while (isTaken(name)) name = `body.${name}`
  if (taken.size > 0) fields.set(name, taken)
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

/** False for the name that the SDK gives to a logger without one. */
function isNamed({ instrumentationScope: { name } }: OpenTelemetryRecord): boolean {
  return name !== '' && name !== 'unknown'
}

/**
 * OpenTelemetry's attributes of an error, as pino writes an error. They are taken out of the fields, but for the type of an error without a stack: readers
 * could not tell it from a second line of the text.
 */
function takeException(fields: Map<string, unknown>): object | undefined {
  const take = (key: string): string => {
    const value = fields.get(key)
    if (typeof value !== 'string') return ''
    fields.delete(key)
    return value
  }
  const type = take('exception.type')
  const message = take('exception.message')
  const stack = take(lineStyle.errorKey)
  if (type !== '' && stack === '') fields.set('exception.type', type)
  if (type + message + stack === '') return undefined
  // The stack of some languages is frames alone.
  const isHeaded = stack === '' || stack.includes(/[^.:\\]*$/.exec(type)![0])
  return { type, message, stack: isHeaded ? stack : `${message === '' ? type : `${type}: ${message}`}\n${stack}` }
}

/** Undefined for a time that was not set. */
function millisecondsOf(time: HrTime): number | undefined {
  const milliseconds = time[0] * 1000 + Math.trunc(time[1] / 1e6)
  return milliseconds > 0 && isTime(milliseconds) ? milliseconds : undefined
}

/** A number as pino writes it. A reader takes much smaller and larger numbers for seconds and microseconds. */
function writtenTime(milliseconds: number): string {
  const isClear = milliseconds >= 1e11 && milliseconds < 1e14
  return isClear ? String(milliseconds) : JSON.stringify(new Date(milliseconds))
}
