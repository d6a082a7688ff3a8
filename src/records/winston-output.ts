import {
  causeOf,
  isError,
  isErrorLike,
  membersOf,
  nameOf,
  readOrReason,
  stackOf,
  writtenMessage,
} from './error-like.js'
import { parseJson } from './long-numbers.js'
import { timeOf } from './time.js'
import { colour, levelOf, type WinstonInfo } from './winston-info.js'

const LEVEL = Symbol.for('level')
const MESSAGE = Symbol.for('message')
const SPLAT = Symbol.for('splat')

type Fields = Record<string, unknown>

/** The texts that winston's json has written with all fields, by the line; undefined where it has left some out. */
const wholeTexts = new WeakMap<WinstonInfo, unknown>()

/**
 * winston's json has just written the text of this line.
 *
 * @param isWhole json itself left nothing out, so what it hides of errors can be shown
 */
export function textIsWritten(line: object, isWhole: boolean): void {
  wholeTexts.set(line as WinstonInfo, isWhole ? Reflect.get(line, MESSAGE) : undefined)
}

/**
 * The line for the transport's own format. That gets a copy, and winston copies an error without its message, stack and cause; a child
 * logger of winston lays them out, too.
 */
export function laidOut(line: unknown): unknown {
  if (!isError(line)) return line
  const { message, stack, cause } = line
  return { ...line, message, stack, ...(cause === undefined ? {} : { cause }) }
}

/**
 * The fields that the formats of a line have let into its text, as an `info`. A field that is not in the text is not in the result, whatever
 * the formats are. Where they make no text, the fields that they have left are all there is.
 *
 * @param before the line before the transport's own format, if it has one. If that format has made no text, a field must be in the text of
 *   the formats before it, and be left by it
 */
export function shownInfo(left: WinstonInfo, before: WinstonInfo | undefined): WinstonInfo {
  const text = left[MESSAGE]
  if (typeof text !== 'string') return left
  const parsed = parsedObject(text)
  const fields = parsed === undefined ? fieldsOfText(text, left) : withMessage(parsed, left)
  if (before?.[MESSAGE] === text) keepWhatBothShow(fields, { info: left, before, text })
  const isWhole = text === wholeTexts.get(before === undefined || wholeTexts.has(left) ? left : before)
  restoreFields(left, fields, { isWhole, depth: 1 })
  const isOfError = parsed !== undefined && (isError(left) || isError(before))
  return {
    ...(isOfError ? hiddenOf(left, isWhole) : {}),
    ...fields,
    level: left.level,
    [LEVEL]: left[LEVEL],
    [SPLAT]: left[SPLAT],
  }
}

/** The message, stack and cause of a line that is an error, which JSON hides. The transport's own format got them laid out, and may have changed them. */
function hiddenOf(line: WinstonInfo, isWhole: boolean): Fields {
  if (!isWhole || hasOwnJson(line)) return { message: leftOut }
  const { message, stack, cause } = isError(line) ? new ShownError(line) : line
  return { message, stack, cause: isError(cause) ? new ShownError(cause) : isError(line) ? cause : undefined }
}

/** JSON has the message under any key: logstash calls it `@message`. */
function withMessage(fields: Fields, { message }: WinstonInfo): Fields {
  if (Object.hasOwn(fields, 'message')) return fields
  const key = Object.keys(fields).find((key) => key === '@message' || fields[key] === message)
  if (key === undefined) return fields
  const { [key]: text, ...others } = fields
  return { ...others, message: text }
}

/**
 * The fields of a text that is no JSON: JSON may follow the message. Level and time before the message are left out, as the record has
 * them.
 */
