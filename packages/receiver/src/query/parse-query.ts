import { wordsIn } from '../storage/records/words.js'
import { allOf, anyOf, type Query } from './query.js'
import { QueryError } from './query-error.js'
import { fieldQuery } from './query-field.js'
import {
  otherSigns,
  tests,
  type Unexpected,
  unexpectedIn,
  unexpectedInValue,
  unexpectedInWords,
  type WrittenSign,
  writtenSign,
} from './written-signs.js'

/** Longest query, in characters. */
export const maxQueryLength = 1000
const maxConditions = 100
const maxDepth = 20

/**
 * Reads a query. `docs/searching.md` has the grammar.
 *
 * @param now ms since 1970, from which times ago are counted
 * @returns the query; undefined for an empty one, which every record meets
 * @throws {QueryError} for a query that cannot be understood
 */
export function parseQuery(written: string, now: number): Query | undefined {
  if (written.length > maxQueryLength) {
    throw new QueryError(`expected at most ${maxQueryLength} characters`, { position: maxQueryLength + 1 })
  }
  return written.trim() === '' ? undefined : new Parser(written, now).query()
}

/** Where a text stands in quotation marks. */
interface Quoted {
  readonly text: string
  readonly isQuoted: boolean
}

class Parser {
  readonly #written: string
  readonly #now: number
  #at = 0
  #conditions = 0
  #depth = 0

  constructor(written: string, now: number) {
    this.#written = written
    this.#now = now
  }

  query(): Query {
    const found = this.#any()
    if (this.#at < this.#written.length) throw this.#error('unexpected ")"')
    if (found === undefined) throw new QueryError('expected a word with a letter or a digit', { position: 1 })
    return found
  }

  /** Undefined where there are only signs, which are no words. */
  #any(): Query | undefined {
    const parts = [this.#all()]
    while (this.#takesWord('OR')) parts.push(this.#all())
    const found = parts.filter((part) => part !== undefined)
    return found.length === 0 ? undefined : anyOf(found)
  }

  #all(): Query | undefined {
    const parts = [this.#one()]
    while (!this.#isAtEnd()) {
      this.#takesWord('AND')
      parts.push(this.#one())
    }
    const found = parts.filter((part) => part !== undefined)
    return found.length === 0 ? undefined : allOf(found)
  }

  #one(): Query | undefined {
    this.#skipSpaces()
    const begin = this.#at
    const isMinus = this.#written[begin] === '-' && this.#hasMore(begin + 1)
    if (isMinus) this.#at++
    if (isMinus || this.#takesWord('NOT')) {
      return this.#nested(begin, () => {
        const left = this.#one()
        return left === undefined ? undefined : { type: 'not', of: left }
      })
    }
    if (this.#written[begin] !== '(') return this.#condition()
    this.#at++
    return this.#nested(begin, () => {
      const found = this.#any()
      if (this.#written[this.#at] !== ')') throw this.#error(`expected ")" for the "(" at ${begin + 1}`)
      this.#at++
      return found
    })
  }

  #nested(begin: number, read: () => Query | undefined): Query | undefined {
    if (++this.#depth > maxDepth)
      throw new QueryError(`expected at most ${maxDepth} levels of ( and NOT`, { position: begin + 1 })
    const found = read()
    this.#depth--
    return found
  }

  #condition(): Query | undefined {
    const begin = this.#at
    if (this.#isOver() || this.#isOperator('OR') || this.#isOperator('AND')) throw this.#error('expected a condition')
    if (++this.#conditions > maxConditions) throw this.#error(`expected at most ${maxConditions} conditions`)
    const name = this.#name()
    const operator = name === undefined ? undefined : this.#operator()
    if (name !== undefined && operator !== undefined) return this.#field(name, { operator, begin })
    this.#at = begin
    return this.#words()
  }

  #words(): Query | undefined {
    const begin = this.#at
    const { text, isQuoted } = this.#value()
    if (!isQuoted) this.#check(begin, unexpectedInWords(text) ?? unexpectedIn(text))
    const hasStar = isQuoted ? this.#written[this.#at] === '*' : text.endsWith('*')
    if (isQuoted && hasStar) this.#at++
    if (text === '*') return { type: 'all', of: [] }
    const phrase = wordsIn(text)
    if (phrase.length === 0) return undefined
    // The star goes with the last word only if nothing stands between them.
    const goesOn = hasStar && /[\p{L}\p{N}\p{M}\p{Co}]\*?$/u.test(text)
    return { type: 'words', phrase, ...(goesOn ? { isPrefix: true } : {}) }
  }

