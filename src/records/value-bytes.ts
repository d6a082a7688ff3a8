import { inUnit } from './time.js'

const maxEventDigits = 16
/** The names of two fields, and a number. */
const maxHeadBytes = 64
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

  /** Writes the body of an event. Returns the position behind it; -1 for a number that is not whole, or is below 0. */
  write(eventId: number, milliseconds: number, memory: Uint8Array, at: number): number {
    if (!Number.isSafeInteger(eventId) || eventId < 0) return -1
    if (milliseconds !== this.#milliseconds) this.#setTime(milliseconds)
    memory.set(this.#head, at)
    const digitsAt = at + this.#head.length
    let to = digitsAt + 1
    for (let bound = 10; eventId >= bound; bound *= 10) to++
    let rest = eventId
    for (let digit = to; digit > digitsAt; ) {
      const tenth = Math.floor(rest / 10)
      memory[--digit] = zero + (rest - tenth * 10)
      rest = tenth
    }
    memory.set(this.#tail, to)
    return to + this.#tail.length
  }

  #setTime(milliseconds: number): void {
    this.#milliseconds = milliseconds
    this.#head = Buffer.from(`{"timeStamp":${inUnit(milliseconds, this.#unit)},"eventId":`)
  }
}
