import type { MappedPinoLine, PinoMapping } from './from-pino.js'
import { type LevelNames, severityOfNumber } from './level.js'
import type { IsBase } from './pino-line.js'
import { inUnit, timeOf } from './time.js'

/** Reads a line of pino's that is plain; undefined for any other. */
export type PlainLineReader = (line: string, isBase: IsBase) => MappedPinoLine | undefined

/** More fields than this, and each costs too much to be told from the others. */
const maxFields = 32

/**
 * Lines as pino writes them most of the time: level, time and base as it is configured by default, then fields of which each is a text,
 * a number, true, false or null. Of such a line the message and the context are pieces, to be cut out without parsing the line and writing
 * the context anew, at a quarter of the cost.
 *
 * What it returns is what {@link pinoMapper} makes of the parsed line. Therefore a line is left to the parser when it has in it an escape,
 * a control character, or half of a character; a field that the parser would see twice, move to the front (`"1"`), or give a meaning of its
 * own; a number that JavaScript would write in another way; or an object.
 */
export function plainLineReader(mapping: PinoMapping, names: LevelNames): PlainLineReader {
  const { messageKey = 'msg', context: style, maxMessageBytes, timestampUnit } = mapping
  if (style === 'logfmt' || special.has(messageKey)) return () => undefined
  let base: Base = { text: '', isKnown: () => true }
  const keys: string[] = []

  return (line, isBase) => {
    if (!line.startsWith(beginning) || line.charCodeAt(line.length - 1) !== closeBrace || odd.test(line))
      return undefined
    const level = digits(line.slice(levelAt, levelAt + 2))
    const time = digits(line.slice(timeAt, baseAt))
    if (level < 10 || time < 1e12 || !line.startsWith(beforeTime, levelAt + 2)) return undefined
    if (base.text === '' || !line.startsWith(base.text, baseAt)) base = readBase(line)
    if (!base.isKnown(isBase)) return undefined

    const fieldsAt = baseAt + base.text.length
    let messageAt = line.length - 1
    let messageEnd = messageAt
    let text = ''
    let at = fieldsAt
    keys.length = 0
    while (line.charCodeAt(at) === comma) {
      const keyEnd = line.indexOf('"', at + 2)
      if (line.charCodeAt(at + 1) !== quote || line.charCodeAt(keyEnd + 1) !== colon) return undefined
      const key = line.slice(at + 2, keyEnd)
      const end = endOfScalar(line, keyEnd + 2)
      if (end === -1 || !isPlain(key) || keys.includes(key) || keys.push(key) > maxFields) return undefined
      if (key === messageKey) {
        if (line.charCodeAt(keyEnd + 2) !== quote) return undefined
        messageAt = at
        messageEnd = end
        text = line.slice(keyEnd + 3, end - 1)
      }
      at = end
    }
    if (at !== line.length - 1) return undefined

    const before = line.slice(fieldsAt + 1, messageAt)
    const after = line.slice(before === '' ? messageEnd + 1 : messageEnd, -1)
    const fields = style === 'none' || (before === '' && after === '') ? '' : `{${before}${after}}`
    const message = fields === '' ? text : text === '' ? fields : `${text} ${fields}`
    if (message.length * 3 > maxMessageBytes) return undefined
    return {
      number: level,
      severity: severityOfNumber(level),
      fields: { timeStamp: inUnit(timeOf(time)!, timestampUnit), level: names.nameOf(level), message },
    }
  }
}

const beginning = '{"level":'
const levelAt = beginning.length
const beforeTime = ',"time":'
const timeAt = levelAt + 2 + beforeTime.length
const baseAt = timeAt + 13

const quote = '"'.charCodeAt(0)
const comma = ','.charCodeAt(0)
const colon = ':'.charCodeAt(0)
const closeBrace = '}'.charCodeAt(0)
const minus = '-'.charCodeAt(0)
const zero = '0'.charCodeAt(0)
const nine = '9'.charCodeAt(0)

/** An escape, a control character, half of a character outside the first plane. */
const odd = /[^\x20-\x5b\x5d-\ud7ff\ue000-\uffff]/

/** What has a meaning of its own in a line. */
const special: ReadonlySet<string> = new Set(['level', 'time', 'pid', 'hostname', 'name', 'eventId', '__proto__'])

/** Whether it stays where it is: a key that is a whole number would come first. */
function isPlain(key: string): boolean {
  return !special.has(key) && !isDigit(key.charCodeAt(0))
}

/** The base of a logger as it stands in a line: the same in all of its lines. */
interface Base {
  readonly text: string
  readonly isKnown: (isBase: IsBase) => boolean
}

const basePattern = /(?:,"pid":([1-9]\d{0,9}))?(?:,"hostname":"([^"]*)")?(?:,"name":"([^"]*)")?/y

function readBase(line: string): Base {
  basePattern.lastIndex = baseAt
  const [text, pid, hostname, name] = basePattern.exec(line)!
  if (pid === undefined && hostname === undefined) return { text: '', isKnown: () => true }
  const isKnown = (isBase: IsBase) =>
    (pid === undefined || isBase('pid', Number(pid))) &&
    (hostname === undefined || isBase('hostname', hostname)) &&
    // Asked without a name, too: by that it is learned what the logger has.
    (isBase('name', name) || name === undefined)
  return { text, isKnown }
}

/** Where the text, number, true, false or null ends that begins there; -1 when JavaScript would write it in another way. */
function endOfScalar(line: string, from: number): number {
  const first = line.charCodeAt(from)
  if (first === quote) return line.indexOf('"', from + 1) + 1 || -1
  if (isDigit(first) || (first === minus && isDigit(line.charCodeAt(from + 1)))) return endOfNumber(line, from)
  const word = words.find((each) => line.startsWith(each, from))
  return word === undefined ? -1 : from + word.length
}

const words = ['true', 'false', 'null'] as const

function endOfNumber(line: string, from: number): number {
  let end = from
  while (isDigit(line.charCodeAt(end))) end++
  const next = line.charCodeAt(end)
  const ends = next === comma || next === closeBrace
  if (ends && end - from < 16 && (end - from === 1 || line.charCodeAt(from) !== zero)) return end
  while (line.charCodeAt(end) !== comma && line.charCodeAt(end) !== closeBrace) end++
  const written = line.slice(from, end)
  return String(Number(written)) === written ? end : -1
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

function isDigit(code: number): boolean {
  return code >= zero && code <= nine
}
