import { isField } from './answer-head.js'

export interface ChunkedBounds {
  /** Of all chunks together. */
  readonly maxBodyBytes: number
  /** Of all trailers together. */
  readonly maxTrailerBytes: number
}

/** With its extensions, of which nothing is used. */
const maxSizeLineBytes = 1024
const sizeLine = /^([0-9a-fA-F]{1,8})(?:[\t ]*;[\t\x20-\x7e\x80-\xff]*)?$/

/**
 * Reads a body in the transfer coding `chunked` (RFC 9112, 7.1), from bytes as a latin1 string. It goes as far as there is something
 * to read, and goes on from there when more has come.
 */
export class ChunkedBody {
  /** The chunks so far, joined. */
  text = ''
  state: 'reading' | 'done' | 'too-long' | 'not-understood' = 'reading'
  readonly #bounds: ChunkedBounds
  #phase: 'size' | 'data' | 'trailers' = 'size'
  #size = 0
  #trailerBytes = 0

  constructor(bounds: ChunkedBounds) {
    this.#bounds = bounds
  }

  /** Read from `at` on; where it has come to. */
  read(bytes: string, at: number): number {
    let position = at
    for (;;) {
      const next = this.#phase === 'data' ? this.#data(bytes, position) : this.#line(bytes, position)
      if (next === -1) return position
      position = next
      if (this.state !== 'reading') return position
    }
  }

  #data(bytes: string, at: number): number {
    const end = at + this.#size
    if (bytes.length < end + 2) return -1
    if (bytes[end] !== '\r' || bytes[end + 1] !== '\n') this.state = 'not-understood'
    this.text += bytes.slice(at, end)
    this.#phase = 'size'
    return end + 2
  }

  #line(bytes: string, at: number): number {
    const end = bytes.indexOf('\n', at)
    const most = this.#phase === 'size' ? maxSizeLineBytes : this.#bounds.maxTrailerBytes - this.#trailerBytes
    if ((end === -1 ? bytes.length : end) - at > most) this.state = 'not-understood'
    if (end === -1) return -1
    if (end === at || bytes[end - 1] !== '\r') this.state = 'not-understood'
    else if (this.#phase === 'size') this.#begin(bytes.slice(at, end - 1))
    else this.#trailer(bytes.slice(at, end - 1))
    return end + 1
  }

  #begin(line: string): void {
    const size = sizeLine.exec(line)
    if (size === null) {
      this.state = 'not-understood'
      return
    }
    this.#size = Number.parseInt(size[1]!, 16)
    this.#phase = this.#size === 0 ? 'trailers' : 'data'
    if (this.text.length + this.#size > this.#bounds.maxBodyBytes) this.state = 'too-long'
  }

  #trailer(line: string): void {
    this.#trailerBytes += line.length + 2
    if (line === '') this.state = 'done'
    else if (!isField(line)) this.state = 'not-understood'
  }
}
