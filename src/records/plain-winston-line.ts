import type { MappedLog } from './encode.js'
import type { WinstonMapping } from './from-winston.js'
import type { Severity } from './level.js'
import { PlainFields } from './plain-fields.js'
import { inUnit, timeOf } from './time.js'

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
