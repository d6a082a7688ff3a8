/** More fields than this, and each costs too much to be told from the others. */
const maxFields = 32

/** A field as it stands in a line up to its value: a comma or brace, its key, a colon. */
interface Field {
  readonly text: string
  readonly key: string
  /** The texts are copies, and hold on to no line. */
  readonly owned: boolean
}

/**
 * Reads the fields of plain lines of JSON: each a text, a number, true, false or null, written as JavaScript writes it. A line is not plain
 * when it has in it an escape, a control character, or half of a character; a field that a parser would see twice or move to the front
 * (`"1"`); or an object. Of a plain line, pieces of the text are what `JSON.stringify` would make of the parsed fields, at a quarter of the
 * cost.
 */
export class PlainFields {
  /** How many the line has that was read last. */
  count = 0
  readonly #declined: ReadonlySet<string>
  /**
   * Of the line before: mostly the next one has the same. None of them stands twice. Those that no second line has had yet are of one line,
   * and hold on to it and the megabytes that it came with; the others are copies.
   */
  readonly #fields: Field[] = []
  readonly #starts: number[] = []
  readonly #ends: number[] = []

  /** @param declined keys that have a meaning of their own: a line with one of them is not read */
  constructor(declined: ReadonlySet<string>) {
    this.#declined = declined
  }

  /** Read the fields from `at` on, to the end of the line, the first after `opening`. False when the line is not plain. */
  read(line: string, { at: from, opening }: { at: number; opening: '{' | ',' }): boolean {
    const fields = this.#fields
    const last = line.length - 1
    this.count = 0
    if (line.charCodeAt(last) !== closeBrace || odd.test(line)) return false
    let at = from
    for (let index = 0; line.charCodeAt(at) === (index === 0 ? opening.charCodeAt(0) : comma); index++) {
      let field = fields[index]
      if (field === undefined || line.slice(at, at + field.text.length) !== field.text) {
        fields.length = index
        field = this.#readField(line, at)
        if (field === undefined || index === maxFields) return false
        fields.push(field)
      } else if (!field.owned) {
        fields[index] = { text: ownText(field.text), key: ownText(field.key), owned: true }
      }
      const end = endOfScalar(line, at + field.text.length)
      if (end === -1) return false
      this.#starts[index] = at
      this.#ends[index] = end
      this.count = index + 1
      at = end
    }
    return at === last
  }

  key(index: number): string {
    return this.#fields[index]!.key
  }

  /** Where the field begins in the line, with what stands before its key. */
  start(index: number): number {
    return this.#starts[index]!
  }

  end(index: number): number {
    return this.#ends[index]!
  }

  /** The value as it stands in the line. */
  value(line: string, index: number): string {
    return line.slice(this.#starts[index]! + this.#fields[index]!.text.length, this.#ends[index]!)
  }

  /** One that is not declined, and stays where it is: a key that is a whole number would come first. */
  #readField(line: string, at: number): Field | undefined {
    const keyEnd = line.indexOf('"', at + 2)
    if (line.charCodeAt(at + 1) !== quote || line.charCodeAt(keyEnd + 1) !== colon) return undefined
    const key = line.slice(at + 2, keyEnd)
    if (this.#declined.has(key) || isDigit(key.charCodeAt(0))) return undefined
    return this.#fields.some((each) => each.key === key)
      ? undefined
      : { text: line.slice(at, keyEnd + 2), key, owned: false }
  }
}

const quote = '"'.charCodeAt(0)
const comma = ','.charCodeAt(0)
const colon = ':'.charCodeAt(0)
const closeBrace = '}'.charCodeAt(0)
const minus = '-'.charCodeAt(0)
const zero = '0'.charCodeAt(0)
const nine = '9'.charCodeAt(0)

/** An escape, a control character, half of a character outside the first plane. */
const odd = /[^\x20-\x5b\x5d-\ud7ff\ue000-\uffff]/

/** Where the text, number, true, false or null ends that begins there; -1 when JavaScript would write it in another way. */
function endOfScalar(line: string, from: number): number {
  const first = line.charCodeAt(from)
  if (first === quote) return line.indexOf('"', from + 1) + 1 || -1
  if (isDigit(first) || (first === minus && isDigit(line.charCodeAt(from + 1)))) return endOfNumber(line, from)
  const word = words.find((each) => line.startsWith(each, from))
  return word === undefined ? -1 : from + word.length
}

const words = ['true', 'false', 'null'] as const

function endOfNumber(line: string, from: number): number {
  let end = from
  while (isDigit(line.charCodeAt(end))) end++
  const next = line.charCodeAt(end)
  const ends = next === comma || next === closeBrace
  if (ends && end - from < 16 && (end - from === 1 || line.charCodeAt(from) !== zero)) return end
  while (line.charCodeAt(end) !== comma && line.charCodeAt(end) !== closeBrace) end++
  const written = line.slice(from, end)
  return String(Number(written)) === written ? end : -1
}

/** Whether it is the code of a digit. */
export function isDigit(code: number): boolean {
  return code >= zero && code <= nine
}

/**
 * A copy of a text that was cut out of a longer one, for keeping: what V8 cuts out holds on to all of what it was cut from, which may be
 * megabytes.
 */
export function ownText(text: string): string {
  // Cut out of itself with one character more: that much it may hold on to. By far the fastest way to make V8 write it anew.
  return ` ${text}`.slice(1)
}
