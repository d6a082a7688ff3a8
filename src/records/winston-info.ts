import { textOf } from '../errors/text-of.js'
import type { LogFields, MappedLog } from './encode.js'
import { isError, isErrorLike, readOrReason, takeNamedErrors, writtenMessage } from './error-like.js'
import { errorText } from './error-text.js'
import { jsonOf } from './json-text.js'
import { type Severity, severityOfName } from './level.js'
import { type MessageStyle, messageOf, messageText } from './message.js'
import type { Redactor } from './redactor.js'
import { inUnit, timeOf } from './time.js'

export interface WinstonMapping extends MessageStyle {
  readonly timestampUnit: 'ms' | 's'
}

/** The object that winston gives to a transport. The level without colours is under the LEVEL symbol. */
export type WinstonInfo = Readonly<Record<string | symbol, unknown>>

/** Facts about a line that are not in its `info`. */
export interface WinstonAbout {
  /** The logger's levels. The severity of custom names follows from their ranks. */
  readonly levels?: Readonly<Record<string, number>> | undefined
  readonly arrivedAt: number
  /**
   * True while the logger has winston's default format. Then arguments after the message and the first object are read from the SPLAT
   * symbol. A format of the application may have removed them on purpose. @default false
   */
  readonly untouched?: boolean
  /** Fields for the line beside its own, which win. */
  readonly added?: Readonly<Record<string, unknown>> | undefined
  /** True for a line below the option `level`: it is kept in case an error comes. @default false */
  readonly below?: boolean | undefined
}

const LEVEL = Symbol.for('level')
const SPLAT = Symbol.for('splat')

/** Maps winston's `info` to the fields of a log record. `info` is shared between transports and is never changed. */
export function winstonMapper(mapping: WinstonMapping) {
  const { timestampUnit, maxMessageBytes, redactor, control } = mapping
  const withFields = mapping.context === 'none'
  return (info: WinstonInfo, { levels, arrivedAt, untouched = false, added, below }: WinstonAbout): MappedLog => {
    const { level: _shown, message, timestamp, ...context } = fieldsOf(info)
    const level = levelOf(info)
    const errors: string[] = []
    const show = (error: unknown) =>
      void errors.push(errorText(error, { maxChars: maxMessageBytes, withFields, redactor }))
    const splat = splatOf(info)
    const time = timeOf(timestamp)
    if (time === undefined && timestamp !== undefined && !looksLikeTime(timestamp)) context.timestamp = timestamp

    const decorated = isDecorated(info)
    let text = isErrorLike(message) ? writtenMessage(message) : messageText(message, maxMessageBytes, redactor)
    if (decorated) text = undecorated(text)
    if (untouched && typeof message === 'string' && splat.length > 0)
      text = withExtras(text, { splat, context, redactor })
    if (added !== undefined) addFields(context, added)
    const severity = severityIn(levels, level)
    if (control?.keeps({ level, below }, context) === false) return control.leftOut(level, severity)
    redactor?.topFields(context)

    const stack = stackIn(context)
    if (isErrorLike(message)) show(message)
    if (isError(info)) {
      show(info)
      for (const key of ['stack', 'cause', 'errors']) delete context[key]
    } else if (typeof stack === 'string') {
      // winston and its errors format copy message, stack and fields of an error into the line. A format may have removed parts of it on
      // purpose, so they are not read from the error itself.
      const [first] = splat
      const original = untouched && isError(first) && first.stack === stack ? first : undefined
      const own = withFields && isError(first) ? Object.keys(first).filter((key) => Object.hasOwn(context, key)) : []
      const left = Object.fromEntries(own.map((key) => [key, context[key]]))
      show(original ?? { ...left, message: text, stack, cause: context.cause })
      for (const key of original === undefined ? ['stack', 'cause'] : ['stack', 'cause', 'errors']) delete context[key]
    }

    const namedMessage = takeNamedErrors(context, show)
    if (text === '') text = namedMessage
    // winston may have copied the first argument into the line already.
    const laidOut = typeof stack === 'string' && isError(splat[0]) ? 1 : 0
    if (untouched) for (const extra of splat.slice(laidOut)) if (isError(extra)) show(extra)

    const eventId = Number.isSafeInteger(context.eventId) ? (context.eventId as number) : undefined
    if (eventId !== undefined) delete context.eventId
    const error = [...new Set(decorated ? errors.map(undecoratedError) : errors)].join('\n')
    const fields: LogFields = {
      timeStamp: inUnit(time ?? arrivedAt, timestampUnit),
      level,
      message: messageOf({ text, context, error }, mapping),
      ...(eventId === undefined ? {} : { eventId }),
    }
    const facts = control?.factsOf({ logger: context.label, level, text, fields: context })
    return { fields, severity, facts, ...(redactor?.takeRedacted() ? { redacted: true } : {}) }
  }
}

/**
 * The stack of a line. nest-winston writes it as an array, with undefined (null in JSON) where it has none: that is removed. Any other array is
 * a field of the application, and so is anything that cannot be read.
 */
function stackIn(context: Record<string, unknown>): unknown {
  const { stack } = context
  if (typeof stack !== 'object' || stack === null) return stack
  try {
    if (!Array.isArray(stack)) return stack
    if (stack.length > mostTexts) return undefined
    const texts = stack.filter((each) => each !== undefined && each !== null)
    if (texts.length === 0) delete context.stack
    return texts.length > 0 && texts.every(isStackText) ? [...new Set(texts)].join('\n') : undefined
  } catch {
    // A revoked proxy, or one that throws.
    return undefined
  }
}

/** An array of nest-winston has one text. */
const mostTexts = 16

