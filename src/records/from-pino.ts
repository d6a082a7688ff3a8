import { textOf } from '../errors/text-of.js'
import type { MappedLog } from './encode.js'
import { errorFields, isErrorLike, writtenMessage } from './error-like.js'
import { errorText } from './error-text.js'
import { LevelNames, severityOfName, severityOfNumber } from './level.js'
import { type MessageStyle, messageOf, messageText } from './message.js'
import { type PlainLineReader, plainLineReader } from './plain-pino-line.js'
import { inUnit, timeOf } from './time.js'

/** What pino tells its transports of the logger's configuration. */
export interface PinoStyle {
  /** pino's `levels.labels`: name by number. */
  readonly labels?: Readonly<Record<string, string>> | undefined
  readonly messageKey?: string | undefined
  readonly errorKey?: string | undefined
  /** The logger's own fields, the same in all of its lines; undefined where they are not known. */
  readonly base?: Readonly<Record<string, unknown>> | undefined
}

/** The same, and what the options say of the record. */
export interface PinoMapping extends PinoStyle, MessageStyle {
  readonly timestampUnit: 'ms' | 's'
}

/** What pino itself has put at the head of a line, before any field of the application's, which may have the same names. */
export interface PinoHead {
  readonly level?: unknown
  /** Key of the level, where a formatter of the logger's has renamed it. */
  readonly levelKey?: string
  readonly time?: unknown
  readonly pid?: unknown
  readonly hostname?: unknown
  readonly name?: unknown
}

/** A line, mapped, with the number of its level where it has one. */
export interface MappedPinoLine extends MappedLog {
  readonly number: number | undefined
}

/** From lines of pino to the fields of log records. */
export interface PinoMapper {
  /** Of a line that has been parsed. */
  readonly parsed: (
    line: Readonly<Record<string, unknown>>,
    about: { readonly arrivedAt: number; readonly head?: PinoHead },
  ) => MappedPinoLine
  /** The same of the text of a line, where that can be had without parsing it. */
  readonly plain: PlainLineReader
}

export function pinoMapper(mapping: PinoMapping): PinoMapper {
  const names = new LevelNames(mapping.labels)
  const { messageKey = 'msg', errorKey = 'err', timestampUnit, maxMessageBytes: maxChars } = mapping
  const withFields = mapping.context === 'none'

  const parsed: PinoMapper['parsed'] = (line, { arrivedAt, head = line as PinoHead }) => {
    const isHead = (key: string) => isHeadKey(key) && head[key] !== undefined && Object.is(head[key], line[key])
    const written = isHead(messageKey) ? undefined : line[messageKey]
    const context = fieldsWithout(line, (key) => key === messageKey || isHead(key))
    // Formatters may rename the level, as Google Cloud wants it, and hand over its name instead of its number.
    let { level } = head
    if (head.levelKey !== undefined && names.knows(level)) delete context[head.levelKey]
    else if (head.levelKey !== undefined) level = undefined
    if (level === undefined && typeof context.severity === 'string') level = take(context, 'severity')

    let text = messageText(written, maxChars)
    const errors: string[] = []
    for (const key of new Set([errorKey, 'err', 'error'])) {
      const error = context[key]
      if (!isErrorLike(error)) continue
      errors.push(errorText(error, { maxChars, withFields }))
      if (text === '') text = writtenMessage(error)
      const fields = errorFields(error)
      if (Object.keys(fields).length > 0) context[key] = fields
      else delete context[key]
    }
    const eventId = Number.isSafeInteger(context.eventId) ? (take(context, 'eventId') as number) : undefined
    const error = [...new Set(errors)].join('\n')

    const number = typeof level === 'number' ? level : undefined
    const named = typeof level === 'string' ? textOf(level).toLowerCase() : names.nameOf(number ?? 30)
    return {
      number,
      severity: number === undefined ? (severityOfName(named) ?? 2) : severityOfNumber(number),
      fields: {
        timeStamp: inUnit(timeOf(head.time) ?? arrivedAt, timestampUnit),
        level: named,
        message: messageOf({ text, context, error, isJson: true }, mapping),
        ...(eventId === undefined ? {} : { eventId }),
      },
    }
  }
  return { parsed, plain: plainLineReader(mapping, names) }
}

const headKeys: ReadonlySet<string> = new Set(['level', 'time', 'pid', 'hostname', 'name'])

function isHeadKey(key: string): key is 'level' | 'time' | 'pid' | 'hostname' | 'name' {
  return headKeys.has(key)
}

/** Copied key by key: an object from which keys are deleted costs several times as much. */
function fieldsWithout(
  line: Readonly<Record<string, unknown>>,
  isLeftOut: (key: string) => boolean,
): Record<string, unknown> {
  if (Object.hasOwn(line, '__proto__')) {
    return Object.fromEntries(Object.entries(line).filter(([key]) => !isLeftOut(key)))
  }
  const fields: Record<string, unknown> = {}
  for (const key in line) if (!isLeftOut(key)) fields[key] = line[key]
  return fields
}

function take(context: Record<string, unknown>, key: string): unknown {
  const value = context[key]
  delete context[key]
  return value
}
