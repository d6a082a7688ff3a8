import { isDigit } from './plain-fields.js'
import { inUnit } from './time.js'

const maxEventDigits = 16
/** The names of two fields, and a number. */
const maxHeadBytes = 64
/** Longer numbers may not be safe. */
const maxDigits = 15
const comma = ','.charCodeAt(0)
const lineFeed = '\n'.charCodeAt(0)
const zero = '0'.charCodeAt(0)

interface ValueBytesSetting {
  /** The fields that all value records share: `RecordEncoder.valueTail`. */
  readonly tail: Uint8Array
  readonly timestampUnit: 'ms' | 's'
}

/** Writes the bodies of value records as bytes, equal to those of `RecordEncoder.value`. */
export class ValueBytes {
  /** Most bytes that a body has. */
  readonly most: number
  readonly #tail: Uint8Array
  readonly #unit: 'ms' | 's'
  /** The start of the last body, up to the number of the event. */
  #head: Uint8Array = Buffer.alloc(0)
  #milliseconds = Number.NaN

  constructor({ tail, timestampUnit }: ValueBytesSetting) {
    this.#tail = tail
    this.#unit = timestampUnit
    this.most = maxHeadBytes + maxEventDigits + tail.length
  }

  /**
   * Writes a body from two numbers as digits with a comma between them, those of the event and of the milliseconds.
   *
   * @param end end of the line, if no line end stands before it
   * @returns the position behind the body; -1 for any other line, or a number of more than 15 digits
   */
  read(lines: Buffer, from: number, end: number, memory: Buffer, at: number): number {
    const eventEnd = endOfDigits(lines, from, end)
    if (eventEnd === -1 || lines[eventEnd] !== comma) return -1
    const timeStart = eventEnd + 1
    const timeEnd = endOfDigits(lines, timeStart, end)
    if (timeEnd === -1 || (timeEnd !== end && lines[timeEnd] !== lineFeed)) return -1
    const milliseconds = numberOf(lines, timeStart, timeEnd)
    if (milliseconds !== this.#milliseconds) this.#setTime(milliseconds)
    memory.set(this.#head, at)
    let to = at + this.#head.length
    for (let digit = from; digit < eventEnd; digit++) memory[to++] = lines[digit]!
    memory.set(this.#tail, to)
    return to + this.#tail.length
  }

  #setTime(milliseconds: number): void {
    this.#milliseconds = milliseconds
    this.#head = Buffer.from(`{"timeStamp":${inUnit(milliseconds, this.#unit)},"eventId":`)
  }
}

/** End of a number without zeros before it; -1 for anything else. */
function endOfDigits(lines: Buffer, from: number, end: number): number {
  let at = from
  while (at < end && isDigit(lines[at]!)) at++
  const digits = at - from
  return digits === 0 || digits > maxDigits || (digits > 1 && lines[from] === zero) ? -1 : at
}

function numberOf(lines: Buffer, from: number, end: number): number {
  let number = 0
  for (let at = from; at < end; at++) number = number * 10 + lines[at]! - zero
  return number
}
