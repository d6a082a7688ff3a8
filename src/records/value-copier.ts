import type { LineBuffers } from './line-buffers.js'
import { escapeLength, isOfNumber } from './plain-bytes.js'
import { isDigit } from './plain-fields.js'
import type { SeenKeys } from './seen-keys.js'

const backslash = '\\'.charCodeAt(0)
const closeBrace = '}'.charCodeAt(0)
const closeBracket = ']'.charCodeAt(0)
const colon = ':'.charCodeAt(0)
const comma = ','.charCodeAt(0)
const openBrace = '{'.charCodeAt(0)
const openBracket = '['.charCodeAt(0)
const quote = '"'.charCodeAt(0)

/** Deeper values are left to the parser. */
const maxDepth = 8
/** No number that JavaScript writes is longer. */
const maxNumberBytes = 32

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
    if (first !== openBrace && first !== openBracket) return this.#scalar()
    if (!this.#nested || depth === maxDepth) return false
    return first === openBrace ? this.#object(depth + 1) : this.#array(depth + 1)
  }

  get #next(): number {
    return this.#buffers.lines[this.at]!
  }

  #object(depth: number): boolean {
    const firstKey = this.#keys.count
    this.#byte()
    if (this.#next !== closeBrace) {
      for (;;) {
        if (!this.#key(firstKey) || !this.value(depth)) return false
        if (this.#next !== comma) break
        this.#byte()
      }
    }
    this.#keys.count = firstKey
    return this.#end(closeBrace)
  }

  #array(depth: number): boolean {
    this.#byte()
    if (this.#next !== closeBracket) {
      for (;;) {
        if (!this.value(depth)) return false
        if (this.#next !== comma) break
        this.#byte()
      }
    }
    return this.#end(closeBracket)
  }

  #end(closing: number): boolean {
    if (this.#next !== closing) return false
    this.#byte()
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
    this.#byte()
    return this.#keys.add(lines, start, end, firstKey) !== -1
  }

  #text(): boolean {
    this.#quote()
    this.#plain()
    while (this.#next !== quote) {
      const { lines, memory } = this.#buffers
      const isEscape = this.#next === backslash && this.at < this.last
      const length = isEscape ? escapeLength(lines, this.at) : 0
      if (length === 0) return false
      memory[this.to++] = backslash
      this.#byte()
      if (this.#next === quote || this.#next === backslash) memory[this.to++] = backslash
      for (let rest = length - 1; rest > 0; rest--) this.#byte()
      this.#plain()
    }
    this.#quote()
    return true
  }

  #scalar(): boolean {
    const { lines } = this.#buffers
    const start = this.at
    const length = this.#buffers.copyScalar(start, this.last, this.to)
    if (length > 0) {
      this.at += length
      this.to += length
      return true
    }
    while (isOfNumber(this.#next) && this.at < this.last) this.#byte()
    if (this.at === start || this.at - start > maxNumberBytes) return false
    const written = lines.toString('latin1', start, this.at)
    return String(Number(written)) === written
  }

  #plain(): void {
    const length = this.#buffers.copyPlain(this.at, this.last, this.to)
    this.at += length
    this.to += length
  }

  #quote(): void {
    this.#buffers.memory[this.to++] = backslash
    this.#byte()
  }

  #byte(): void {
    const { lines, memory } = this.#buffers
    memory[this.to++] = lines[this.at++]!
  }
}
