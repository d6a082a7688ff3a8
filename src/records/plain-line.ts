import type { MappedLog } from './encode.js'
import { LevelNames, type Severity, severityOfName } from './level.js'
import { type IsOwn, isOfThisProcess } from './line-head.js'
import type { LineAbout, LineMapping } from './line-style.js'
import { digits, ownText, type PlainField, plainFields } from './plain-fields.js'
import { inUnit, timeOf } from './time.js'

/**
 * Most lines are plain ({@link plainFields}): the level and the time that the logger writes by default, a message, and a few fields. Their
 * context is cut out of the line, which needs no parser. The record is that of `fieldsMapper`.
 *
 * @returns undefined for a line that is not plain, and for every line where an option looks at the fields
 */
export function plainLineReader(mapping: LineMapping): (line: string, about: LineAbout) => MappedLog | undefined {
  const { context: style, maxMessageBytes, timestampUnit, redactor, control, messageKey = 'msg' } = mapping
  if (style === 'logfmt' || redactor !== undefined || control !== undefined) return () => undefined
  const isWinston = mapping.logger === 'winston'
  const reader = isWinston ? winstonReader(mapping) : pinoReader(mapping)
  const keyOfText = isWinston ? 'message' : messageKey
  if (reader.declined.has(keyOfText) || reader.isTaken(keyOfText)) return () => undefined

  return (line, about) => {
    // The message is no longer than the line, so it needs no cut.
    if (line.length * 3 > maxMessageBytes || about.errors !== undefined) return undefined
    const parts = plainFields(line, reader.declined)
    const head = parts && reader.head(line, parts, about)
    if (parts === undefined || head === undefined) return undefined
    const { level, number, severity, time } = head
    let text = ''
    let context = ''
    let at = 0
    for (const field of parts) {
      const { key, start, valueStart, end } = field
      if (key === keyOfText) {
        if (line.charCodeAt(valueStart) !== quote) return undefined
        text = line.slice(valueStart + 1, end - 1)
      } else if (!reader.isTaken(key, line, field)) continue
      context += line.slice(at, start)
      at = end
    }
    context += line.slice(at, -1)
    // Each piece begins with a comma or the line's brace.
    const shown = style === 'none' || context === '' || context === '{' ? '' : `{${context.slice(1)}}`
    const message = shown === '' ? text : text === '' ? shown : `${text} ${shown}`
    const { below, redacted } = about
    const isBelow = typeof below === 'function' ? below({ number, severity }) : below
    const fields = { timeStamp: inUnit(time, timestampUnit), level, message }
    return { fields, severity, below: isBelow || undefined, redacted: redacted || undefined }
  }
}

interface PlainHead {
  readonly level: string
  readonly number: number | undefined
  readonly severity: Severity
  readonly time: number
}

/** What is not the same for all loggers. */
interface PlainReader {
  /** A line with one of these keys is not plain. */
  readonly declined: ReadonlySet<string>
  head(line: string, fields: readonly PlainField[], about: LineAbout): PlainHead | undefined
  /** True for a field that is no part of the context. */
  isTaken(key: string, line?: string, field?: PlainField): boolean
}

function pinoReader({ labels, isOwn = isOfThisProcess }: LineMapping): PlainReader {
  const names = new LevelNames(labels)
  const isOwnText = { pid: remembering('pid', isOwn), hostname: remembering('hostname', isOwn) }
  return {
    declined: new Set(['eventId', '__proto__']),
    head(line, [first, second], about) {
      if (first?.key !== 'level' || second?.key !== 'time') return undefined
      const number = digits(line.slice(first.valueStart, first.end))
      const time = timeOf(digits(line.slice(second.valueStart, second.end)))
      if (number === -1 || time === undefined) return undefined
      return { level: names.nameOf(number), number, severity: about.severity ?? names.severityOf(number), time }
    },
    isTaken(key, line, field) {
      if (key === 'level' || key === 'time') return true
      if (key !== 'pid' && key !== 'hostname') return false
      return line === undefined || field === undefined || isOwnText[key](line.slice(field.valueStart, field.end))
    },
  }
}

/** Equal texts come in all lines of a logger. */
function remembering(key: 'pid' | 'hostname', isOwn: IsOwn): (text: string) => boolean {
  let last = ''
  let isLastOwn = false
  return (text) => {
    if (text !== last) {
      isLastOwn = isOwn(key, JSON.parse(text))
      last = ownText(text)
    }
    return isLastOwn
  }
}

function winstonReader({ level: told }: LineMapping): PlainReader {
  const severityTold = told === undefined ? undefined : severityOfName(told)
  return {
    declined: new Set(['stack', 'eventId', '__proto__', '@timestamp']),
    head(line, fields, { arrivedAt, severity = severityTold ?? 2 }) {
      if (told === undefined || !fields.some(({ key }) => key === 'message')) return undefined
      const written = fields.find(({ key }) => key === 'timestamp')
      const time = written === undefined ? arrivedAt : timeOf(JSON.parse(line.slice(written.valueStart, written.end)))
      return time === undefined ? undefined : { level: told, number: undefined, severity, time }
    },
    isTaken: (key) => key === 'level' || key === 'timestamp',
  }
}

const quote = '"'.charCodeAt(0)