function isStackText(value: unknown): value is string {
  return typeof value === 'string' && /\n[ \t]+at /.test(value.slice(0, maxHeadChars))
}

/** The first frame of a stack begins within this number of characters. */
const maxHeadChars = 10_000

/** Name of a line's level, without colours. */
export function levelOf(info: WinstonInfo): string {
  return textOf(info[LEVEL] ?? info.level ?? 'info').toLowerCase()
}

/** Severity of a level. A name that no common logger uses gets it from its rank in the logger's levels. */
export function severityIn(levels: Readonly<Record<string, number>> | undefined, level: string): Severity {
  const known = severityOfName(level)
  if (known !== undefined) return known
  if (levels === undefined) return 2
  const name = Object.hasOwn(levels, level) ? level : Object.keys(levels).find((each) => each.toLowerCase() === level)
  const rank = name === undefined ? undefined : levels[name]
  if (rank === undefined) return 2
  const lowest = Object.values(levels).reduce((most, each) => Math.max(most, each), Number.NEGATIVE_INFINITY)
  const severity = Math.round(4 - (4 * rank) / lowest)
  // Ranks may be negative, all zero, or not numbers.
  return (Number.isNaN(severity) ? 4 : Math.min(5, Math.max(0, severity))) as Severity
}

/** The fields of a line. One that throws is replaced by the reason, and the others are kept. */
function fieldsOf(info: WinstonInfo): Record<string, unknown> {
  try {
    return { ...info, ...(isError(info) ? { message: info.message, stack: info.stack } : {}) }
  } catch {
    const readable: Record<string, unknown> = {}
    for (const key of Object.keys(info)) readable[key] = readOrReason(info, key)
    return readable
  }
}

function splatOf(info: WinstonInfo): readonly unknown[] {
  const splat = info[SPLAT]
  return Array.isArray(splat) ? splat : []
}

interface Extras {
  readonly splat: readonly unknown[]
  readonly context: Record<string, unknown>
  readonly redactor: Redactor | undefined
}

/**
 * The message with the arguments that follow it. They replace `%s` and the like where they fit. Of the others, objects become fields and
 * the rest follows the message. A first object is among the fields already.
 */
function withExtras(text: string, { splat, context, redactor }: Extras): string {
  let used = 0
  const interpolated = text.replace(/%[sdifjoO]/g, (token) => {
    if (used === splat.length || !fits(token, splat[used])) return token
    return wordOf(token, splat[used++], redactor)
  })
  // Without tokens, winston has copied the fields of the first object.
  if (!tokens.test(text) && isFields(splat[0])) used = 1
  const words: string[] = [interpolated]
  for (const extra of splat.slice(used)) {
    if (isError(extra)) continue
    // Each byte of binary data would be a field.
    if (!ArrayBuffer.isView(extra) && isFields(extra)) addFields(context, extra)
    else words.push(messageText(extra, maxExtraChars, redactor))
  }
  return words.filter((word) => word !== '').join(' ')
}

/** With one of these in the message, winston does not add the fields of the first object. */
export const tokens = /%[scdjifoO%]/
const maxExtraChars = 32_768

function fits(token: string, value: unknown): boolean {
  if (token === '%s') return typeof value !== 'object' || value === null
  if (token === '%d' || token === '%i' || token === '%f') return typeof value === 'number' || typeof value === 'bigint'
  return !isError(value)
}

function wordOf(token: string, value: unknown, redactor: Redactor | undefined): string {
  if (token === '%i' && typeof value === 'number') return String(Math.trunc(value))
  if (token === '%j' || token === '%o' || token === '%O') return jsonOf(value, { maxChars: maxExtraChars, redactor })
  return typeof value === 'string' ? value : messageText(value, maxExtraChars, redactor)
}

function addFields(context: Record<string, unknown>, extra: object): void {
  for (const key of Object.keys(extra)) if (!Object.hasOwn(context, key)) context[key] = readOrReason(extra, key)
}

/** True for an object whose fields can be added to those of a line. */
export function isFields(extra: unknown): extra is object {
  if (typeof extra !== 'object' || extra === null || isError(extra)) return false
  try {
    return Object.keys(extra).length > 0
  } catch {
    return false
  }
}

/** True for a timestamp in a notation of the application. It is left out, as the record has the time already. */
function looksLikeTime(timestamp: unknown): boolean {
  return typeof timestamp === 'string' && /^[\d\s:.,/+TZ-]+(?:[ap]m)?$/i.test(timestamp) && /\d/.test(timestamp)
}

/**
 * True for a line with traces of a format for terminals: `colorize` colours level and message, `cli` and `align` put spaces and tabs
 * before the message.
 */
function isDecorated({ level, message }: ShownLine): boolean {
  return isColoured(level) || isColoured(message)
}

/** True where the message itself has such traces. */
export function isMessageDecorated({ level, message }: ShownLine): boolean {
  return isColoured(message) || (isColoured(level) && typeof message === 'string' && /^[ \t]/.test(message))
}

/** The text without colours, and without spaces and tabs before it. */
function undecorated(text: string): string {
  return text.replaceAll(colour, '').replace(/^[ \t]+/, '')
}

/** The same for an error, which has its name before the message. */
function undecoratedError(text: string): string {
  return text.replaceAll(colour, '').replace(/^([\w$.]+:)[ \t]+/, '$1 ')
}

interface ShownLine {
  readonly level?: unknown
  readonly message?: unknown
}

function isColoured(text: unknown): boolean {
  return typeof text === 'string' && text.charCodeAt(0) === escapeCode
}

const escapeCode = 0x1b
/** A code that colours a text in a terminal. */
export const colour = new RegExp(`${String.fromCharCode(escapeCode)}\\[[\\d;]*m`, 'g')
