import type { MappedLog } from './encode.js'
import { errorFields, isErrorLike, writtenMessage } from './error-like.js'
import { errorText } from './error-text.js'
import { LevelNames, severityOfName } from './level.js'
import { addErrors, takeOwnError } from './line-errors.js'
import { isOfThisProcess, pinoHead, winstonHead } from './line-head.js'
import type { LineAbout, LineMapping, LineStyle } from './line-style.js'
import { parseJson } from './long-numbers.js'
import { messageOf, messageText } from './message.js'
import { plainLineReader } from './plain-line.js'
import { isColoured, undecorated, undecoratedError } from './terminal-text.js'
import { inUnit } from './time.js'

/** Makes a record of a line. A text that is no object of JSON is a message: other programs write to a logger's stream, too. */
export type LineMapper = (line: string, about: LineAbout) => MappedLog

/** Makes a record of the parsed fields of a line, which it may change. */
export type FieldsMapper = (fields: Record<string, unknown>, about: LineAbout, text?: string) => MappedLog

/** The mapper for the lines of all loggers. */
export function lineMapper(mapping: LineMapping): LineMapper {
  const plain = plainLineReader(mapping)
  const map = fieldsMapper(mapping)
  const textKey = messageKeysOf(mapping)[0]!
  return (line, about) => {
    const record = plain(line, about)
    if (record !== undefined) return record
    const value = parsedJson(line)
    if (typeof value === 'object' && value !== null) return map(value as Record<string, unknown>, about, line)
    return map({ [textKey]: typeof value === 'string' ? value : line }, about)
  }
}

/** See {@link FieldsMapper}. `text` of its call is the line itself: it shows where pino's own fields end and others of the same name begin. */
export function fieldsMapper(mapping: LineMapping): FieldsMapper {
  const { timestampUnit, maxMessageBytes: maxChars, redactor, control, isOwn = isOfThisProcess } = mapping
  const names = new LevelNames(mapping.labels)
  const isWinston = mapping.logger === 'winston'
  const messageKeys = messageKeysOf(mapping)
  const errorKeys = new Set([...(isWinston ? [] : [mapping.errorKey ?? 'err']), 'err', 'error'])
  const withFields = mapping.context === 'none'
  const redacted = <Value>(value: Value): Value => (redactor === undefined ? value : (redactor.value(value) as Value))

  return (line, about, lineText = '') => {
    redactor?.takeRedacted()
    const lineError = about.errors === undefined ? undefined : addErrors(line, about.errors)
    const head = isWinston ? winstonHead(line, mapping.level) : pinoHead(line, { text: lineText, names, isOwn })
    const { level, number, time = about.arrivedAt } = head
    const severity = about.severity ?? (number === undefined ? severityOfName(level) : names.severityOf(number)) ?? 2
    const below = typeof about.below === 'function' ? about.below({ number, severity }) : (about.below ?? false)
    const messageKey = messageKeys.find((key) => Object.hasOwn(line, key))
    const context = fieldsWithout(line, (key) => key === messageKey || head.keys.has(key))
    if (control?.keeps({ level, below }, context) === false) return control.leftOut(level, severity)

    redactor?.fields(context)
    const written = messageKey === undefined ? undefined : line[messageKey]
    const message = redacted(written)
    const errors: string[] = []
    const show = (error: unknown) => void errors.push(errorText(error, { maxChars, withFields }))
    if (isErrorLike(message)) show(message)
    let text = isErrorLike(message) ? writtenMessage(message) : messageText(message, maxChars)
    const own = isWinston ? takeOwnError(context, redacted(lineError), text) : undefined
    if (own !== undefined) show(own)
    if (text === '' && own !== undefined) text = writtenMessage(own)
    const isDecorated = isWinston && (isColoured(line.level) || isColoured(text))
    if (isDecorated) text = undecorated(text)
    for (const key of errorKeys) {
      const error = context[key]
      if (!isErrorLike(error)) continue
      show(error)
      if (text === '') text = writtenMessage(error)
      const fields = errorFields(error)
      if (Object.keys(fields).length > 0) context[key] = fields
      else delete context[key]
    }

    const { eventId } = context
    const isEvent = Number.isSafeInteger(eventId)
    if (isEvent) delete context.eventId
    const error = shownOnce(isDecorated ? errors.map(undecoratedError) : errors)
    const fields = {
      timeStamp: inUnit(time, timestampUnit),
      level,
      message: messageOf({ text, context, error }, mapping),
      ...(isEvent ? { eventId: eventId as number } : {}),
    }
    const hasHidden = redactor?.takeRedacted() || about.redacted
    return { fields, severity, below: below || undefined, redacted: hasHidden || undefined, id: control?.idOf(context) }
  }
}

const winstonMessages = ['message', '@message', 'msg', 'text'] as const

function messageKeysOf({ logger, messageKey = 'msg' }: LineStyle): readonly string[] {
  return logger === 'winston' ? winstonMessages : [messageKey]
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

/** The texts of errors, without those with which another one begins: winston tells an exception as an error and as its stack. */
function shownOnce(errors: readonly string[]): string {
  const texts = [...new Set(errors)]
  return texts.filter((text) => !texts.some((other) => other !== text && other.startsWith(text))).join('\n')
}

function parsedJson(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}
