import type { LineFacts, MappedLog } from './encode.js'
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
  /** True while the context comes from JSON and so has no values that JSON does not know. @default false */
  readonly isJson?: boolean
}

/** A line's level. */
export interface LineRank {
  readonly level: string
  /** True for a line below the option `level`: it is kept in case an error comes. @default false */
  readonly below?: boolean | undefined
}

/** A line of a logger, as far as options decide by it whether it is sent. */
export interface LineParts {
  readonly logger: unknown
  readonly level: string
  readonly text: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** Leaves lines out as they are mapped, and gathers the facts by which others are left out later. */
export interface LineFilter {
  /** False for a line that is left out. May add a field. */
  keeps(rank: LineRank, fields: Record<string, unknown>): boolean
  /** Stands for a line that is left out. */
  leftOut(level: string, severity: Severity): MappedLog
  /** Undefined where no option needs them. */
  factsOf(line: LineParts): LineFacts | undefined
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
  const fields =
    style === 'none' || isEmpty(line.context) ? '' : contextText(line, { style, maxChars: maxMessageBytes, redactor })
  const head = fields === '' ? text : text === '' ? fields : `${text} ${fields}`
  const whole = error === undefined || error === '' ? head : head === '' ? error : `${head}\n${error}`
  return cutToBytes(whole.isWellFormed() ? whole : whole.toWellFormed(), maxMessageBytes)
}

/** A message of any type as a text. */
export function messageText(message: unknown, maxMessageBytes: number, redactor?: Redactor): string {
  if (typeof message === 'string') return message
  if (message === undefined) return ''
  if (typeof message === 'symbol' || typeof message === 'bigint' || typeof message === 'number') return String(message)
  const json = jsonOf(message, { maxChars: maxMessageBytes, redactor })
  // A stand-in, for example of a function.
  return json.startsWith('"') ? (JSON.parse(json) as string) : json
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

function contextText(
  { context, isJson = false }: Line,
  { style, maxChars, redactor }: { style: 'json' | 'logfmt'; maxChars: number; redactor: Redactor | undefined },
): string {
  // Fields from JSON have been redacted where they were parsed.
  if (style === 'json') return isJson ? plainJson(context, maxChars) : jsonOf(context, { maxChars, redactor })
  const words: string[] = []
  let room = maxChars
  for (const [key, value] of Object.entries(context)) {
    if (value === undefined) continue
    if (room <= 0) break
    const shown = redactor?.hides(key) ? redactor.hide() : logfmtValue(value, maxChars, redactor)
    const name = redactor === undefined ? key : redactor.text(key)
    const word = `${name.replace(/[\s="]/g, '_')}=${shown}`
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
function logfmtValue(value: unknown, maxChars: number, redactor: Redactor | undefined): string {
  const written = typeof value === 'string' ? value : jsonOf(value, { maxChars, redactor })
  const text = typeof value === 'string' && redactor !== undefined ? redactor.text(written) : written
  return text === '' || !/^[^\s="\\]+$/.test(text) ? JSON.stringify(text) : text
}

function isEmpty(context: Readonly<Record<string, unknown>>): boolean {
  for (const key in context) if (context[key] !== undefined && Object.hasOwn(context, key)) return false
  return true
}

function mark(bytes: number): string {
  return `… [${bytes} bytes cut]`
}
