import type { OutgoingBatch } from '../delivery/sender.js'

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
  /** A part of the memory of the writer, until it writes the next requests. */
  readonly bytes: Buffer
  /** The first record behind them. */
  readonly end: number
}

const firstMemoryBytes = 4096
/** Memory that an idle connection keeps, at most. */
const idleBytes = 16_384

/** Writes the requests of one connection, in memory of its own, which serves again. Nothing is allocated for a record. */
export class RequestWriter {
  #memory: Buffer = Buffer.alloc(0)

  /** True when it keeps more memory than an idle connection should. */
  get isLarge(): boolean {
    return this.#memory.length > idleBytes
  }

  /** Give the memory up. The system may still read it. */
  forget(): void {
    this.#memory = Buffer.alloc(0)
  }

  /**
   * Write the requests of the records from `from` to `end`, or as many of them as go out in one go. `head` reaches up to the value of
   * `idempotency-key`. The bodies are copied together to the end of the room for the requests. From there each is moved to its place, which
   * is never behind it.
   */
  write(
    batch: OutgoingBatch,
    {
      head,
      from,
      end: most,
      maxBytes,
    }: { readonly head: Buffer; readonly from: number; readonly end: number; readonly maxBytes: number },
  ): Requests {
    const besideBody = head.length + batch.mostKeyBytes + lengthField.length + mostLengthDigits + emptyLine.length
    let end = from
    let bodies = 0
    let room = 0
    do {
      const bytes = batch.bytesOf(end++)
      bodies += bytes
      room += besideBody + bytes
    } while (end < most && room + besideBody + batch.bytesOf(end) <= maxBytes)
    const memory = this.#reserve(room)
    let bodyAt = room - bodies
    batch.copyRun(from, end - from, memory, bodyAt)
    let at = 0
    for (let index = from; index < end; index++) {
      const bytes = batch.bytesOf(index)
      memory.set(head, at)
      at = batch.writeKey(index, memory, at + head.length)
      memory.set(lengthField, at)
      at = writeNumber(bytes, memory, at + lengthField.length)
      memory.set(emptyLine, at)
      at += emptyLine.length
      memory.copyWithin(at, bodyAt, bodyAt + bytes)
      at += bytes
      bodyAt += bytes
    }
    return { bytes: memory.subarray(0, at), end }
  }

  #reserve(bytes: number): Buffer {
    if (bytes > this.#memory.length) {
      this.#memory = Buffer.allocUnsafeSlow(Math.max(bytes, firstMemoryBytes, 2 * this.#memory.length))
    }
    return this.#memory
  }
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
