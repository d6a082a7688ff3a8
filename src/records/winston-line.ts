import type { MappedLog } from './encode.js'
import { isError } from './error-like.js'
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

/** The first lines are compared in full before a format is trusted, later lines now and then. */
const trials = 20
const sampleEvery = 1000

/**
 * Recognises lines of winston's json format that hold all of the `info`, so that the line is shipped as it is. A printf format may write
 * text of the same look. So the first lines are parsed and compared with `info`, later one line in a thousand; after one difference the
 * format is not trusted again.
 */
export class WrittenLines {
  #compared = 0
  #seen = 0
  #trusted = true

  /**
   * The line if it holds all of `info`, else undefined.
   *
   * @param untouched the logger's format is winston's default json: not every line is compared
   */
  of(info: WinstonInfo, untouched: boolean): string | undefined {
    const line = info[MESSAGE]
    if (!this.#trusted || typeof line !== 'string' || !looksWhole(line) || !isWrittenWhole(info)) return undefined
    const compare = !untouched || this.#compared < trials || ++this.#seen % sampleEvery === 0
    // JSON without an inner bracket holds no object. A format that removes objects is found by a look at the fields.
    if ((compare || mayHideSomething(line)) && !isFlat(info)) return undefined
    if (compare) {
      this.#compared++
      this.#trusted = saysAll(line, info)
      if (!this.#trusted) return undefined
    }
    return line
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
  { level, severity, arrivedAt }: WinstonLine,
): MappedLog {
  const info = { ...(JSON.parse(line) as Record<string, unknown>), [LEVEL]: level }
  return { fields: map(info, { arrivedAt }).fields, severity }
}

function looksWhole(line: string): boolean {
  return (
    line.charCodeAt(0) === openBrace && line.charCodeAt(line.length - 1) === closeBrace && line.indexOf('\n') === -1
  )
}

/** True where the line has JSON of an object, or null in the place of a number. winston shows no functions and symbols at all. */
function mayHideSomething(line: string): boolean {
  return line.indexOf('{', 1) !== -1 || line.indexOf('[', 1) !== -1 || line.indexOf(':null') !== -1
}

/** True where `info` is no more than its fields. winston adds the fields of one object after the message, and nothing else. */
function isWrittenWhole(info: WinstonInfo): boolean {
  if (isError(info) || isMessageDecorated(info)) return false
  const splat = info[SPLAT]
  if (!Array.isArray(splat) || splat.length === 0) return true
  return splat.length === 1 && isFields(splat[0]) && !(typeof info.message === 'string' && tokens.test(info.message))
}

/** True where JSON loses nothing: no objects, no NaN and no Infinity. */
function isFlat(info: WinstonInfo): boolean {
  for (const key in info) {
    const value = info[key]
    const type = typeof value
    if (type === 'string' || type === 'boolean' || value === null) continue
    if (type !== 'number' || !Number.isFinite(value)) return false
  }
  return true
}

function saysAll(line: string, info: WinstonInfo): boolean {
  try {
    const written = JSON.parse(line) as Record<string, unknown>
    const keys = Object.keys(info)
    return keys.length === Object.keys(written).length && keys.every((key) => Object.is(written[key], info[key]))
  } catch {
    return false
  }
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
}

/** Reads a plain line of winston; undefined for any other. */
export type PlainWinstonReader = (line: string, about: WinstonLine) => MappedLog | undefined

/** Most lines of winston's json format are plain ({@link plainFields}). The result is that of {@link mapParsedLine}. */
export function plainWinstonReader(mapping: WinstonMapping): PlainWinstonReader {
  const { context: style, maxMessageBytes, timestampUnit } = mapping
  if (style === 'logfmt') return () => undefined

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
