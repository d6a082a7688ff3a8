import { isError } from '../errors/is-error.js'
import { textOf } from '../errors/text-of.js'
import { causeOf, membersOf, nameOf, readOrReason, stackOf, writtenMessage } from '../records/error-like.js'
import { jsonOf } from '../records/json-text.js'
import { type Severity, severityOfName } from '../records/level.js'
import type { Redactor } from '../records/redactor.js'

/** The object that winston gives to a transport. The level without colours is under the LEVEL symbol. */
export type WinstonInfo = Readonly<Record<string | symbol, unknown>>

export const LEVEL = Symbol.for('level')
const MESSAGE = Symbol.for('message')

interface LineSetting {
  /** The line before the transport's own format. @default the transport has none */
  readonly before?: WinstonInfo | undefined
  /** Longest text of a field that is no text. */
  readonly maxChars: number
  readonly redactor: Redactor | undefined
  /** Name of the level, where only the line can say it. @default the style of the line says it */
  readonly level?: string | undefined
}

/** A line for the worker, see `Line` of the engine. */
export interface WinstonLine {
  readonly text: string
  readonly errors: string | undefined
}

/**
 * The line of an `info`, which is never changed. It is the JSON that a format has written: what a format or a replacer left out is not there.
 * Where the formats end in a text for people, it is the JSON of the fields that they have left.
 */
export function winstonLine(info: WinstonInfo, setting: LineSetting): WinstonLine {
  const { before, level } = setting
  const text = info[MESSAGE]
  if (!isWholeJson(text, setting)) {
    const own = isError(info) ? `{"":${jsonOf(info, setting)}}` : undefined
    return { text: withLevel(fieldsText(info, setting), level), errors: own }
  }
  const errors = errorsText(info, setting)
  const isOwn = before === undefined || text !== before[MESSAGE]
  return { text: withLevel(isOwn ? text : fieldsText(shownByBoth(info, before, text), setting), level), errors }
}

/** A level that the line itself says comes later, so it is the one that counts. */
function withLevel(text: string, level: string | undefined): string {
  if (level === undefined) return text
  const fields = text.slice(1).trimStart()
  return `{"level":${JSON.stringify(level)}${fields.startsWith('}') ? '' : ','}${fields}`
}

/**
 * A text may only look like JSON. The worker then takes it for a message, in which no key is found. So it is tried where something is done
 * with its fields: by `redact`, by the transport's own format, or with the level.
 */
