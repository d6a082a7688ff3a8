import type { MappedLog } from './encode.js'
import { jsonOf } from './json-text.js'
import type { Severity } from './level.js'
import type { Redactor } from './redactor.js'

/** How fields without a place in the API follow the message. */
type ContextStyle = 'json' | 'logfmt' | 'none'

/** The parts of a line that become the record's `message`. */
export interface Line {
  readonly text: string
  /** The fields besides the text; empty if there are none. */
  readonly context: Readonly<Record<string, unknown>>
  /** Stacks and causes of the line's errors. */
  readonly error: string | undefined
}

/** A line's level. */
export interface LineRank {
  readonly level: string
  /** True for a line below the option `level`: it is kept in case an error comes. @default false */
  readonly below?: boolean | undefined
}

/** Leaves lines out as they are mapped, and finds the id by which others are kept. */
export interface LineFilter {
  /** False for a line that is left out. May add a field. */
  keeps(rank: LineRank, fields: Record<string, unknown>): boolean
  /** Stands for a line that is left out. */
  leftOut(level: string, severity: Severity): MappedLog
  /** Id of the request or trace; undefined where no option needs it. */
  idOf(fields: Readonly<Record<string, unknown>>): string | undefined
}

export interface MessageStyle {
  readonly context: ContextStyle
  readonly maxMessageBytes: number
  /** @default nothing is hidden */
  readonly redactor?: Redactor | undefined
  /** @default no line is left out */
  readonly control?: LineFilter | undefined
}

/** The message of a record: text and context on one line, then the errors. It is cut to `maxMessageBytes`. */
export function messageOf(line: Line, { context: style, maxMessageBytes, redactor }: MessageStyle): string {
  const { error } = line
  const text = redactor === undefined ? line.text : redactor.text(line.text)
  const fields = style === 'none' || isEmpty(line.context) ? '' : contextText(line, style, maxMessageBytes)
  const head = fields === '' ? text : text === '' ? fields : `${text} ${fields}`
  const whole = error === undefined || error === '' ? head : head === '' ? error : `${head}\n${error}`
  return cutToBytes(whole.isWellFormed() ? whole : whole.toWellFormed(), maxMessageBytes)
}

/** A message of any type as a text. */
export function messageText(message: unknown, maxMessageBytes: number): string {
  if (typeof message === 'string') return message
  if (message === undefined) return ''
  if (typeof message === 'number') return String(message)
  return jsonOf(message, { maxChars: maxMessageBytes })
}

/** Cuts a text to at most `maxBytes` of UTF-8, between characters, with a mark that gives the missing bytes. */
export function cutToBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxBytes) return text
  const room = Math.max(0, maxBytes - Buffer.byteLength(mark(bytes)))
  const { read } = new TextEncoder().encodeInto(text.slice(0, room), new Uint8Array(room))
  const kept = text.slice(0, read)
  return kept + mark(bytes - Buffer.byteLength(kept))
}

/** The context has been redacted where it was parsed. */
function contextText({ context }: Line, style: 'json' | 'logfmt', maxChars: number): string {
  if (style === 'json') return plainJson(context, maxChars)
  const words: string[] = []
  let room = maxChars
  for (const [key, value] of Object.entries(context)) {
    if (value === undefined) continue
    if (room <= 0) break
    const word = `${key.replace(/[\s="]/g, '_')}=${logfmtValue(value, maxChars)}`
    words.push(word)
    room -= word.length
  }
  return words.join(' ')
}

function plainJson(context: object, maxChars: number): string {
  try {
    return JSON.stringify(context)
  } catch {
    // The fields are thousands of levels deep.
    return jsonOf(context, { maxChars })
  }
}

/** A value of logfmt: bare if it can be, else quoted with JSON's escapes. Objects are JSON. */
function logfmtValue(value: unknown, maxChars: number): string {
  const text = typeof value === 'string' ? value : jsonOf(value, { maxChars })
  return text === '' || !/^[^\s="\\]+$/.test(text) ? JSON.stringify(text) : text
}

function isEmpty(context: Readonly<Record<string, unknown>>): boolean {
  for (const key in context) if (context[key] !== undefined && Object.hasOwn(context, key)) return false
  return true
}

function mark(bytes: number): string {
  return `… [${bytes} bytes cut]`
}
