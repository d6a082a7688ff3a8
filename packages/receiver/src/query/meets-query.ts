import { type ContextField, contextFields } from '../storage/records/context-fields.js'
import { errorKindOf } from '../storage/records/error-kind.js'
import { recordTimeMs } from '../storage/records/record-times.js'
import { messageWords } from '../storage/records/words.js'
import type { Comparison, FieldName, OwnField, Query } from './query.js'

/** The parts of a record that queries look at. */
export type SearchedRecord = { readonly timeStamp: number; readonly message?: string } & {
  readonly [Field in Exclude<OwnField, 'error'>]?: string | number
}

/** True if the record is what the query means. Stores give the same answer. */
export function meetsQuery(record: SearchedRecord, query: Query): boolean {
  return meets(new Parts(record), query)
}

/** The parts of a record, taken apart when they are needed. */
class Parts {
  readonly #record: SearchedRecord
  #words: string | undefined
  #context: readonly ContextField[] | undefined

  constructor(record: SearchedRecord) {
    this.#record = record
  }

  get timeMs(): number {
    return recordTimeMs(this.#record.timeStamp)
  }

  /** Each with a space before and behind it. */
  get words(): string {
    this.#words ??= ` ${messageWords(this.#record.message).join(' ')} `
    return this.#words
  }

  /** The values of the field as JSON; undefined in place of one that is too long. */
  values(field: FieldName): readonly (string | undefined)[] {
    if (!isOfContext(field)) {
      const value = field === 'error' ? errorKindOf(this.#record)?.id : this.#record[field]
      return value === undefined ? [] : [JSON.stringify(value)]
    }
    this.#context ??= contextFields(this.#record.message ?? '')
    const wanted = field.slice(1)
    return this.#context.filter(({ path }) => path === wanted).map(({ json }) => json)
  }
}

function isOfContext(field: FieldName): field is `.${string}` {
  return field.startsWith('.')
}

function meets(parts: Parts, query: Query): boolean {
  switch (query.type) {
    case 'all':
      return query.of.every((each) => meets(parts, each))
    case 'any':
      return query.of.some((each) => meets(parts, each))
    case 'not':
      return !meets(parts, query.of)
    case 'words':
      return parts.words.includes(` ${query.phrase.join(' ')}${query.isPrefix ? '' : ' '}`)
    case 'value':
      return parts.values(query.field).some((json) => json !== undefined && query.values.includes(json))
    case 'prefix':
      return parts.values(query.field).some((json) => query.prefixes.some((prefix) => (json ?? '').startsWith(prefix)))
    case 'number':
      return parts.values(query.field).some((json) => json !== undefined && compares(json, query))
    case 'time':
      return parts.timeMs >= (query.since ?? -Infinity) && parts.timeMs < (query.until ?? Infinity)
  }
}

/** True if the JSON is a number for which the comparison holds. A text of digits is no number: its JSON begins with a quotation mark. */
export function compares(json: string, { is, than }: { readonly is: Comparison; readonly than: number }): boolean {
  if (!/^[-\d]/.test(json)) return false
  const number = Number(json)
  if (is === '<') return number < than
  if (is === '<=') return number <= than
  return is === '>' ? number > than : number >= than
}
