import { isField } from './answer-head.js'

export interface ChunkedBounds {
  /** Of all chunks together. */
  readonly maxBodyBytes: number
  /** A longer body is read up to here. Its beginning shows the kind of server that answered. */
  readonly beginningBytes: number
  /** Of all bytes on the wire, sizes and extensions included. */
  readonly maxRawBytes: number
  /** Of all trailers together. */
  readonly maxTrailerBytes: number
}

/** With its extensions, which are ignored. */
const maxSizeLineBytes = 1024
const sizeLine = /^([0-9a-fA-F]{1,8})(?:[\t ]*;[\t\x20-\x7e\x80-\xff]*)?$/

/**
 * Reads a body in the transfer coding `chunked` (RFC 9112, 7.1) from latin1 strings, in pieces of any size. Each byte is read once, so
 * that the caller need not keep it.
 */
export class ChunkedBody {
  /** The chunks so far, joined. */
  text = ''
  state: 'reading' | 'done' | 'too-long' | 'not-understood' = 'reading'
  readonly #bounds: ChunkedBounds
  #phase: 'size' | 'data' | 'end-of-data' | 'trailers' = 'size'
  /** Bytes of the current chunk that have not come. */
  #size = 0
  /** The part of the current line that has come. */
  #line = ''
  #rawBytes = 0
  #trailerBytes = 0
  #exceeds = false

  constructor(bounds: ChunkedBounds) {
    this.#bounds = bounds
  }

  /** Read from `at` on. Returns the position behind the last byte read: the end of `bytes`, unless the body ends before it. */
  read(bytes: string, at: number): number {
    const limit = Math.min(bytes.length, at + this.#bounds.maxRawBytes - this.#rawBytes)
    let position = at
    while (this.state === 'reading' && position < limit) {
      position =
        this.#phase === 'data' ? this.#data(bytes, { position, limit }) : this.#readLine(bytes, { position, limit })
    }
    this.#rawBytes += position - at
    if (this.state === 'reading' && this.#rawBytes === this.#bounds.maxRawBytes) this.state = 'too-long'
    return position
  }

  #data(bytes: string, { position, limit }: { position: number; limit: number }): number {
    const wanted = this.#exceeds ? this.#bounds.beginningBytes - this.text.length : this.#size
    const end = Math.min(position + wanted, position + this.#size, limit)
    this.text += bytes.slice(position, end)
    this.#size -= end - position
    if (this.#exceeds && this.text.length >= this.#bounds.beginningBytes) this.state = 'too-long'
    else if (this.#size === 0) this.#phase = 'end-of-data'
    return end
  }

  #readLine(bytes: string, { position, limit }: { position: number; limit: number }): number {
    const found = bytes.indexOf('\n', position)
    const whole = found !== -1 && found < limit
    this.#line += bytes.slice(position, whole ? found : limit)
    if (this.#line.length > this.#longestLine) this.state = 'not-understood'
    else if (whole) {
      const line = this.#line
      this.#line = ''
      if (line.endsWith('\r')) this.#take(line.slice(0, -1))
      else this.state = 'not-understood'
    }
    return whole ? found + 1 : limit
  }

  /** Length with the CR. */
  get #longestLine(): number {
    if (this.#phase === 'size') return maxSizeLineBytes
    return this.#phase === 'trailers' ? this.#bounds.maxTrailerBytes - this.#trailerBytes : 1
  }

  #take(line: string): void {
    if (this.#phase === 'size') this.#begin(line)
    else if (this.#phase === 'trailers') this.#trailer(line)
    else this.#phase = 'size'
  }

  #begin(line: string): void {
    const size = sizeLine.exec(line)
    if (size === null) {
      this.state = 'not-understood'
      return
    }
    this.#size = Number.parseInt(size[1]!, 16)
    this.#phase = this.#size === 0 ? 'trailers' : 'data'
    this.#exceeds = this.text.length + this.#size > this.#bounds.maxBodyBytes
    if (this.#exceeds && this.text.length >= this.#bounds.beginningBytes) this.state = 'too-long'
  }

  #trailer(line: string): void {
    this.#trailerBytes += line.length + 2
    if (line === '') this.state = 'done'
    else if (!isField(line)) this.state = 'not-understood'
  }
}