  #field(name: Quoted, { operator, begin }: { operator: WrittenSign; begin: number }): Query {
    const head = this.#written.slice(begin, this.#at)
    const at = this.#at
    const isMissing = this.#isOver() || /\s/.test(this.#written[at]!)
    const { text: value, isQuoted } = isMissing ? { text: '', isQuoted: false } : this.#value()
    if (value === '' && !isQuoted) throw new QueryError(`expected a value after "${head}"`, { position: at + 1 })
    if (!name.isQuoted) this.#check(begin, unexpectedIn(`${name.text}.`))
    if (!isQuoted) this.#check(at, unexpectedInValue(name.text, value) ?? unexpectedIn(value))
    const field = { name: name.text, isQuotedName: name.isQuoted, now: this.#now }
    const found = fieldQuery(field, { operator: tests[operator], value, isQuoted })
    if ('expected' in found) throw new QueryError(`expected ${found.expected} after "${head}"`, { position: at + 1 })
    return operator === '!=' ? { type: 'not', of: found } : found
  }

  /** @throws {QueryError} for a sign that the language does not have */
  #check(begin: number, found: Unexpected | undefined): void {
    if (found === undefined) return
    const { sign, at, advice } = found
    throw new QueryError(`unexpected "${sign}"`, {
      position: begin + at + 1,
      advice: `${advice}, or put the text in quotation marks`,
    })
  }

  /** The name of a field, if one stands here. */
  #name(): Quoted | undefined {
    if (this.#written[this.#at] === '"') return this.#quoted()
    const [name] = /^[\p{L}_$@](?:[^\s:<>"()=~|!]|!(?![=~]))*/u.exec(this.#written.slice(this.#at)) ?? []
    if (name === undefined) return undefined
    this.#at += name.length
    return { text: name, isQuoted: false }
  }

  #operator(): WrittenSign | undefined {
    const [sign] = writtenSign.exec(this.#written.slice(this.#at)) ?? []
    if (sign === undefined) return undefined
    const advice = otherSigns[sign]
    if (advice !== undefined) this.#check(this.#at, { sign, at: 0, advice })
    this.#at += sign.length
    return sign as WrittenSign
  }

  /** A text in quotation marks, or all up to the next space or the end of the group. Parentheses within it belong to it. */
  #value(): Quoted {
    if (this.#written[this.#at] === '"') return this.#quoted()
    const begin = this.#at
    let open = 0
    for (; this.#at < this.#written.length; this.#at++) {
      const sign = this.#written[this.#at]!
      if (/\s/.test(sign) || (sign === ')' && open === 0)) break
      if (sign === '(') open++
      if (sign === ')') open--
    }
    return { text: this.#written.slice(begin, this.#at), isQuoted: false }
  }

  #quoted(): Quoted {
    const begin = this.#at
    const [whole, text] = /^"((?:[^"\\]|\\[\s\S])*)"/.exec(this.#written.slice(begin)) ?? []
    if (whole === undefined)
      throw new QueryError('expected a second quotation mark for the one', { position: begin + 1 })
    this.#at += whole.length
    return { text: text!.replaceAll(/\\(["\\])/g, '$1'), isQuoted: true }
  }

  #takesWord(word: 'OR' | 'AND' | 'NOT'): boolean {
    this.#skipSpaces()
    if (!this.#isOperator(word)) return false
    this.#at += word.length
    return true
  }

  /** An operator is written in capital letters and stands alone. */
  #isOperator(word: 'OR' | 'AND' | 'NOT'): boolean {
    const end = this.#at + word.length
    return this.#written.slice(this.#at, end) === word && /^(?:[\s(")]|$)/.test(this.#written.slice(end, end + 1))
  }

  #isAtEnd(): boolean {
    this.#skipSpaces()
    return this.#isOver() || this.#isOperator('OR')
  }

  #isOver(): boolean {
    return this.#at >= this.#written.length || this.#written[this.#at] === ')'
  }

  #hasMore(at: number): boolean {
    return at < this.#written.length && !/[\s)]/.test(this.#written[at]!)
  }

  #skipSpaces(): void {
    while (this.#at < this.#written.length && /\s/.test(this.#written[this.#at]!)) this.#at++
  }

  #error(message: string): QueryError {
    return new QueryError(message, { position: this.#at + 1 })
  }
}
