import { ContextCopier, type CopiedFields } from './context-copier.js'
import type { MessageStyle } from './message.js'
import { isDigit } from './plain-fields.js'
import type { Redactor } from './redactor.js'

const closeBrace = '}'.charCodeAt(0)
const lineFeed = '\n'.charCodeAt(0)
const minus = '-'.charCodeAt(0)
const openBrace = '{'.charCodeAt(0)
const quote = '"'.charCodeAt(0)
const space = ' '.charCodeAt(0)

/** A longer head, one with a very long name of a level, is left to the slow way. */
export const maxHeadBytes = 256
/** Whole numbers of up to this many bytes are safe integers. */
const maxEventBytes = 15
const eventMember = Buffer.from('","eventId":')
/** Room for the braces and spaces that a line does not have, and for bytes that are written before a line turns out to be too long. */
const spareBytes = 64

/** Places of the taken keys that every kind of line has. */
export const messagePlace = 0
const eventPlace = 1
/** Place of the first taken key that only some lines have. */
export const firstOwnPlace = 2

interface LogBodySetting {
  readonly style: MessageStyle
  readonly messageKey: string
  /** The fields of a line. The keys of message and event are taken besides. */
  readonly fields: CopiedFields
  /** The fields that all log records share, with the comma before them and the brace behind them. */
  readonly tail: Uint8Array
}

/** Writes bodies of log records from the bytes of plain lines: first {@link read}, then {@link write}. */
export class LogBody {
  /** Where values are in the line that was read. */
  readonly fields: ContextCopier
  readonly #hasContext: boolean
  readonly #redactor: Redactor | undefined
  readonly #maxMessageBytes: number
  readonly #tail: Uint8Array
  readonly #quotedTail: Uint8Array
  #contextStart = 0

  constructor({ style, messageKey, fields, tail }: LogBodySetting) {
    const { redactor } = style
    this.#redactor = redactor
    this.fields = new ContextCopier({ ...fields, taken: [messageKey, 'eventId', ...fields.taken], redactor })
    this.#hasContext = style.context !== 'none'
    this.#maxMessageBytes = style.maxMessageBytes
    this.#tail = tail
    this.#quotedTail = Buffer.concat([Buffer.of(quote), tail])
  }

  /** Most bytes that are written for a line of this length. */
  most(lineBytes: number): number {
    return (
      maxHeadBytes +
      2 * Math.min(lineBytes, this.#maxMessageBytes) +
      eventMember.length +
      this.#tail.length +
      spareBytes
    )
  }

  /**
   * Reads the fields of a line, from the byte before the first key on. Writes the context to the memory.
   *
   * @param end end of the line, if no line end stands before it
   * @param to end of the head in the memory
   * @returns false for a line that is not plain
   */
  read(from: number, end: number, to: number): boolean {
    const { fields } = this
    const { lines } = fields.buffers
    // The message is no longer than the fields, so it needs no cut.
    const stop = Math.min(end, from + this.#maxMessageBytes)
    if (!fields.copy(from, stop, to)) return false
    this.#contextStart = to
    const lineEnd = fields.at + 1
    if (lineEnd !== end && lines[lineEnd] !== lineFeed) return false
    if (this.#redactor?.mayHideText(lines, from, lineEnd)) return false
    const message = fields.starts[messagePlace]!
    return (message === 0 || lines[message] === quote) && this.#isEventWhole(lines)
  }

  /**
   * Writes the body of the line that was read.
   *
   * @param head all before the message
   * @returns the position behind the body
   */
  write(at: number, head: Uint8Array): number {
    const { fields } = this
    const { buffers } = fields
    const { memory } = buffers
    let to = at + head.length
    const contextBytes = this.#hasContext ? fields.to - this.#contextStart : 0
    const start = fields.starts[messagePlace]! + 1
    const bytes = start === 1 ? 0 : fields.ends[messagePlace]! - 1 - start
    const contextAt = contextBytes === 0 || bytes === 0 ? to + bytes : to + bytes + 1
    if (contextBytes > 0) {
      if (contextAt !== this.#contextStart) {
        memory.copyWithin(contextAt, this.#contextStart, this.#contextStart + contextBytes)
      }
      if (bytes > 0) memory[contextAt - 1] = space
      // In place of a comma.
      memory[contextAt] = openBrace
    }
    buffers.copy(start, start + bytes, to)
    memory.set(head, at)
    to = contextAt + contextBytes
    if (contextBytes > 0) memory[to++] = closeBrace
    const eventStart = fields.starts[eventPlace]!
    if (eventStart === 0) {
      memory.set(this.#quotedTail, to)
      return to + this.#quotedTail.length
    }
    memory.set(eventMember, to)
    to += eventMember.length
    buffers.copy(eventStart, fields.ends[eventPlace]!, to)
    to += fields.ends[eventPlace]! - eventStart
    memory.set(this.#tail, to)
    return to + this.#tail.length
  }

  #isEventWhole(lines: Buffer): boolean {
    const start = this.fields.starts[eventPlace]!
    const end = this.fields.ends[eventPlace]!
    if (start === 0) return true
    if (end - start > maxEventBytes) return false
    for (let at = lines[start] === minus ? start + 1 : start; at < end; at++) if (!isDigit(lines[at]!)) return false
    return true
  }
}
