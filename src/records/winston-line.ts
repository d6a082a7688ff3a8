import type { MappedLog } from './encode.js'
import { isError } from './error-like.js'
import { FlatJson } from './flat-json.js'
import type { Severity } from './level.js'
import { plainFields } from './plain-fields.js'
import { inUnit, timeOf } from './time.js'
import {
  isFields,
  isMessageDecorated,
  tokens,
  type WinstonInfo,
  type WinstonMapping,
  winstonMapper,
} from './winston-info.js'

const LEVEL = Symbol.for('level')
const MESSAGE = Symbol.for('message')
const SPLAT = Symbol.for('splat')

/** Recognises lines of winston's json format that hold all of the `info`, so that the line is shipped as it is. */
export class WrittenLines {
  readonly #flatJson = new FlatJson()

  /**
   * The line if it holds all of `info`, else undefined.
   *
   * @param isJson the line comes from winston's json format, without options. A printf format may write text of the same look, so any
   *   other line is compared with `info`, character by character
   */
  of(info: WinstonInfo, isJson: boolean): string | undefined {
    const line = info[MESSAGE]
    if (typeof line !== 'string' || !looksWhole(line) || !isWrittenWhole(info)) return undefined
    const isWhole = isJson ? hidesNothing(info, line) : this.#flatJson.isOf(info, line)
    return isWhole ? line : undefined
  }
}

/** Maps lines that {@link WrittenLines} has recognised. Throws what the mapping throws. */
export function winstonLineMapper(mapping: WinstonMapping) {
  const plain = plainWinstonReader(mapping)
  const map = winstonMapper(mapping)
  return (line: string, about: WinstonLine): MappedLog => plain(line, about) ?? mapParsedLine(map, line, about)
}

/** Maps a line by parsing it. */
export function mapParsedLine(
  map: ReturnType<typeof winstonMapper>,
  line: string,
  { level, severity, arrivedAt, below }: WinstonLine,
): MappedLog {
  const info = { ...(JSON.parse(line) as Record<string, unknown>), [LEVEL]: level }
  return { ...map(info, { arrivedAt, below }), severity }
}

function looksWhole(line: string): boolean {
  return (
    line.charCodeAt(0) === openBrace && line.charCodeAt(line.length - 1) === closeBrace && line.indexOf('\n') === -1
  )
}

/** True where `info` is no more than its fields. winston adds the fields of one object after the message, and nothing else. */
function isWrittenWhole(info: WinstonInfo): boolean {
  if (isError(info) || isMessageDecorated(info)) return false
  const splat = info[SPLAT]
  if (!Array.isArray(splat) || splat.length === 0) return true
  const { message } = info
  const hasTokens = typeof message === 'string' && message.indexOf('%') !== -1 && tokens.test(message)
  return splat.length === 1 && !hasTokens && isFields(splat[0])
}

/** True where the JSON of winston loses nothing of the fields: an object may have more than is shown, if a bracket shows it as an object. */
function hidesNothing(info: WinstonInfo, line: string): boolean {
  let hasObject = false
  for (const key in info) {
    const value = info[key]
    const type = typeof value
    if (type === 'string' || type === 'boolean' || value === null) continue
    if (type === 'function' || type === 'symbol' || (type === 'number' && !Number.isFinite(value))) return false
    hasObject ||= type === 'object'
  }
  return !hasObject || (line.indexOf('{', 1) === -1 && line.indexOf('[', 1) === -1 && line.indexOf(':null') === -1)
}

const openBrace = '{'.charCodeAt(0)
const closeBrace = '}'.charCodeAt(0)

/** Facts about a line of winston that are known without reading it. */
export interface WinstonLine {
  /** Name of the level, without colours. */
  readonly level: string
  readonly severity: Severity
  /** Milliseconds since 1970. */
  readonly arrivedAt: number
  /** True for a line below the option `level`: it is kept in case an error comes. @default false */
  readonly below?: boolean
}

/** Reads a plain line of winston; undefined for any other. */
export type PlainWinstonReader = (line: string, about: WinstonLine) => MappedLog | undefined

/** Most lines of winston's json format are plain ({@link plainFields}). The result is that of {@link mapParsedLine}. */
export function plainWinstonReader(mapping: WinstonMapping): PlainWinstonReader {
  const { context: style, maxMessageBytes, timestampUnit, redactor, control } = mapping
  if (style === 'logfmt' || redactor !== undefined || control !== undefined) return () => undefined

  return (line, { level, severity, arrivedAt }) => {
    // The message is no longer than the line, so it needs no cut.
    if (line.length * 3 > maxMessageBytes) return undefined
    const fields = plainFields(line, { at: 0, opening: '{', declined })
    if (fields === undefined || fields.length === 0) return undefined
    let time = arrivedAt
    let text = ''
    let context = ''
    let at = 0
    for (const { key, start, valueStart, end } of fields) {
      if (key !== 'level' && key !== 'message' && key !== 'timestamp') continue
      context += line.slice(at, start)
      at = end
      if (key === 'level') continue
      const value = JSON.parse(line.slice(valueStart, end)) as unknown
      if (key === 'message') {
        if (typeof value !== 'string') return undefined
        text = value
      } else {
        const written = timeOf(value)
        if (written === undefined) return undefined
        time = written
      }
    }
    context += line.slice(at, -1)
    // Each piece begins with a comma or the line's brace.
    const shown = style === 'none' || context === '' || context === '{' ? '' : `{${context.slice(1)}}`
    const message = shown === '' ? text : text === '' ? shown : `${text} ${shown}`
    return { fields: { timeStamp: inUnit(time, timestampUnit), level, message }, severity }
  }
}

/** Keys with a meaning of their own in a line. */
export const declined: ReadonlySet<string> = new Set(['stack', 'eventId', '__proto__'])
