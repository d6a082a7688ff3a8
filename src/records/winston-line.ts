import type { MappedLog } from './encode.js'
import { isError } from './error-like.js'
import type { Severity } from './level.js'
import { PlainFields } from './plain-fields.js'
import { inUnit, timeOf } from './time.js'
import { isMessageDecorated, type WinstonInfo, type WinstonMapping, winstonMapper } from './winston-info.js'

const LEVEL = Symbol.for('level')
const MESSAGE = Symbol.for('message')
const SPLAT = Symbol.for('splat')

/** Lines that are compared in full before a format is trusted, and one in how many afterwards. */
const trials = 20
const sampleEvery = 1000

/**
 * Recognises lines for which winston's json format has already written all that there is to ship, so that nothing need be written
 * again. A printf format may write what merely looks like it; so the first lines are read back and compared with what was
 * logged, then one in a thousand, and a format that differs once is never trusted.
 */
export class WrittenLines {
  #compared = 0
  #seen = 0
  #trusted = true

  /**
   * The line, if it says all that `info` does; else undefined.
   *
   * @param untouched the format is winston's own json and nothing else: what it has written need not be compared each time
   */
  of(info: WinstonInfo, untouched: boolean): string | undefined {
    const line = info[MESSAGE]
    if (!this.#trusted || typeof line !== 'string' || !looksWhole(line) || !isWrittenWhole(info)) return undefined
    const compare = !untouched || this.#compared < trials || ++this.#seen % sampleEvery === 0
    // JSON without a bracket inside has no object in it; only a format that keeps objects back is caught by looking at the fields.
    if ((compare || mayHideSomething(line)) && !isFlat(info)) return undefined
    if (compare) {
      this.#compared++
      this.#trusted = saysAll(line, info)
      if (!this.#trusted) return undefined
    }
    return line
  }
}

/** Maps lines that {@link WrittenLines} has recognised. Throws whatever the line makes the mapping throw. */
export function winstonLineMapper(mapping: WinstonMapping) {
  const plain = plainWinstonReader(mapping)
  const map = winstonMapper(mapping)
  return (line: string, about: WinstonLine): MappedLog => plain(line, about) ?? mapParsedLine(map, line, about)
}

/** Map a line by parsing it. */
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

/** JSON of an object, or of a number that it does not know. What it leaves out (functions, symbols) winston itself shows nowhere. */
function mayHideSomething(line: string): boolean {
  return line.indexOf('{', 1) !== -1 || line.indexOf('[', 1) !== -1 || line.indexOf(':null') !== -1
}

/** Whether the line has no more to it than its fields: winston lays one object of them among the line's own, and nothing else. */
function isWrittenWhole(info: WinstonInfo): boolean {
  if (isError(info) || isMessageDecorated(info)) return false
  const splat = info[SPLAT]
  if (!Array.isArray(splat) || splat.length === 0) return true
  return splat.length === 1 && isFields(splat[0]) && !(typeof info.message === 'string' && tokens.test(info.message))
}

/** Whether JSON loses nothing of it: no objects, no numbers that it does not know. */
function isFlat(info: WinstonInfo): boolean {
  for (const key in info) {
    const value = info[key]
    const type = typeof value
    if (type === 'string' || type === 'boolean' || value === null) continue
    if (type !== 'number' || !Number.isFinite(value)) return false
  }
  return true
}

function isFields(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !isError(value) && Object.keys(value).length > 0
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

/** With one of these in the message winston lays nothing among the fields. */
const tokens = /%[scdjifoO%]/

const openBrace = '{'.charCodeAt(0)
const closeBrace = '}'.charCodeAt(0)

/** What is known of a line of winston's without reading it. */
export interface WinstonLine {
  /** The clean name of its level. */
  readonly level: string
  readonly severity: Severity
  /** Milliseconds since 1970. */
  readonly arrivedAt: number
}

/** Reads a line of winston's that is plain; undefined for any other. */
export type PlainWinstonReader = (line: string, about: WinstonLine) => MappedLog | undefined

/**
 * Lines as winston's json format writes them most of the time: plain fields, level, message and time among them. What it returns is
 * what the mapper of winston makes of the parsed line.
 */
export function plainWinstonReader(mapping: WinstonMapping): PlainWinstonReader {
  const { context: style, maxMessageBytes, timestampUnit } = mapping
  if (style === 'logfmt') return () => undefined
  const fields = new PlainFields(special)

  return (line, { level, severity, arrivedAt }) => {
    // The message is no longer than the line.
    if (line.length * 3 > maxMessageBytes || !fields.read(line, { at: 0, opening: '{' }) || fields.count === 0)
      return undefined
    let time = arrivedAt
    let text = ''
    let context = ''
    let at = 0
    for (let index = 0; index < fields.count; index++) {
      const key = fields.key(index)
      if (key !== 'level' && key !== 'message' && key !== 'timestamp') continue
      context += line.slice(at, fields.start(index))
      at = fields.end(index)
      if (key === 'level') continue
      const value = JSON.parse(fields.value(line, index)) as unknown
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
    // Of the pieces each brings the comma or brace before it.
    const shown = style === 'none' || context === '' || context === '{' ? '' : `{${context.slice(1)}}`
    const message = shown === '' ? text : text === '' ? shown : `${text} ${shown}`
    return { fields: { timeStamp: inUnit(time, timestampUnit), level, message }, severity }
  }
}

/** What has a meaning of its own in a line. */
const special: ReadonlySet<string> = new Set(['stack', 'eventId', '__proto__'])
