import type { ContextCopier } from './context-copier.js'
import { firstOwnPlace, LogBody, maxHeadBytes, messagePlace } from './log-body.js'
import { standsAt } from './plain-bytes.js'
import { inUnit, timeOf } from './time.js'
import type { WinstonMapping } from './winston-info.js'
import { declined, type WinstonLine } from './winston-line.js'

const levelPlace = firstOwnPlace
const timestampPlace = firstOwnPlace + 1
/** The beginning of a coloured text. */
const colour = Buffer.from(String.raw`"\u001b`)

/**
 * Writes the bodies of log records from the bytes of plain lines of winston's json format, without making a string of them. The result is
 * equal to that of `winstonLineMapper`, `logHead` and the tail.
 */
export class WinstonBytes {
  readonly #body: LogBody | undefined
  readonly #unit: 'ms' | 's'
  /** The start of the last record. */
  #head: Uint8Array = Buffer.alloc(0)
  #level: string | undefined
  #time = 0
  /** The last text of a timestamp with its quotes, and its time. */
  #written: Uint8Array = Buffer.alloc(0)
  #writtenTime: number | undefined

  /** @param tail the fields that all log records share: `RecordEncoder.logTail` */
  constructor(mapping: WinstonMapping, tail: Uint8Array) {
    this.#unit = mapping.timestampUnit
    if (mapping.context === 'logfmt') return
    const fields = {
      opening: '{',
      taken: ['level', 'timestamp'],
      declined: [...declined].filter((key) => key !== 'eventId'),
      scalar: [],
      nested: false,
    } as const
    this.#body = new LogBody({ style: mapping, messageKey: 'message', fields, tail })
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
  write(
    lines: Buffer,
    from: number,
    end: number,
    memory: Buffer,
    at: number,
    { level, arrivedAt }: Pick<WinstonLine, 'level' | 'arrivedAt'>,
  ): number {
    const body = this.#body
    if (body === undefined) return -1
    const { fields } = body
    fields.buffers.open(lines, memory)
    if (!body.read(from, end, at + this.#head.length)) return -1
    if (isColoured(lines, fields.starts[levelPlace]!) || isColoured(lines, fields.starts[messagePlace]!)) return -1
    const time = fields.starts[timestampPlace] === 0 ? arrivedAt : this.#timestamp(fields)
    if (time === undefined || !this.#setHead(time, level)) return -1
    return body.write(at, this.#head)
  }

  #timestamp({ buffers: { lines }, starts, ends }: ContextCopier): number | undefined {
    const start = starts[timestampPlace]!
    const end = ends[timestampPlace]!
    if (end - start !== this.#written.length || !standsAt(lines, start, this.#written)) {
      this.#written = Buffer.from(lines.subarray(start, end))
      this.#writtenTime = timeOf(JSON.parse(lines.toString('utf8', start, end)))
    }
    return this.#writtenTime
  }

  /** Returns false for a head that is too long. */
  #setHead(time: number, level: string): boolean {
    if (time === this.#time && level === this.#level) return true
    const head = Buffer.from(`{"timeStamp":${inUnit(time, this.#unit)},"level":${JSON.stringify(level)},"message":"`)
    if (head.length > maxHeadBytes) return false
    this.#head = head
    this.#time = time
    this.#level = level
    return true
  }
}

/** @param start of a value, or 0 for none */
function isColoured(lines: Buffer, start: number): boolean {
  return start > 0 && standsAt(lines, start, colour)
}
