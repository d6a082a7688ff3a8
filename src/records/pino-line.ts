import { textOf } from '../errors/text-of.js'
import type { MappedLog } from './encode.js'
import { errorFields, isErrorLike, writtenMessage } from './error-like.js'
import { errorText } from './error-text.js'
import { LevelNames, severityOfName } from './level.js'
import { parseJson } from './long-numbers.js'
import { type MessageStyle, messageOf, messageText } from './message.js'
import { digits, plainFields } from './plain-fields.js'
import { inUnit, timeOf } from './time.js'

/** A logger's configuration, as pino gives it to transports. */
export interface PinoStyle {
  /** pino's `levels.labels`: name by number. */
  readonly labels?: Readonly<Record<string, string>> | undefined
  readonly messageKey?: string | undefined
  readonly errorKey?: string | undefined
  /** The logger's own fields, equal in all of its lines; undefined where they are not known. */
  readonly base?: Readonly<Record<string, unknown>> | undefined
}

/** A logger's configuration and the options for its records. */
export interface PinoMapping extends PinoStyle, MessageStyle {
  readonly timestampUnit: 'ms' | 's'
}

/** The values that pino itself writes at the head of a line. Fields of the application with the same names come later in the line. */
export interface PinoHead {
  readonly level?: unknown
  /** Key of the level, where a formatter of the logger has renamed it. */
  readonly levelKey?: string
  readonly time?: unknown
  readonly pid?: unknown
  readonly hostname?: unknown
  readonly name?: unknown
}

/** A mapped line, with the number of its level if it has one. */
export interface MappedPinoLine extends MappedLog {
  readonly number: number | undefined
}

/** True for a field that is the logger's base; false for a field of the application that comes first in the line by chance. */
export type IsBase = (key: 'pid' | 'hostname' | 'name', value: unknown) => boolean

/** Reads a plain line; undefined for any other. */
export type PlainLineReader = (line: string, isBase: IsBase) => MappedPinoLine | undefined

/** Maps lines of pino to the fields of log records. */
export interface PinoMapper {
  /** Maps a parsed line. */
  readonly parsed: (
    line: Readonly<Record<string, unknown>>,
    about: Pick<PinoLineSetting, 'arrivedAt' | 'isBelow'> & { readonly head?: PinoHead },
  ) => MappedPinoLine
  /** Maps the text of a plain line without parsing it, with the same result. */
  readonly plain: PlainLineReader
}

export interface PinoLineSetting {
  readonly messageKey?: string | undefined
  readonly arrivedAt: number
  /** @default every such field is */
  readonly isBase?: IsBase | undefined
  /** True for a line that the option `sample` spares, as it is below the option `level`. @default no line is */
  readonly isBelow?: ((line: Pick<MappedPinoLine, 'number' | 'severity'>) => boolean) | undefined
}

export const anything: IsBase = () => true

/** Maps a line as pino has written it. A line that is not JSON is a message: other programs write to pino's streams, too. */
export function mapPinoLine(
  map: PinoMapper,
  line: string,
  { messageKey = 'msg', arrivedAt, isBase = anything, isBelow }: PinoLineSetting,
): MappedPinoLine {
  const plain = map.plain(line, isBase)
  if (plain !== undefined) return plain
  const value = parsedJson(line)
  if (typeof value === 'object' && value !== null) {
    const head = headOf(line, isBase)
    return map.parsed(value as Record<string, unknown>, { arrivedAt, isBelow, ...(head === undefined ? {} : { head }) })
  }
  return map.parsed({ level: 30, [messageKey]: typeof value === 'string' ? value : line }, { arrivedAt })
}