function isWholeJson(text: unknown, { before, redactor, level }: LineSetting): text is string {
  if (typeof text !== 'string' || text.charCodeAt(text.length - 1) !== closeBrace || !beginsAsObject.test(text))
    return false
  if (redactor === undefined && before === undefined && level === undefined) return true
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const beginsAsObject = /^\{\s*["}]/
const closeBrace = '}'.charCodeAt(0)

/**
 * The transport's own format has made no text: what it has left, as far as the JSON of the logger's formats shows it. A field that it has set
 * is as it has set it.
 */
function shownByBoth(info: WinstonInfo, before: WinstonInfo, text: string): Record<string, unknown> {
  const shown = JSON.parse(text) as Record<string, unknown>
  // JSON shows neither message nor stack of a line that is an error.
  const hidden = Object.hasOwn(shown, 'message') ? [] : ['message', 'stack', 'cause']
  const isAsSet = (key: string) => !Object.is(info[key], before[key]) || hidden.includes(key)
  const keys = [...Object.keys(shown), ...Object.keys(info).filter((key) => !Object.hasOwn(shown, key) && isAsSet(key))]
  return Object.fromEntries(
    keys
      .filter((key) => Object.hasOwn(info, key))
      .map((key) => [key, isAsSet(key) ? info[key] : agreed(shown[key], info[key])]),
  )
}

/** What JSON shows of a value that formats may have changed since. JSON has other words for a date, a BigInt and the like. */
function agreed(shown: unknown, value: unknown, depth = 0): unknown {
  if (!isObject(shown)) return shown === null || isObject(value) || String(shown) === String(value) ? shown : leftOut
  if (!isObject(value) || depth === maxAgreedDepth) return leftOut
  const inner = (key: string) => (key in value ? agreed(shown[key], readOrReason(value, key), depth + 1) : leftOut)
  const kept = Object.keys(shown).map((key) => [key, inner(key)])
  return Array.isArray(shown) ? kept.map(([, each]) => each) : Object.fromEntries(kept)
}

const maxAgreedDepth = 20
const leftOut = '[left out by a format]'

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** The fields as JSON. A text is not cut: its end may belong to a secret, or to the count of what is missing in a message. */
function fieldsText(fields: Readonly<Record<string, unknown>>, { maxChars, redactor }: LineSetting): string {
  const mostChars = 4 * maxChars + 1_048_576
  let text = ''
  for (const key of Object.keys(fields)) {
    const value = redactor?.hides(key) ? redactor.hide() : readOrReason(fields, key)
    if (value === undefined) continue
    const written = typeof value === 'string' ? JSON.stringify(value) : jsonOf(value, { maxChars, redactor })
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${written}`
    if (text.length > mostChars) return `{${text},"[more]":true}`
  }
  return `{${text}}`
}

/** The errors whose JSON is `{}`: the line itself, and those among its fields. */
function errorsText(info: WinstonInfo, setting: LineSetting): string | undefined {
  let text = isError(info) && !hasJson(info) ? `"":${jsonOf(new ShownError(info), setting)}` : ''
  for (const key in info) {
    const value = readOrReason(info, key)
    if (typeof value !== 'object' || !isError(value) || hasJson(value)) continue
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${jsonOf(new ShownError(value), setting)}`
  }
  return text === '' ? undefined : `{${text}}`
}

/** True for an error that says itself what JSON shows of it. */
function hasJson(error: Error): boolean {
  return typeof readOrReason(error, 'toJSON') === 'function'
}

/** What JSON never shows of an error. Its fields are as the JSON of the line has them; of its causes and members only the code is shown. */
class ShownError {
  readonly type: string
  readonly message: string
  readonly stack: string
  readonly code?: string | number
  readonly cause?: unknown
  readonly errors?: readonly unknown[]

  constructor(error: Error, depth = 0) {
    this.type = nameOf(error)
    this.message = writtenMessage(error)
    this.stack = stackOf(error)
    if (depth === maxDepth) return
    const code = depth === 0 ? undefined : readOrReason(error, 'code')
    if (typeof code === 'string' || typeof code === 'number') this.code = code
    const inner = (each: unknown) => (isError(each) ? new ShownError(each, depth + 1) : textOf(each))
    const cause = causeOf(error)
    if (cause !== undefined) this.cause = inner(cause)
    const members = membersOf(error)
    if (members.length > 0) this.errors = members.slice(0, maxMembers).map(inner)
  }
}

const maxDepth = 10
const maxMembers = 20

/**
 * The line for the transport's own format. That gets a copy, and winston copies an error without its message, stack and cause; a child
 * logger of winston lays them out, too.
 */
export function laidOut(line: unknown): unknown {
  if (!isError(line)) return line
  const { message, stack, cause } = line
  return { ...line, message, stack, ...(cause === undefined ? {} : { cause }) }
}

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
  const severity = Math.round(4 - (4 * rank) / lowestRank(levels))
  // Ranks may be negative, all zero, or not numbers.
  return (Number.isNaN(severity) ? 4 : Math.min(5, Math.max(0, severity))) as Severity
}

const lowestRanks = new WeakMap<object, number>()

function lowestRank(levels: Readonly<Record<string, number>>): number {
  let lowest = lowestRanks.get(levels)
  if (lowest === undefined) {
    lowest = Object.values(levels).reduce((most, each) => Math.max(most, each), Number.NEGATIVE_INFINITY)
    lowestRanks.set(levels, lowest)
  }
  return lowest
}
