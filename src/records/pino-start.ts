import { basePattern, type IsBase } from './pino-line.js'
import { standsAt } from './plain-bytes.js'
import { isDigit } from './plain-fields.js'

/** No base of a plain line is longer. */
const maxBaseBytes = 1024
const beginning = Buffer.from('{"level":')
const beforeTime = Buffer.from(',"time":')
const levelAt = beginning.length
const timeAt = levelAt + 2 + beforeTime.length
const timeDigits = 13
/** Bytes of level and time. No line of pino is shorter. */
const baseAt = timeAt + timeDigits
const beforeRecordTime = '{"timeStamp":'
const zero = '0'.charCodeAt(0)

interface PinoStartSetting {
  /** The logger's own fields, with a comma before each. */
  readonly base: string
  /** True where pid and hostname are the logger's. */
  readonly isOwn: boolean
  /** The logger's name, if it is part of the base. */
  readonly name: string | undefined
  readonly levelName: string
  readonly unit: 'ms' | 's'
}

/** Level, time and base at the start of a line, as bytes: equal in all lines of a logger at one level in one millisecond. */
export class PinoStart {
  readonly length: number
  readonly isBare: boolean
  readonly isOwn: boolean
  readonly name: string | undefined
  /** The start of the record, up to the quote before its message. */
  readonly head: Uint8Array
  readonly #bytes: Buffer
  readonly #view: DataView
  readonly #shownDigits: number

  /** Made for the start of one line; {@link setTime} adapts it to others. */
  constructor(lines: Buffer, from: number, { base, isOwn, name, levelName, unit }: PinoStartSetting) {
    this.#bytes = Buffer.concat([lines.subarray(from, from + baseAt), Buffer.from(base)])
    this.#view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.length)
    this.length = this.#bytes.length
    this.isBare = base === ''
    this.isOwn = isOwn
    this.name = name
    this.#shownDigits = unit === 's' ? timeDigits - 3 : timeDigits
    const time = lines.toString('latin1', from + timeAt, from + timeAt + this.#shownDigits)
    this.head = Buffer.from(`${beforeRecordTime}${time},"level":${JSON.stringify(levelName)},"message":"`)
  }

  /** True for a line with the same start. At least {@link length} bytes must follow the position. */
  isAt(source: DataView, from: number): boolean {
    const last = this.length - 4
    const view = this.#view
    for (let at = 0; at < last; at += 4) {
      if (source.getInt32(from + at, true) !== view.getInt32(at, true)) return false
    }
    return source.getInt32(from + last, true) === view.getInt32(last, true)
  }

  /** Takes the time of a line that has another time alone. Returns false for any other line. */
  setTime(lines: Buffer, from: number): boolean {
    const bytes = this.#bytes
    if (levelOf(lines, from) === -1) return false
    for (let at = 0; at < this.length; at++) {
      if (lines[from + at] !== bytes[at] && (at < timeAt || at >= baseAt)) return false
    }
    for (let digit = 0; digit < timeDigits; digit++) {
      const byte = lines[from + timeAt + digit]!
      bytes[timeAt + digit] = byte
      if (digit < this.#shownDigits) this.head[beforeRecordTime.length + digit] = byte
    }
    return true
  }
}

/** A level of two digits, where a line begins with one; any number for other lines. */
export function writtenLevel(lines: Buffer, from: number): number {
  return (lines[from + levelAt]! - zero) * 10 + lines[from + levelAt + 1]! - zero
}

/** The level of a line that begins with a level of two digits and a time of thirteen; -1 for any other line. */
export function levelOf(lines: Buffer, from: number): number {
  if (!standsAt(lines, from, beginning) || !standsAt(lines, from + levelAt + 2, beforeTime)) return -1
  const tens = lines[from + levelAt]!
  const ones = lines[from + levelAt + 1]!
  if (!isDigit(tens) || tens === zero || !isDigit(ones) || lines[from + timeAt] === zero) return -1
  for (let at = from + timeAt; at < from + baseAt; at++) if (!isDigit(lines[at]!)) return -1
  return writtenLevel(lines, from)
}

/** The base of a line that {@link levelOf} knows. */
export function readBase(lines: Buffer, from: number, end: number, isBase: IsBase) {
  basePattern.lastIndex = 0
  const text = lines.toString('utf8', from + baseAt, Math.min(end, from + baseAt + maxBaseBytes))
  const [base, pid, hostname, name] = basePattern.exec(text)!
  if (pid === undefined && hostname === undefined) return { base: '', isOwn: true, name: undefined }
  const isOwn =
    !escaped.test(base) &&
    (pid === undefined || isBase('pid', Number(pid))) &&
    (hostname === undefined || isBase('hostname', hostname))
  return { base, isOwn, name }
}

/** An escape or a control character. */
const escaped = /[^\x20-\x5b\x5d-\uffff]/