export function pinoMapper(mapping: PinoMapping): PinoMapper {
  const names = new LevelNames(mapping.labels)
  const { messageKey = 'msg', errorKey = 'err', timestampUnit, maxMessageBytes: maxChars, redactor, control } = mapping
  const withFields = mapping.context === 'none'

  const parsed: PinoMapper['parsed'] = (line, { arrivedAt, isBelow, head = line as PinoHead }) => {
    redactor?.takeRedacted()
    const isHead = (key: string) => isHeadKey(key) && head[key] !== undefined && Object.is(head[key], line[key])
    const written = isHead(messageKey) ? undefined : line[messageKey]
    const context = fieldsWithout(line, (key) => key === messageKey || isHead(key))
    // A formatter may rename the level (Google Cloud needs that) and write its name instead of its number.
    let { level } = head
    if (head.levelKey !== undefined && names.knows(level)) delete context[head.levelKey]
    else if (head.levelKey !== undefined) level = undefined
    if (level === undefined && typeof context.severity === 'string') level = take(context, 'severity')

    const number = typeof level === 'number' ? level : undefined
    const named = typeof level === 'string' ? textOf(level).toLowerCase() : names.nameOf(number ?? 30)
    const severity = number === undefined ? (severityOfName(named) ?? 2) : names.severityOf(number)
    if (control?.keeps({ level: named, below: isBelow?.({ number, severity }) }, context) === false)
      return { number, ...control.leftOut(named, severity) }

    redactor?.fields(context)
    let text = messageText(redactor === undefined ? written : redactor.value(written), maxChars)
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

    const fields = {
      timeStamp: inUnit(timeOf(head.time) ?? arrivedAt, timestampUnit),
      level: named,
      message: messageOf({ text, context, error, isJson: true }, mapping),
      ...(eventId === undefined ? {} : { eventId }),
    }
    const facts = control?.factsOf({ logger: head.name, level: named, text, fields: context })
    return { number, severity, fields, facts, ...(redactor?.takeRedacted() ? { redacted: true } : {}) }
  }
  return { parsed, plain: plainLineReader(mapping, names) }
}

const headKeys: ReadonlySet<string> = new Set(['level', 'time', 'pid', 'hostname', 'name'])

function isHeadKey(key: string): key is 'level' | 'time' | 'pid' | 'hostname' | 'name' {
  return headKeys.has(key)
}

/** Copies key by key: to delete keys from a copy costs several times as much. */
function fieldsWithout(
  line: Readonly<Record<string, unknown>>,
  isLeftOut: (key: string) => boolean,
): Record<string, unknown> {
  if (Object.hasOwn(line, '__proto__')) {
    return Object.fromEntries(Object.entries(line).filter(([key]) => !isLeftOut(key)))
  }
  const fields: Record<string, unknown> = {}
  for (const key in line) if (Object.hasOwn(line, key) && !isLeftOut(key)) fields[key] = line[key]
  return fields
}

function take(context: Record<string, unknown>, key: string): unknown {
  const value = context[key]
  delete context[key]
  return value
}

/**
 * The head of a line: level, time and base. `JSON.parse` gives the last of several fields with one name, and that is the application's.
 * Undefined for a line that pino has not written.
 */
function headOf(line: string, isBase: IsBase): PinoHead | undefined {
  const [, level, otherKey, otherLevel, time, pid, hostname, writtenName] =
    headPattern.exec(line.slice(0, maxHeadChars)) ?? []
  const hasBase = pid !== undefined || hostname !== undefined
  if (level === undefined && !hasBase) return undefined
  const base = (key: Parameters<IsBase>[0], written: string | undefined) => {
    const value = scalar(written)
    return isBase(key, value) ? value : undefined
  }
  return {
    level: scalar(level ?? otherLevel),
    ...(level === undefined && otherKey !== undefined ? { levelKey: String(scalar(otherKey)) } : {}),
    time: scalar(time),
    pid: base('pid', pid),
    hostname: base('hostname', hostname),
    // Without the rest of the base, a name is a field of the application.
    name: hasBase ? base('name', writtenName) : undefined,
  }
}

/** pino writes no longer head. On a text of megabytes the expression would run out of stack. */
const maxHeadChars = 8192

/** Formatters of the logger may rename level and time; the base follows them all the same. */
const headPattern = (() => {
  const value = String.raw`("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*)`
  const otherKey = String.raw`("(?!pid"|hostname")[^"\\]+")`
  const other = String.raw`"(?!pid"|hostname")[^"\\]+":(?:"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*)`
  const base = `(?:,"pid":${value})?(?:,"hostname":${value})?(?:,"name":${value})?`
  return new RegExp(String.raw`^\{(?:"level":${value}|${otherKey}:${value})?(?:,"time":${value}|,${other})?${base}`)
})()