function fieldsOfText(text: string, info: WinstonInfo): Fields {
  const bare = text.replaceAll(colour, '')
  const message = typeof info.message === 'string' ? info.message.replaceAll(colour, '').trim() : ''
  const at = message === '' ? -1 : placeOf(bare, message)
  const time = timeOf(info.timestamp) === undefined ? {} : { timestamp: info.timestamp }
  const head = bare.slice(0, Math.max(at, 0)).replace(String(info.timestamp ?? ''), '')
  if (at === -1 || /[\p{L}\p{N}{"]/u.test(head.toLowerCase().replace(levelOf(info), '')))
    return { ...time, message: bare }
  const fields = parsedObject(bare.slice(at + message.length))
  return { ...time, ...(fields === undefined ? { message: bare.slice(at) } : { ...fields, message }) }
}

/** The place where the beginning of a part is found first, if the part stands there; else -1. A full search could take very long. */
function placeOf(text: string, part: string): number {
  const at = text.indexOf(part.slice(0, searchedChars))
  return at !== -1 && text.startsWith(part, at) ? at : -1
}

const searchedChars = 100

/** A field that the transport's own format has set is as that format has set it. Of any other, both must show the same. */
function keepWhatBothShow(
  fields: Fields,
  { info, before, text }: { readonly info: WinstonInfo; readonly before: WinstonInfo; readonly text: string },
): void {
  const { message } = info
  if (typeof message === 'string' && placeOf(text, message) !== -1) fields.message = message
  for (const key of Object.keys(fields)) {
    if (!Object.hasOwn(info, key)) delete fields[key]
    else if (key !== 'message') fields[key] = agreed(info[key], fields[key])
  }
  for (const key of Object.keys(info)) if (info[key] !== before[key]) fields[key] = info[key]
}

/** The parts that a value and its JSON share, found in one walk through both. */
function agreed(value: unknown, written: unknown, depth = 1): unknown {
  if (written === null) return written
  if (!isObject(value)) return typeof value !== 'symbol' && String(value) === String(written) ? written : leftOut
  if (hasOwnJson(value)) return agreed(jsonOf(value), written, depth)
  if (!isObject(written) || depth === maxDepth) return leftOut
  const of = (key: string | number) =>
    key in value ? agreed(readOrReason(value, `${key}`), written[key], depth + 1) : leftOut
  if (Array.isArray(written)) return written.map((_, index) => of(index))
  return Object.fromEntries(
    Object.keys(written)
      .filter((key) => key in value)
      .map((key) => [key, of(key)]),
  )
}

const leftOut = '[left out by a format]'

function hasOwnJson(value: object): boolean {
  return typeof readOrReason(value, 'toJSON') === 'function'
}

/** The JSON of a value that writes itself, such as a date. */
function jsonOf(value: object): unknown {
  try {
    return parseJson(JSON.stringify(value))
  } catch {
    return leftOut
  }
}

/** Deeper values are not looked into. */
const maxDepth = 20

interface Restoring {
  readonly isWhole: boolean
  readonly depth: number
}

/** The written value, with what JSON has only a stand-in for: binary data, NaN, and errors where the text is whole. */
function restored(value: unknown, written: unknown, { isWhole, depth }: Restoring): unknown {
  if (typeof value === 'number' && !Number.isFinite(value) && written === null) return value
  if (!isObject(value) || !isObject(written) || depth === maxDepth) return written
  if (ArrayBuffer.isView(value)) return value
  restoreFields(value, written, { isWhole, depth: depth + 1 })
  return isWhole && isError(value) && !hasOwnJson(value) && !isErrorLike(written)
    ? new ShownError(value, written)
    : written
}

function restoreFields(value: object, written: Fields, restoring: Restoring): void {
  for (const key of Object.keys(written)) {
    const shown = restored(readOrReason(value, key), written[key], restoring)
    if (shown !== written[key]) written[key] = shown
  }
}

/** An error with the fields that the text of its line has. Of its causes and members, which JSON never shows, there are no fields. */
class ShownError {
  readonly #error: Error

  constructor(error: Error, fields: Fields = {}) {
    this.#error = error
    Object.defineProperties(this, Object.getOwnPropertyDescriptors(fields))
  }

  get name(): string {
    return nameOf(this.#error)
  }

  get message(): string {
    return writtenMessage(this.#error)
  }

  /** The present message and the frames: a format may have replaced a message that the stack still has. */
  get stack(): string {
    const head = this.message === '' ? this.name : `${this.name}: ${this.message}`
    const stack = stackOf(this.#error)
    const frames = stack.slice(stack.startsWith(head) ? head.length : 0).split('\n')
    return [head, ...frames.filter((line) => /^[ \t]+at /.test(line))].join('\n')
  }

  get cause(): unknown {
    const cause = causeOf(this.#error)
    return isError(cause) ? new ShownError(cause) : undefined
  }

  get errors(): readonly unknown[] {
    return membersOf(this.#error).map((member) => (isError(member) ? new ShownError(member) : leftOut))
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}

function parsedObject(text: string): Fields | undefined {
  // To find out by an exception takes microseconds.
  if (!beginsAsObject.test(text)) return undefined
  try {
    const value = parseJson(text)
    return isObject(value) && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

const beginsAsObject = /^\s*\{/
