import type { MappedPinoLine, PinoMapping } from './from-pino.js'
import { type LevelNames, severityOfNumber } from './level.js'
import type { IsBase } from './pino-line.js'
import { isDigit, PlainFields } from './plain-fields.js'
import { inUnit, timeOf } from './time.js'

/** Reads a line of pino's that is plain; undefined for any other. */
export type PlainLineReader = (line: string, isBase: IsBase) => MappedPinoLine | undefined

/**
 * Lines as pino writes them most of the time: level, time and base as it is configured by default, then plain fields. What it returns is
 * what {@link pinoMapper} makes of the parsed line.
 */
export function plainLineReader(mapping: PinoMapping, names: LevelNames): PlainLineReader {
  const { messageKey = 'msg', context: style, maxMessageBytes, timestampUnit } = mapping
  if (style === 'logfmt' || special.has(messageKey)) return () => undefined
  let start: Start = { text: '', level: 0, time: 0, isKnown: () => true }
  const fields = new PlainFields(special)

  return (line, isBase) => {
    // V8's `startsWith` takes ten times as long, for texts of this length.
    if (start.text === '' || line.slice(0, start.text.length) !== start.text) {
      const another = readStart(line)
      if (another === undefined) return undefined
      start = another
    }
    // The message is no longer than what follows.
    if ((line.length - start.text.length) * 3 > maxMessageBytes) return undefined
    if (!start.isKnown(isBase) || !fields.read(line, { at: start.text.length, opening: ',' })) return undefined

    let messageAt = line.length - 1
    let messageEnd = messageAt
    let text = ''
    for (let index = 0; index < fields.count; index++) {
      if (fields.key(index) !== messageKey) continue
      const value = fields.value(line, index)
      if (value.charCodeAt(0) !== quote) return undefined
      messageAt = fields.start(index)
      messageEnd = fields.end(index)
      text = value.slice(1, -1)
    }
    const before = line.slice(start.text.length + 1, messageAt)
    const after = line.slice(before === '' ? messageEnd + 1 : messageEnd, -1)
    const context = style === 'none' || (before === '' && after === '') ? '' : `{${before}${after}}`
    const message = context === '' ? text : text === '' ? context : `${text} ${context}`
    const { level, time } = start
    return {
      number: level,
      severity: severityOfNumber(level),
      fields: { timeStamp: inUnit(time, timestampUnit), level: names.nameOf(level), message },
    }
  }
}

const beginning = '{"level":'
const levelAt = beginning.length
const beforeTime = ',"time":'
const timeAt = levelAt + 2 + beforeTime.length
const baseAt = timeAt + 13

const quote = '"'.charCodeAt(0)
const zero = '0'.charCodeAt(0)

/** What has a meaning of its own in a line. */
const special: ReadonlySet<string> = new Set(['level', 'time', 'pid', 'hostname', 'name', 'eventId', '__proto__'])

/** Level, time and base of a line: the same in all lines that a logger writes at one level in one millisecond. */
interface Start {
  readonly text: string
  readonly level: number
  /** In milliseconds. */
  readonly time: number
  /** Whether it is the base of the logger that wrote the line. */
  readonly isKnown: (isBase: IsBase) => boolean
}

const basePattern = /(?:,"pid":([1-9]\d{0,9}))?(?:,"hostname":"([^"]*)")?(?:,"name":"([^"]*)")?/y

function readStart(line: string): Start | undefined {
  const level = digits(line.slice(levelAt, levelAt + 2))
  const time = digits(line.slice(timeAt, baseAt))
  if (!line.startsWith(beginning) || level < 10 || time < 1e12 || !line.startsWith(beforeTime, levelAt + 2))
    return undefined
  basePattern.lastIndex = baseAt
  const [base, pid, hostname, name] = basePattern.exec(line)!
  const isBare = pid === undefined && hostname === undefined
  const isKnown = (isBase: IsBase) =>
    isBare ||
    ((pid === undefined || isBase('pid', Number(pid))) &&
      (hostname === undefined || isBase('hostname', hostname)) &&
      // Asked without a name, too: by that it is learned what the logger has.
      (isBase('name', name) || name === undefined))
  return { text: line.slice(0, baseAt + (isBare ? 0 : base.length)), level, time: timeOf(time)!, isKnown }
}

/** A whole number of nothing but digits; -1 for anything else. */
function digits(text: string): number {
  let number = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (!isDigit(code)) return -1
    number = number * 10 + code - zero
  }
  return number
}
