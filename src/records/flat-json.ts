/** Shapes of objects that are remembered. An application logs objects of few shapes. */
const maxShapes = 100

/** Recognises the JSON of objects whose fields are texts, finite numbers, booleans and null. */
export class FlatJson {
  /** By the first key. */
  readonly #shapes = new Map<string, Shape>()

  /**
   * True if `line` is the JSON of `fields`, in alphabetical order, as winston writes it, or in the order of `fields`, and without spaces
   * between its parts.
   */
  isOf(fields: Fields, line: string): boolean {
    const lengthOfText = escapes.test(line) ? hasEscaped : hasQuoted
    const shape = this.#shapeOf(Object.keys(fields))
    if (isJsonOf(fields, line, { keys: shape.order, lengthOfText })) return true
    const other = shape.order === shape.keys ? shape.sorted : shape.keys
    if (!isJsonOf(fields, line, { keys: other, lengthOfText })) return false
    shape.order = other
    return true
  }

  #shapeOf(keys: readonly string[]): Shape {
    const [first = ''] = keys
    const known = this.#shapes.get(first)
    if (known !== undefined && areSame(known.keys, keys)) return known
    if (this.#shapes.size >= maxShapes) this.#shapes.clear()
    const sorted = keys.toSorted()
    const shape = { keys, sorted, order: sorted }
    this.#shapes.set(first, shape)
    return shape
  }
}

type Fields = Readonly<Record<string, unknown>>

/** The keys of an object. */
interface Shape {
  readonly keys: readonly string[]
  readonly sorted: readonly string[]
  /** The order of the last line: one of the two above. */
  order: readonly string[]
}

/** Length of the text in the line, with its quotes; 0 if the line does not have it here. */
type TextReader = (text: string, line: string, at: number) => number

function isJsonOf(
  fields: Fields,
  line: string,
  { keys, lengthOfText }: { readonly keys: readonly string[]; readonly lengthOfText: TextReader },
): boolean {
  let at = 0
  for (const key of keys) {
    const value = fields[key]
    if (value === undefined) continue
    if (line[at] !== (at === 0 ? '{' : ',')) return false
    const keyLength = lengthOfText(key, line, at + 1)
    if (keyLength === 0 || line[at + 1 + keyLength] !== ':') return false
    at += keyLength + 2
    const length = typeof value === 'string' ? lengthOfText(value, line, at) : lengthOf(value, line, at)
    if (length === 0) return false
    at += length
  }
  return at > 0 && at === line.length - 1 && line[at] === '}'
}

/** Length of a number, boolean or null in the line; 0 for what is none of them, or if the line does not have it here. */
function lengthOf(value: unknown, line: string, at: number): number {
  if (value !== null && typeof value !== 'boolean' && !Number.isFinite(value)) return 0
  const text = String(value)
  return has(text, line, at) ? text.length : 0
}

/** A backslash or a control character: a line with one of these has escapes, or is no JSON. */
const escapes = /[^ -[\]-\uffff]/
const quote = '"'.charCodeAt(0)

/** For a line without escapes: texts with quotes are not in it. */
function hasQuoted(text: string, line: string, at: number): number {
  const end = at + 1 + text.length
  if (line.charCodeAt(at) !== quote || line.indexOf('"', at + 1) !== end) return 0
  return has(text, line, at + 1) ? text.length + 2 : 0
}

function hasEscaped(text: string, line: string, at: number): number {
  const written = JSON.stringify(text)
  return has(written, line, at) ? written.length : 0
}

/** Several times as fast as `startsWith`. */
function has(text: string, line: string, at: number): boolean {
  return line.slice(at, at + text.length) === text
}

function areSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((key, index) => key === others[index])
}
