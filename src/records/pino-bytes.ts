import { LevelNames, type Severity } from './level.js'
import { LogBody, maxHeadBytes } from './log-body.js'
import { anything, declined, type IsBase, type PinoMapping } from './pino-line.js'
import { levelOf, PinoStart, readBase, writtenLevel } from './pino-start.js'

interface PinoBytesSetting {
  /** The fields that all log records share: {@link RecordEncoder.logTail}. */
  readonly tail: Uint8Array
  /** @default every such field is */
  readonly isBase?: IsBase | undefined
}

/**
 * Writes the bodies of log records from the bytes of plain lines of pino, without making a string of them. The result is equal to that of
 * `mapPinoLine`, `logHead` and the tail. The first line of each level costs more, and the first one of each millisecond a little.
 */
export class PinoBytes {
  /** pino's number of its level. */
  number = 0
  severity: Severity = 0
  readonly #isBase: IsBase
  readonly #names: LevelNames
  readonly #unit: 'ms' | 's'
  readonly #body: LogBody | undefined
  /** The last start of a line by level. */
  readonly #starts = new Array<PinoStart | undefined>(100).fill(undefined)

  constructor(mapping: PinoMapping, { tail, isBase = anything }: PinoBytesSetting) {
    const { messageKey = 'msg', errorKey = 'err' } = mapping
    this.#isBase = isBase
    this.#names = new LevelNames(mapping.labels)
    this.#unit = mapping.timestampUnit
    const isPlain = mapping.context !== 'logfmt' && !declined.has(messageKey) && messageKey.isWellFormed()
    if (!isPlain) return
    const fields = {
      opening: ',',
      taken: [],
      declined: [...declined].filter((key) => key !== 'eventId'),
      scalar: [errorKey, 'err', 'error'],
      nested: true,
    } as const
    this.#body = new LogBody({ style: mapping, messageKey, fields, tail })
  }

  /** Name of its level. */
  get level(): string {
    return this.#names.nameOf(this.number)
  }

  /** Most bytes that {@link write} needs for a line of this length. */
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
    if (body === undefined) return -1
    const { buffers } = body.fields
    buffers.open(lines, memory)
    const level = writtenLevel(lines, from)
    let start = this.#starts[level]
    if (start === undefined || from + start.length >= end || !start.isAt(buffers.source, from)) {
      start = this.#anotherStart(lines, from, end)
    }
    if (start === undefined || !start.isOwn) return -1
    const { head } = start
    if (!body.read(from + start.length, end, at + head.length)) {
      // The line may have a longer base that begins with the same bytes.
      this.#starts[level] = undefined
      return -1
    }
    // Asked for each line: `isBase` learns from it.
    if (!start.isBare && !this.#isBase('name', start.name) && start.name !== undefined) return -1
    const to = body.write(at, head)
    this.number = level
    this.severity = this.#names.severityOf(level)
    return to
  }

  #anotherStart(lines: Buffer, from: number, end: number): PinoStart | undefined {
    const level = levelOf(lines, from)
    if (level === -1) return undefined
    const last = this.#starts[level]
    if (last?.setTime(lines, from)) return last
    const levelName = this.#names.nameOf(level)
    const start = new PinoStart(lines, from, {
      ...readBase(lines, from, end, this.#isBase),
      levelName,
      unit: this.#unit,
    })
    this.#starts[level] = start.head.length <= maxHeadBytes ? start : undefined
    return this.#starts[level]
  }
}
