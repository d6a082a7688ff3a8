import { LevelNames, type Severity, severityOfNumber } from './level.js'
import { LogBody, maxHeadBytes } from './log-body.js'
import { anything, basePattern, declined, type IsBase, type PinoMapping } from './pino-line.js'
import { standsAt, zero } from './plain-bytes.js'
import { isDigit } from './plain-fields.js'

/** No base of a plain line is longer. */
const maxBaseBytes = 1024
const beginning = Buffer.from('{"level":')
const beforeTime = Buffer.from(',"time":')
const levelAt = beginning.length
const timeAt = levelAt + 2 + beforeTime.length
const timeDigits = 13
const baseAt = timeAt + timeDigits
const recordBeginning = '{"timeStamp":'
/** The first letters of pid and hostname. */
const p = 'p'.charCodeAt(0)
const h = 'h'.charCodeAt(0)

/** The logger's own fields behind the time, as the bytes of a line. */
interface Base {
  readonly bytes: Uint8Array
  /** True where pid and hostname are the logger's. The name is asked for in each line. */
  readonly isOwn: boolean
  readonly name: string | undefined
}

const noBase: Base = { bytes: Buffer.alloc(0), isOwn: true, name: undefined }

interface PinoBytesSetting {
  /** The fields that all log records share: {@link RecordEncoder.logTail}. */
  readonly tail: Uint8Array
  /** @default every such field is */
  readonly isBase?: IsBase | undefined
}

/**
 * Writes the bodies of log records from the bytes of plain lines of pino, without making a string of them. The result is equal to that of
 * `mapPinoLine`, `logHead` and the tail. Only the first line of each logger and level costs more.
 */
export class PinoBytes {
  /** Position of the end of the last line that was written. */
  lineEnd = 0
  /** pino's number of its level. */
  number = 0
  severity: Severity = 0
  readonly #isBase: IsBase
  readonly #names: LevelNames
  readonly #body: LogBody | undefined
  readonly #inSeconds: boolean
  /** The beginnings of records by level, with zeros in the place of the time. */
  readonly #heads: (Uint8Array | undefined)[] = []
  #base: Base = noBase

  constructor(mapping: PinoMapping, { tail, isBase = anything }: PinoBytesSetting) {
    const { messageKey = 'msg', errorKey = 'err' } = mapping
    this.#isBase = isBase
    this.#names = new LevelNames(mapping.labels)
    this.#inSeconds = mapping.timestampUnit === 's'
    const isPlain = mapping.context !== 'logfmt' && !declined.has(messageKey) && messageKey.isWellFormed()
    if (!isPlain) return
    this.#body = new LogBody({
      style: mapping,
      messageKey,
      fields: {
        opening: ',',
        taken: [],
        declined: [...declined].filter((key) => key !== 'eventId'),
        scalar: [errorKey, 'err', 'error'],
        nested: true,
      },
      tail,
    })
  }

  /** Most bytes that {@link write} needs for a line of so many bytes. */
  most(lineBytes: number): number {
    return this.#body?.most(lineBytes) ?? 0
  }

  /**
   * Writes the body for the line at a position. The bytes must be valid UTF-8.
   *
   * @param end end of the line, if no line end stands before it. The memory must have {@link most} bytes for all bytes before it.
   * @returns the position behind the body; -1 for a line that is not plain. Then the memory behind `at` is undefined.
   */
  write(lines: Buffer, from: number, end: number, memory: Buffer, at: number): number {
    const body = this.#body
    if (body === undefined || end - from <= baseAt) return -1
    const level = readLevel(lines, from)
    if (level === -1) return -1
    const baseStart = from + baseAt
    let base = this.#base
    if (!standsAt(lines, baseStart, base.bytes) || (base === noBase && startsBase(lines[baseStart + 2]!))) {
      base = readBase(lines, baseStart, end, this.#isBase)
      this.#base = base
    }
    const fieldsAt = baseStart + base.bytes.length
    const head = this.#heads[level] ?? this.#newHead(level)
    if (!base.isOwn || head.length > maxHeadBytes) return -1
    if (!body.read(lines, fieldsAt, end, memory, at + head.length)) {
      // The line may have a longer base that begins with the same bytes.
      this.#base = noBase
      return -1
    }
    // Asked for each line: `isBase` learns from it.
    if (base.bytes.length > 0 && !this.#isBase('name', base.name) && base.name !== undefined) return -1
    const written = body.write(memory, at, head)
    const timeTo = at + recordBeginning.length
    const digits = this.#inSeconds ? timeDigits - 3 : timeDigits
    for (let digit = 0; digit < digits; digit++) memory[timeTo + digit] = lines[from + timeAt + digit]!
    this.lineEnd = body.lineEnd
    this.number = level
    this.severity = severityOfNumber(level)
    return written
  }

  #newHead(level: number): Uint8Array {
    const time = '0'.repeat(this.#inSeconds ? timeDigits - 3 : timeDigits)
    const name = JSON.stringify(this.#names.nameOf(level))
    const head = Buffer.from(`${recordBeginning}${time},"level":${name},"message":"`)
    this.#heads[level] = head
    return head
  }
}

/** The number of a level with two digits, before a time of thirteen digits; -1 for any other beginning of a line. */
function readLevel(lines: Buffer, from: number): number {
  if (!standsAt(lines, from, beginning) || !standsAt(lines, from + levelAt + 2, beforeTime)) return -1
  const tens = lines[from + levelAt]!
  const ones = lines[from + levelAt + 1]!
  if (!isDigit(tens) || tens === zero || !isDigit(ones) || lines[from + timeAt] === zero) return -1
  for (let at = from + timeAt; at < from + baseAt; at++) if (!isDigit(lines[at]!)) return -1
  return (tens - zero) * 10 + ones - zero
}

function startsBase(letter: number): boolean {
  return letter === p || letter === h
}

function readBase(lines: Buffer, from: number, end: number, isBase: IsBase): Base {
  basePattern.lastIndex = 0
  const text = lines.toString('utf8', from, Math.min(end, from + maxBaseBytes))
  const [base, pid, hostname, name] = basePattern.exec(text)!
  if (pid === undefined && hostname === undefined) return noBase
  const isOwn =
    !escaped.test(base) &&
    (pid === undefined || isBase('pid', Number(pid))) &&
    (hostname === undefined || isBase('hostname', hostname))
  return { bytes: Buffer.from(base), isOwn, name }
}

/** An escape or a control character. */
const escaped = /[^\x20-\x5b\x5d-\uffff]/
