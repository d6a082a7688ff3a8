import type { LineBuffers } from './line-buffers.js'
import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  escapeLength,
  exponent,
  isOfNumber,
  minus,
  openBrace,
  openBracket,
  point,
  quote,
  standsAt,
  zero,
} from './plain-bytes.js'
import { isDigit } from './plain-fields.js'
import type { SeenKeys } from './seen-keys.js'

/** Deeper values are left to the parser. */
const maxDepth = 8
/** A number of so many digits is exact: JavaScript writes it with the same digits. */
const exactDigits = 15
/** No number that JavaScript writes is longer. */
const maxNumberBytes = 32

const words = ['true', 'false', 'null'].map((word) => Buffer.from(word))

/**
 * Copies values of JSON as bytes into a text of JSON: each quote and backslash gets a backslash. It stops at a value that
 * `JSON.stringify` would write differently.
 */
export class ValueCopier {
  /** Position in the line. */
  at = 0
  /** Position in the memory. */
  to = 0
  /** No value begins behind this position. */
  last = 0
  readonly #buffers: LineBuffers
  readonly #keys: SeenKeys
  readonly #nested: boolean

  /** @param nested true where values may be objects and arrays */
  constructor(nested: boolean, { buffers, keys }: { readonly buffers: LineBuffers; readonly keys: SeenKeys }) {
    this.#buffers = buffers
    this.#keys = keys
    this.#nested = nested
  }

  /** Copies a value. False for one that is not plain. */
  value(depth = 0): boolean {
    if (this.at >= this.last) return false
    const first = this.#next
    if (first === quote) return this.#text()
    if (isDigit(first) || first === minus) return this.#number()
    if (first !== openBrace && first !== openBracket) return this.#word()
    if (!this.#nested || depth === maxDepth) return false
    return first === openBrace ? this.#object(depth + 1) : this.#array(depth + 1)
  }

  get #next(): number {
    return this.#buffers.lines[this.at]!
  }

  #object(depth: number): boolean {
    const firstKey = this.#keys.count
    this.#copy(1)
    if (this.#next !== closeBrace) {
      for (;;) {
        if (!this.#key(firstKey) || !this.value(depth)) return false
        if (this.#next !== comma) break
        this.#copy(1)
      }
    }
    this.#keys.count = firstKey
    return this.#end(closeBrace)
  }

  #array(depth: number): boolean {
    this.#copy(1)
    if (this.#next !== closeBracket) {
      for (;;) {
        if (!this.value(depth)) return false
        if (this.#next !== comma) break
        this.#copy(1)
      }
    }
    return this.#end(closeBracket)
  }

  #end(closing: number): boolean {
    if (this.#next !== closing) return false
    this.#copy(1)
    return true
  }

  #key(firstKey: number): boolean {
    const { lines } = this.#buffers
    if (this.#next !== quote) return false
    this.#quote()
    const start = this.at
    this.#plain()
    const end = this.at
    if (this.#next !== quote || lines[end + 1] !== colon || isDigit(lines[start]!)) return false
    this.#quote()
    this.#copy(1)
    return this.#keys.add(lines, start, end, firstKey) !== -1
  }

  #text(): boolean {
    this.#quote()
    this.#plain()
    while (this.#next !== quote) {
      const { lines, memory } = this.#buffers
      const length = this.#next === backslash ? escapeLength(lines, this.at) : 0
      if (length === 0) return false
      memory[this.to++] = backslash
      this.#copy(1)
      if (this.#next === quote || this.#next === backslash) memory[this.to++] = backslash
      this.#copy(length - 1)
      this.#plain()
    }
    this.#quote()
    return true
  }

  #number(): boolean {
    const { lines } = this.#buffers
    const start = this.at
    if (this.#next === minus) this.#copy(1)
    const firstDigit = this.at
    let digits = this.#digits()
    const isWhole = this.#next !== point
    const startsWithZero = lines[firstDigit] === zero
    if (digits === 0 || (startsWithZero && (digits > 1 || (isWhole && firstDigit > start)))) return false
    if (!isWhole) {
      this.#copy(1)
      digits += this.#digits()
      const before = lines[this.at - 1]
      if (before === zero || before === point) return false
    }
    // Small numbers have an exponent.
    const mayBeSmall = startsWithZero && digits > 6
    if (digits <= exactDigits && !mayBeSmall && this.#next !== exponent) return true
    while (isOfNumber(this.#next) && this.at < this.last) this.#copy(1)
    if (this.at - start > maxNumberBytes) return false
    const written = lines.toString('latin1', start, this.at)
    return String(Number(written)) === written
  }

  /** Copies digits. Returns their number. */
  #digits(): number {
    const start = this.at
    while (isDigit(this.#next) && this.at < this.last) this.#copy(1)
    return this.at - start
  }

  #word(): boolean {
    const word = words.find((each) => standsAt(this.#buffers.lines, this.at, each))
    if (word !== undefined) this.#copy(word.length)
    return word !== undefined
  }

  #plain(): void {
    const length = this.#buffers.copyPlain(this.at, this.last, this.to)
    this.at += length
    this.to += length
  }

  #quote(): void {
    this.#buffers.memory[this.to++] = backslash
    this.#copy(1)
  }

  #copy(bytes: number): void {
    const { lines, memory } = this.#buffers
    for (let rest = bytes; rest > 0; rest--) memory[this.to++] = lines[this.at++]!
  }
}
