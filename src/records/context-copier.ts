import { KeyWatch } from './key-watch.js'
import { LineBuffers } from './line-buffers.js'
import { standsAt } from './plain-bytes.js'
import { isDigit } from './plain-fields.js'
import type { Redactor } from './redactor.js'
import { hashOf, keyId, SeenKeys } from './seen-keys.js'
import { ValueCopier } from './value-copier.js'

const closeBrace = '}'.charCodeAt(0)
const colon = ':'.charCodeAt(0)
const comma = ','.charCodeAt(0)
const openBrace = '{'.charCodeAt(0)
const quote = '"'.charCodeAt(0)

/** `,\"` and one byte more, as they are written before a key; `\":` and one byte more after it; `\"` around a text. */
const beforeKey = Buffer.from(',\\"\0').readInt32LE()
const afterKey = Buffer.from('\\":\0').readInt32LE()
const textQuote = Buffer.from('\\"').readInt16LE()

/** Roles of keys. The roles from 0 on are the places of the taken keys. */
const ordinary = -1
const declined = -2
const scalarOnly = -3

interface KnownKey {
  readonly id: number
  readonly bytes: Uint8Array
  readonly role: number
}

export interface CopiedFields {
  /** The byte before the first key. */
  readonly opening: '{' | ','
  /** Keys whose values are found and left out of the context. */
  readonly taken: readonly string[]
  /** Keys that make a line not plain. */
  readonly declined: readonly string[]
  /** Keys whose value must not be an object. */
  readonly scalar: readonly string[]
  /** True where values may be objects and arrays. */
  readonly nested: boolean
  /** A line with a key that it hides is not plain. @default none is hidden */
  readonly redactor?: Redactor | undefined
}

/**
 * Copies the fields of a plain line of JSON as bytes to a message of a record, which is a text of JSON itself: each quote and backslash
 * gets a backslash. It checks the fields on the way.
 *
 * In a plain line all values are written as `JSON.stringify` writes them: no spaces, no other forms of escapes and numbers. No object has
 * a key twice, a key with an escape, or a key that begins with a digit (a parser may move such a key to the front).
 */
export class ContextCopier {
  readonly buffers = new LineBuffers()
  /** After a copy, the position of the line's closing brace. */
  at = 0
  /** After a copy, the end of the context in the memory. */
  to = 0
  /** Where the values of taken keys start and end in the line; 0 for a key that the line does not have. */
  readonly starts: Int32Array
  readonly ends: Int32Array
  readonly #opening: number
  readonly #known: readonly KnownKey[]
  /** Number of the first known key by its hash, from 1 on; 0 for a hash that no known key has. */
  readonly #knownByHash = new Uint8Array(256)
  readonly #keys: SeenKeys
  readonly #values: ValueCopier

  constructor({ opening, taken, declined: refused, scalar, nested, redactor }: CopiedFields) {
    this.#keys = new SeenKeys(redactor && new KeyWatch(redactor))
    this.#opening = opening.charCodeAt(0)
    this.#values = new ValueCopier(nested, { buffers: this.buffers, keys: this.#keys })
    this.starts = new Int32Array(taken.length)
    this.ends = new Int32Array(taken.length)
    const known = (key: string, role: number): KnownKey => {
      const bytes = Buffer.from(key)
      return { id: keyId(bytes, 0, bytes.length), bytes, role }
    }
    // A key with several roles has the first.
    this.#known = [
      ...taken.map(known),
      ...refused.map((key) => known(key, declined)),
      ...scalar.map((key) => known(key, scalarOnly)),
    ]
    this.#known.forEach(({ id }, index) => {
      this.#knownByHash[hashOf(id)] ||= index + 1
    })
  }

  /**
   * Copies fields, from the byte before the first key on. The context is written with a comma before each field, and without braces.
   *
   * @param end the closing brace must stand before this position
   * @returns false for a line that is not plain
   */
  copy(from: number, end: number, to: number): boolean {
    this.at = from
    this.to = to
    this.#values.last = end - 1
    this.#keys.clear()
    for (let place = 0; place < this.starts.length; place++) this.starts[place] = 0
    const first = this.buffers.lines[from]
    if (first === closeBrace) return this.#opening === comma && from < end
    return first === this.#opening && this.#fields(from + 1, end - 1, to) && this.at < end
  }

  /** One long function: V8 takes twice as long for small ones here, as it does not put all of them in place. */
  #fields(from: number, last: number, place: number): boolean {
    const { buffers } = this
    const { lines, target } = buffers
    let at = from
    let to = place
    for (;;) {
      const fieldTo = to
      if (lines[at] !== quote) return false
      target.setInt32(to, beforeKey, true)
      const keyStart = at + 1
      const keyLength = buffers.copyPlain(keyStart, last, to + 3)
      at = keyStart + keyLength
      to += keyLength + 3
      if (lines[at] !== quote || lines[at + 1] !== colon || isDigit(lines[keyStart]!)) return false
      const id = this.#keys.add(lines, keyStart, at, 0)
      if (id === -1) return false
      target.setInt32(to, afterKey, true)
      to += 3
      at += 2
      const start = at
      const firstKnown = this.#knownByHash[hashOf(id)]!
      const role = firstKnown === 0 ? ordinary : this.#roleOf(firstKnown, id, keyStart, keyLength)
      if (role === declined || (role === scalarOnly && lines[start] === openBrace)) return false
      let isCopied = false
      if (lines[at] === quote) {
        target.setInt16(to, textQuote, true)
        const length = buffers.copyPlain(at + 1, last, to + 2)
        isCopied = lines[at + length + 1] === quote
        target.setInt16(to + length + 2, textQuote, true)
        if (isCopied) {
          at += length + 2
          to += length + 4
        }
      } else {
        const length = buffers.copyScalar(at, last, to)
        isCopied = length > 0
        at += length
        to += length
      }
      if (!isCopied) {
        const values = this.#values
        values.at = at
        values.to = to
        if (!values.value()) return false
        at = values.at
        to = values.to
      }
      if (role >= 0) {
        this.starts[role] = start
        this.ends[role] = at
        to = fieldTo
      }
      const next = lines[at]
      if (next !== comma) {
        this.at = at
        this.to = to
        return next === closeBrace
      }
      at++
    }
  }

  #roleOf(firstKnown: number, id: number, start: number, length: number): number {
    const known = this.#known
    for (let index = firstKnown - 1; index < known.length; index++) {
      const key = known[index]!
      if (key.id === id && key.bytes.length === length && standsAt(this.buffers.lines, start, key.bytes))
        return key.role
    }
    return ordinary
  }
}
