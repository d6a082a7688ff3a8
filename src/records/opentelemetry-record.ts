import type { MappedLog } from './encode.js'
import { type ErrorLike, readOrReason, takeNamedErrors, writtenMessage } from './error-like.js'
import { errorText } from './error-text.js'
import { type Severity, severityOfName } from './level.js'
import { type MessageStyle, messageOf, messageText } from './message.js'
import { inUnit, isTime } from './time.js'

export interface OpenTelemetryMapping extends MessageStyle {
  readonly timestampUnit: 'ms' | 's'
  /** True for a line that the option `sample` spares, as it is below the option `level`. @default no line is */
  readonly isBelow?: (severity: Severity) => boolean
}

/** Seconds since 1970, and nanoseconds. */
type HrTime = readonly [number, number]

/** The part of OpenTelemetry's `ReadableLogRecord` that is read here. Its own type would need its package. */
export interface OpenTelemetryRecord {
  /** Time of the event; zeros for one that was not set. */
  readonly hrTime: HrTime
  /** Time of its observation, for an event without a time. */
  readonly hrTimeObserved: HrTime
  /** Name of the level at its source. */
  readonly severityText?: string | undefined
  /** From 1 to 24; see OpenTelemetry's `SeverityNumber`. */
  readonly severityNumber?: number | undefined
  /** The text; any other value is written as JSON. */
  readonly body?: unknown
  /** Becomes the field `eventName`. */
  readonly eventName?: string | undefined
  /** Fields by name. */
  readonly attributes: object
  /** Ids in hex of the span in which it was logged. */
  readonly spanContext?: { readonly traceId: string; readonly spanId: string } | undefined
  /** Becomes the field `scope`. */
  readonly instrumentationScope: { readonly name: string }
}

/** Maps a record of OpenTelemetry's SDK to the fields of a log record. The SDK shares its records, so they are never changed. */
export function openTelemetryMapper(mapping: OpenTelemetryMapping) {
  const { timestampUnit, maxMessageBytes, redactor, control, isBelow } = mapping
  const withFields = mapping.context === 'none'
  return (record: OpenTelemetryRecord, arrivedAt: number): MappedLog => {
    const { level, severity } = levelOf(record)
    const context = fieldsOf(record, level)
    if (control?.keeps({ level, below: isBelow?.(severity) }, context) === false)
      return control.leftOut(level, severity)
    const errors: string[] = []
    const show = (error: ErrorLike) =>
      void errors.push(errorText(error, { maxChars: maxMessageBytes, withFields, redactor }))
    let text = messageText(record.body, maxMessageBytes, redactor)
    redactor?.topFields(context)

    const exception = takeException(context)
    if (exception !== undefined) {
      show(exception)
      if (text === '') text = writtenMessage(exception)
    }
    const namedMessage = takeNamedErrors(context, show)
    if (text === '') text = namedMessage

    const eventId = Number.isSafeInteger(context.eventId) ? (context.eventId as number) : undefined
    if (eventId !== undefined) delete context.eventId
    const time = millisecondsOf(record.hrTime) ?? millisecondsOf(record.hrTimeObserved) ?? arrivedAt
    const error = [...new Set(errors)].join('\n')
    const fields = {
      timeStamp: inUnit(time, timestampUnit),
      level,
      message: messageOf({ text, context, error }, mapping),
      ...(eventId === undefined ? {} : { eventId }),
    }
    const facts = control?.factsOf({ logger: record.instrumentationScope.name, level, text, fields: context })
    return { fields, severity, facts, ...(redactor?.takeRedacted() ? { redacted: true } : {}) }
  }
}

const numbersPerRange = 4
/** The levels of the ranges of OpenTelemetry's numbers: 1 to 4 is trace, 21 to 24 fatal. */
const ranges = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const

/** A name that loggers use, then the level of the number, then any other name. A record without both is of level info. */
function levelOf(record: OpenTelemetryRecord): { readonly level: string; readonly severity: Severity } {
  const name = writtenLevel(record)
  const known = severityOfName(name)
  if (known !== undefined) return { level: name, severity: known }
  const { severityNumber: number } = record
  const ofNumber = typeof number === 'number' ? ranges[Math.floor((number - 1) / numbersPerRange)] : undefined
  const level = ofNumber ?? (name === '' ? 'info' : name)
  return { level, severity: severityOfName(level) ?? 2 }
}

function writtenLevel({ severityText }: OpenTelemetryRecord): string {
  return typeof severityText === 'string' ? severityText.toLowerCase() : ''
}

/** The fields of a record: its attributes, then what else it says of itself, where no attribute has the same name. */
function fieldsOf(record: OpenTelemetryRecord, level: string): Record<string, unknown> {
  const { attributes, spanContext, instrumentationScope, eventName } = record
  const about = {
    scope: isNamed(instrumentationScope) ? instrumentationScope.name : undefined,
    eventName,
    severityText: writtenLevel(record) === level ? undefined : record.severityText || undefined,
    trace_id: spanContext?.traceId,
    span_id: spanContext?.spanId,
  }
  const own = Object.keys(attributes).map((key) => [key, readOrReason(attributes, key)] as const)
  const added = Object.entries(about).filter(([key, value]) => value !== undefined && !Object.hasOwn(attributes, key))
  return Object.fromEntries([...own, ...added])
}

/** False for the name that the SDK gives to a logger without one. */
function isNamed({ name }: OpenTelemetryRecord['instrumentationScope']): boolean {
  return name !== '' && name !== 'unknown'
}

/** OpenTelemetry's attributes of an error, as an error. They are taken out of the fields. */
function takeException(context: Record<string, unknown>): ErrorLike | undefined {
  const take = (key: string): string => {
    const value = context[key]
    if (typeof value !== 'string') return ''
    delete context[key]
    return value
  }
  const type = take('exception.type')
  const message = take('exception.message')
  const stack = take('exception.stacktrace')
  return type + message + stack === '' ? undefined : { type, message, stack }
}

/** Undefined for a time that was not set. */
function millisecondsOf(time: HrTime): number | undefined {
  const milliseconds = time[0] * 1000 + Math.trunc(time[1] / 1e6)
  return milliseconds > 0 && isTime(milliseconds) ? milliseconds : undefined
}
