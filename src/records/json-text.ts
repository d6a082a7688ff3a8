import { types } from 'node:util'
import { reasonOf } from '../errors/text-of.js'
import {
  causeOf,
  type ErrorLike,
  errorFields,
  isErrorLike,
  membersOf,
  nameOf,
  readOrReason,
  stackOf,
} from './error-like.js'
import type { Redactor } from './redactor.js'

/** Deeper than any log line that people read. It also bounds the search for cycles. */
const maxDepth = 20

interface JsonTextSetting {
  /** @default 1,048,576 */
  readonly maxChars?: number
  /** @default nothing is hidden */
  readonly redactor?: Redactor | undefined
}

/**
 * JSON of any value that can be logged, as a text of at most about `maxChars` characters. Never throws. The work is in proportion to the
 * text that is written. Values that JSON does not know get a stand-in:
 *
 * | value | written as |
 * |---|---|
 * | Error | object of type, message, stack, own fields, `cause` and `errors` |
 * | BigInt, NaN, Infinity, Symbol | text: `"9007199254740993"`, `"NaN"`, `"Symbol(a)"` |
 * | function, Promise, WeakMap … | `"[function name]"`, `"[Promise]"` |
 * | Date | ISO 8601, or `"Invalid Date"` |
 * | Map, Set | object (an object as key gets the name `[key 1]`, and its value is `{ key, value }`), array |
 * | Buffer and other binary data | `"[Buffer, 12 bytes]"` |
 * | cycle, more than 20 levels, a field that throws | `"[circular]"`, `"[too deep]"`, `"[unreadable: …]"` |
 * | beyond `maxChars` | text cut with a mark, `"[more]"` |
 */
export function jsonOf(value: unknown, { maxChars = 1_048_576, redactor }: JsonTextSetting = {}): string {
  const writer = new JsonText(maxChars, redactor)
  writer.write(value)
  return writer.text
}

class JsonText {
  text = ''
  readonly #maxChars: number
  readonly #redactor: Redactor | undefined
  /** Characters of work that left no text. They count as if they were written. */
  #lost = 0
  /** The objects that are being written, outermost first. */
  readonly #open: object[] = []

  constructor(maxChars: number, redactor: Redactor | undefined) {
    this.#maxChars = maxChars
    this.#redactor = redactor
  }

  write(value: unknown): void {
    switch (typeof value) {
      case 'string':
        this.#string(value)
        return
      case 'number':
        this.#number(value)
        return
      case 'boolean':
        this.text += String(value)
        return
      case 'object':
        if (value === null) this.text += 'null'
        else this.#object(value)
        return
      case 'function':
        this.#string(`[function ${readName(value)}]`)
        return
      case 'undefined':
        this.text += 'null'
        return
      default:
        this.#string(String(value))
    }
  }

  get #full(): boolean {
    return this.text.length + this.#lost >= this.#maxChars
  }

  #number(value: number): void {
    const written = String(value)
    const isHidden = this.#redactor !== undefined && this.#redactor.text(written) !== written
    if (isHidden || !Number.isFinite(value)) this.#string(written)
    else this.text += written
  }

  #string(whole: string): void {
    // Before the cut, which could leave a part of what is hidden.
    const text = this.#redactor === undefined ? whole : this.#redactor.text(whole)
    const room = Math.max(this.#maxChars - this.text.length, 0)
    this.text += JSON.stringify(
      text.length <= room ? text : `${text.slice(0, room)}… [${text.length - room} characters cut]`,
    )
  }

  #object(value: object): void {
    if (this.#open.includes(value)) this.text += '"[circular]"'
    else if (this.#open.length >= maxDepth) this.text += '"[too deep]"'
    else {
      this.#open.push(value)
      const before = this.text
      try {
        this.#content(value)
      } catch (error) {
        // A proxy or a getter of the application threw.
        this.#lost += this.text.length - before.length
        this.text = before
        this.#string(`[unreadable: ${reasonOf(error)}]`)
      }
      this.#open.pop()
    }
  }

  #content(value: object): void {
    if (Array.isArray(value) || types.isSet(value)) this.#list(value)
    else if (types.isMap(value)) this.#fields(mapEntries(value))
    else if (isErrorLike(value)) this.#fields(errorEntries(value))
    else if (types.isDate(value)) this.#string(Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString())
    else if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) {
      this.#string(`[${tagOf(value)}, ${value.byteLength} bytes]`)
    } else if (typeof (value as { toJSON?: unknown }).toJSON === 'function') {
      this.write((value as { toJSON(key: string): unknown }).toJSON(''))
    } else if (types.isBoxedPrimitive(value)) this.write(value.valueOf())
    else if (types.isRegExp(value)) this.#string(String(value))
    else if (opaque.some((type) => value instanceof type)) this.#string(`[${tagOf(value)}]`)
    else this.#fields(entriesOf(value))
  }

  #list(items: Iterable<unknown>): void {
    this.text += '['
    let first = true
    for (const item of items) {
      if (!first) this.text += ','
      first = false
      if (this.#full) {
        this.text += '"[more]"'
        break
      }
      this.write(item)
    }
    this.text += ']'
  }

  #fields(entries: Iterable<readonly [string, unknown]>): void {
    this.text += '{'
    let first = true
    for (const [key, value] of entries) {
      if (value === undefined && !this.#full) {
        this.#lost++
        continue
      }
      if (!first) this.text += ','
      first = false
      if (this.#full) {
        this.text += '"[more]":true'
        break
      }
      this.#string(key)
      this.text += ':'
      if (this.#redactor?.hides(key)) this.#string(this.#redactor.hide())
      else this.write(value)
    }
    this.text += '}'
  }
}

const opaque = [Promise, WeakMap, WeakSet, WeakRef]

/** An object as key must not become a text, in which nobody finds its keys to hide their values. */
function* mapEntries(map: ReadonlyMap<unknown, unknown>): Iterable<readonly [string, unknown]> {
  let objects = 0
  for (const [key, value] of map) {
    const isText = (typeof key !== 'object' && typeof key !== 'function') || key === null
    yield isText ? [String(key), value] : [`[key ${++objects}]`, { key, value }]
  }
}

/** Own enumerable fields, as in JSON. A field that throws does not hide the others. */
function* entriesOf(value: object): Iterable<readonly [string, unknown]> {
  for (const key of Object.keys(value)) yield [key, readOrReason(value, key)]
}

/** An error as an object: type, message and stack, then its own fields, its members and its cause. */
function* errorEntries(error: ErrorLike): Iterable<readonly [string, unknown]> {
  yield ['type', nameOf(error)]
  yield ['message', readOrReason(error, 'message')]
  yield ['stack', stackOf(error)]
  yield* Object.entries(errorFields(error))
  const members = membersOf(error)
  if (members.length > 0) yield ['errors', members]
  yield ['cause', causeOf(error)]
}

function readName(value: object): string {
  const name = readOrReason(value, 'name')
  return typeof name === 'string' && name !== '' ? name : '(anonymous)'
}

function tagOf(value: object): string {
  if (Buffer.isBuffer(value)) return 'Buffer'
  return Object.prototype.toString.call(value).slice(8, -1)
}
