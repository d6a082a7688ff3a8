import { ownText } from '../records/plain-fields.js'
import { type AnswerHead, type NotUnderstood, readHead } from './answer-head.js'

const space = 0x20
const keyName = 'idempotency-key'
/** These fields have another value in each answer. */
const alwaysVarying: readonly string[] = [keyName, 'x-correlation-id']

/** Another value of one of these fields changes the meaning or the end of an answer. */
const decisive: ReadonlySet<string> = new Set([
  ...['connection', 'content-length', 'transfer-encoding', 'keep-alive', 'retry-after', 'location'],
  'content-encoding',
])

/** A part of a head that stays the same, up to a value that varies. */
interface Stretch {
  readonly text: string
  /** The value behind it. The last stretch ends the head. */
  readonly value: 'key' | 'other' | 'none'
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] }

/** Names of fields that vary, remembered for one connection. */
const mostVarying = 32
/** Learning from a head costs as much as it saves over this many heads. */
const headsPerLesson = 10

/** The value of a field, if its bytes are legal, to the end of its line. */
const legalValue = /[\t\x20-\x7e\x80-\xff]*\r\n/y
const illegal = /[^\t\x20-\x7e\x80-\xff]/

/**
 * Reads the heads of one connection. Most heads equal the one before but for a few fields: then only these fields are read. The reader
 * learns which fields vary. The result is that of {@link readHead}.
 */
export class HeadReader {
  /**
   * In the head that {@link behindAlike} found last: where the value of `idempotency-key` begins, and its end. White space may be around
   * it, and its bytes may be illegal. -1 where there is no such field.
   */
  keyAt = -1
  keyEnd = -1
  /** The head of the last lesson: its text, its values and its parts. */
  #text = ''
  #last: Mutable<AnswerHead> | undefined
  #stretches: readonly Stretch[] = []
  readonly #varying = new Set<string>(alwaysVarying)
  #sinceLesson = headsPerLesson

  /** The head of the last lesson: another object after each lesson. Its key is that of the head that was read last. */
  get learned(): AnswerHead | undefined {
    return this.#last
  }

  /**
   * @param text lines of the head, each with its CRLF, without the empty line at the end
   * @returns an object that is valid until the next call
   */
  read(text: string): AnswerHead | NotUnderstood {
    this.#sinceLesson++
    if (this.#last !== undefined && this.behindAlike(text, 0) === text.length) {
      const key = this.keyAt === -1 ? undefined : text.slice(this.keyAt, this.keyEnd)
      if (key === undefined || !illegal.test(key)) {
        this.#last.echoedKey = key?.trim()
        return this.#last
      }
    }
    if (this.#sinceLesson < headsPerLesson) return readHead(text.slice(0, -2))
    const kept = ownText(text)
    const head = readHead(kept.slice(0, -2))
    if ('failure' in head) return head
    this.#learn(kept)
    this.#last = head
    this.#sinceLesson = 0
    return head
  }

  /**
   * The position behind the lines of a head that begins at `from` and equals the learned one but for its key and for fields that say
   * nothing about a record. -1 where there is no such head.
   */
  behindAlike(text: string, from: number): number {
    this.keyAt = -1
    let at = from
    for (const stretch of this.#stretches) {
      const end = at + stretch.text.length
      if (text.slice(at, end) !== stretch.text) return -1
      if (stretch.value === 'none') return end
      if (stretch.value === 'key') {
        this.keyAt = text.charCodeAt(end) === space ? end + 1 : end
        this.keyEnd = text.indexOf('\r\n', end)
        if (this.keyEnd === -1) return -1
        at = this.keyEnd + 2
      } else {
        legalValue.lastIndex = end
        if (!legalValue.test(text)) return -1
        at = legalValue.lastIndex
      }
    }
    return -1
  }

  #learn(text: string): void {
    const before = new Set(linesOf(this.#text))
    const names = new Set([...before].map(nameOf))
    for (const line of linesOf(text)) {
      const name = nameOf(line)
      const varies = names.has(name) && !before.has(line) && !decisive.has(name)
      if (varies && this.#varying.size < mostVarying) this.#varying.add(name)
    }
    this.#text = text
    this.#stretches = stretchesOf(text, this.#varying)
  }
}

/** Each with its CRLF, the status line first. */
function linesOf(head: string): string[] {
  return head.split(/(?<=\r\n)/)
}

/** Name of a field in lower case. */
function nameOf(line: string): string {
  return line.slice(0, line.indexOf(':')).toLowerCase()
}

/** Where the key stands twice, the first counts. */
function stretchesOf(head: string, varying: ReadonlySet<string>): Stretch[] {
  const stretches: Stretch[] = []
  let keySeen = false
  let [same = '', ...fields] = linesOf(head)
  for (const line of fields) {
    const name = nameOf(line)
    if (!varying.has(name)) {
      same += line
      continue
    }
    const value: Stretch['value'] = name === keyName && !keySeen ? 'key' : 'other'
    stretches.push({ text: same + line.slice(0, name.length + 1), value })
    keySeen ||= value === 'key'
    same = ''
  }
  return [...stretches, { text: same, value: 'none' }]
}
