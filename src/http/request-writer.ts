import type { WireRecords } from '../delivery/sender.js'

const mostBytes = 262_144
/**
 * The length of a record of TLS. Node pauses its HTTP parser while long answers wait to be sent, but its TLS hands over record after record all
 * the same, and a server whose paused parser gets bytes answers 400 and closes the connection. Requests in one record never meet the pause.
 */
const mostBytesOverTls = 16_384
/** With fewer a near server gets more connections than it needs. With more it takes long until a far one gets enough. */
const partsInBatch = 4
const lengthField = Buffer.from('\r\ncontent-length: ', 'latin1')
const emptyLine = Buffer.from('\r\n\r\n', 'latin1')
const mostLengthDigits = 10

/** How much goes out in one go on the connections of a lane. A single request may be longer. */
export class PartBounds {
  readonly maxBytes: number
  /** Of one request: the moving mean. */
  #usualBytes: number | undefined

  constructor({ secure }: { readonly secure: boolean }) {
    this.maxBytes = secure ? mostBytesOverTls : mostBytes
  }

  /** The longest batch that goes out in few parts, in requests of the usual length. */
  get depth(): number {
    if (this.#usualBytes === undefined) return Number.POSITIVE_INFINITY
    return Math.max(1, Math.floor((partsInBatch * this.maxBytes) / this.#usualBytes))
  }

  wrote({ bytes, requests }: { readonly bytes: number; readonly requests: number }): void {
    const each = bytes / requests
    this.#usualBytes = this.#usualBytes === undefined ? each : this.#usualBytes + (each - this.#usualBytes) / 8
  }
}

/** Requests that go out in one go. */
export interface Requests {
  /** A part of the memory of the batch. */
  readonly bytes: Buffer
  /** The first record behind them. */
  readonly end: number
}

/**
 * Write the requests of the records from `from` to `end`, or as many of them as go out in one go, behind the bodies of a batch. `head`
 * reaches up to the value of `idempotency-key`. Nothing is allocated for a record.
 */
export function writeRequests(
  records: WireRecords,
  {
    head,
    from,
    end: most,
    maxBytes,
  }: { readonly head: Buffer; readonly from: number; readonly end: number; readonly maxBytes: number },
): Requests {
  const besideBody = head.length + records.mostKeyBytes + lengthField.length + mostLengthDigits + emptyLine.length
  let end = from
  let room = 0
  do {
    room += besideBody + records.bytesOf(end++)
  } while (end < most && room + besideBody + records.bytesOf(end) <= maxBytes)
  const start = records.used
  const memory = records.reserve(start + room)
  let at = start
  for (let index = from; index < end; index++) {
    const bodyAt = records.startOf(index)
    const bytes = records.bytesOf(index)
    memory.set(head, at)
    at = records.writeKey(index, at + head.length)
    memory.set(lengthField, at)
    at = writeNumber(bytes, memory, at + lengthField.length)
    memory.set(emptyLine, at)
    at += emptyLine.length
    memory.copyWithin(at, bodyAt, bodyAt + bytes)
    at += bytes
  }
  return { bytes: memory.subarray(start, at), end }
}

/** Write a number in decimal digits. Returns the position behind it. */
function writeNumber(number: number, memory: Buffer, at: number): number {
  let end = at + 1
  for (let rest = number; rest >= 10; rest = Math.floor(rest / 10)) end++
  for (let place = end - 1, rest = number; place >= at; place--, rest = Math.floor(rest / 10)) {
    memory[place] = 48 + (rest % 10)
  }
  return end
}
