import type { MappedLog } from './encode.js'
import { errorFields, errorText, isErrorLike } from './error-text.js'
import { LevelNames, severityOfName, severityOfNumber } from './level.js'
import { type ContextStyle, cutToBytes, jsonOf, messageOf } from './message.js'
import { inUnit, timeOf } from './time.js'

/** What pino tells its transports of the logger's configuration. */
export interface PinoStyle {
  /** pino's `levels.labels`: name by number. */
  readonly labels?: Readonly<Record<string, string>> | undefined
  readonly messageKey?: string | undefined
  readonly errorKey?: string | undefined
}

/** The same, and what the options say of the record. */
export interface PinoMapping extends PinoStyle {
  readonly context: ContextStyle
  readonly maxMessageBytes: number
  readonly timestampUnit: 'ms' | 's'
}

/** A mapping from parsed pino lines to the fields of a log record. */
export function pinoMapper(
  mapping: PinoMapping,
): (line: Readonly<Record<string, unknown>>, arrivedAt: number) => MappedLog {
  const names = new LevelNames(mapping.labels)
  const { messageKey = 'msg', errorKey = 'err', context: style, maxMessageBytes, timestampUnit } = mapping

  return (line, arrivedAt) => {
    const { level: numbered, time, pid: _pid, hostname: _hostname, name: _name, v: _v, ...rest } = line
    // Formatters may rename the level, as Google Cloud wants it, and hand over its name instead of its number.
    const level = numbered ?? (typeof rest.severity === 'string' ? rest.severity : undefined)
    const written = rest[messageKey]
    const error = rest[errorKey]
    const context: Record<string, unknown> = { ...rest }
    if (numbered === undefined && level !== undefined) delete context.severity
    delete context[messageKey]

    let stack: string | undefined
    let text = typeof written === 'string' ? written : written === undefined ? '' : jsonOf(written)
    if (isErrorLike(error)) {
      stack = errorText(error)
      text = text === '' ? error.message : text
      const extra = errorFields(error)
      if (Object.keys(extra).length > 0) context[errorKey] = extra
      else delete context[errorKey]
    }
    const eventId = Number.isSafeInteger(rest.eventId) ? (rest.eventId as number) : undefined
    if (eventId !== undefined) delete context.eventId

    const named = typeof level === 'string' ? level.toLowerCase() : names.nameOf(typeof level === 'number' ? level : 30)
    return {
      severity: typeof level === 'number' ? severityOfNumber(level) : (severityOfName(named) ?? 2),
      fields: {
        timeStamp: inUnit(timeOf(time) ?? arrivedAt, timestampUnit),
        level: named,
        message: cutToBytes(messageOf({ text, context, error: stack }, style), maxMessageBytes),
        ...(eventId === undefined ? {} : { eventId }),
      },
    }
  }
}