function scalar(written: string | undefined): unknown {
  return written === undefined ? undefined : parsedJson(written)
}

function parsedJson(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

/** Most lines are plain: level, time and base as pino writes them by default, then fields that {@link plainFields} reads. */
function plainLineReader(mapping: PinoMapping, names: LevelNames): PlainLineReader {
  const { messageKey = 'msg', context: style, maxMessageBytes, timestampUnit } = mapping
  if (style === 'logfmt' || declined.has(messageKey) || mapping.redactor !== undefined || mapping.control !== undefined)
    return () => undefined
  let start: Start = { text: '', level: 0, time: 0, isKnown: () => true }

  return (line, isBase) => {
    // Compared by `slice`: V8's `startsWith` takes ten times as long for texts of this length.
    if (start.text === '' || line.slice(0, start.text.length) !== start.text) {
      const another = readStart(line)
      if (another === undefined) return undefined
      start = another
    }
    // The message is no longer than the rest of the line, so it needs no cut.
    if ((line.length - start.text.length) * 3 > maxMessageBytes) return undefined
    const fields = plainFields(line, { at: start.text.length, opening: ',', declined })
    if (fields === undefined) return undefined

    const message = fields.find(({ key }) => key === messageKey)
    if (message !== undefined && line.charCodeAt(message.valueStart) !== quote) return undefined
    // Asked last, as `isBase` learns: the line may have a longer base that begins with the same text.
    if (!start.isKnown(isBase)) return undefined
    const text = message === undefined ? '' : line.slice(message.valueStart + 1, message.end - 1)
    const { start: messageAt, end: messageEnd } = message ?? { start: line.length - 1, end: line.length - 1 }
    const before = line.slice(start.text.length + 1, messageAt)
    const after = line.slice(before === '' ? messageEnd + 1 : messageEnd, -1)
    const context = style === 'none' || (before === '' && after === '') ? '' : `{${before}${after}}`
    const { level, time } = start
    return {
      number: level,
      severity: names.severityOf(level),
      fields: {
        timeStamp: inUnit(time, timestampUnit),
        level: names.nameOf(level),
        message: context === '' ? text : text === '' ? context : `${text} ${context}`,
      },
    }
  }
}

const beginning = '{"level":'
const levelAt = beginning.length
const beforeTime = ',"time":'
const timeAt = levelAt + 2 + beforeTime.length
const baseAt = timeAt + 13

const quote = '"'.charCodeAt(0)

/** Keys with a meaning of their own in a line. */
export const declined: ReadonlySet<string> = new Set([
  'level',
  'time',
  'pid',
  'hostname',
  'name',
  'eventId',
  '__proto__',
])

/** Level, time and base of a line: equal in all lines of a logger at one level in one millisecond. */
interface Start {
  readonly text: string
  readonly level: number
  /** Milliseconds since 1970. */
  readonly time: number
  /** True for the base of the logger that wrote the line. */
  readonly isKnown: (isBase: IsBase) => boolean
}

export const basePattern = /(?:,"pid":([1-9]\d{0,9}))?(?:,"hostname":"([^"]*)")?(?:,"name":"([^"]*)")?/y

function readStart(line: string): Start | undefined {
  const level = digits(line.slice(levelAt, levelAt + 2))
  const time = digits(line.slice(timeAt, baseAt))
  if (!line.startsWith(beginning) || level < 10 || time < 1e12 || !line.startsWith(beforeTime, levelAt + 2))
    return undefined
  basePattern.lastIndex = baseAt
  const [base, pid, hostname, name] = basePattern.exec(line)!
  const isBare = pid === undefined && hostname === undefined
  const isKnown = (isBase: IsBase) =>
    isBare ||
    ((pid === undefined || isBase('pid', Number(pid))) &&
      (hostname === undefined || isBase('hostname', hostname)) &&
      // Called without a name, too: `isBase` learns from that whether the logger has one.
      (isBase('name', name) || name === undefined))
  return { text: line.slice(0, baseAt + (isBare ? 0 : base.length)), level, time: timeOf(time)!, isKnown }
}
