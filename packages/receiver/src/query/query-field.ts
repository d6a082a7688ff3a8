import { levelNames, severityOfName } from '../../../../src/records/level.js'
import { msOf } from '../schemas/duration.js'
import { writtenNames } from '../schemas/levels.js'
import type { Comparison, FieldName, OwnField, Query } from './query.js'

/** The names of a record's own fields in queries. */
const names: ReadonlyMap<string, OwnField> = new Map(
  Object.entries({
    level: 'level',
    app: 'appName',
    appName: 'appName',
    env: 'env',
    host: 'machineName',
    machine: 'machineName',
    machineName: 'machineName',
    version: 'appVersion',
    appVersion: 'appVersion',
    event: 'eventId',
    eventId: 'eventId',
    error: 'error',
  } as const),
)

/** All names that are not of the context. */
export const ownNames: readonly string[] = [...names.keys(), 'since', 'until']

/** What was written behind a name: `:500`, `>=500`, `:check*`, `:"two words"`. */
export interface WrittenTest {
  readonly operator: ':' | Comparison
  readonly value: string
  /** A star stands for itself in quotation marks. */
  readonly isQuoted: boolean
}

/** What the value must be like, where it cannot be understood. */
export interface Expected {
  readonly expected: string
}

const aTime = 'a time such as 30s, 5m, 2h, 7d or 2026-11-23T12:00Z'
const isoTime = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?)?(Z|\+00:00)?$/
const writtenNumber = /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/

/** How the JSON of a number, true, false or null may begin. A store may not take other signs, such as NUL. */
const bareBegin = /^[-+.\w]+$/

/** The query that a name with a test means. A name in quotation marks is always one of the context. */
export function fieldQuery(
  { name, isQuotedName, now }: { readonly name: string; readonly isQuotedName: boolean; readonly now: number },
  test: WrittenTest,
): Query | Expected {
  if (!isQuotedName && (name === 'since' || name === 'until')) return timeQuery(name, { test, now })
  const own = isQuotedName ? undefined : names.get(name)
  if (own === 'level') return levelQuery(test)
  if (own === 'eventId') return eventQuery(test)
  if (own !== undefined && test.operator !== ':') return { expected: `":" in place of "${test.operator}"` }
  return test.operator === ':' ? valueQuery(own ?? `.${name}`, test) : numberQuery(own ?? `.${name}`, test)
}

function valueQuery(field: FieldName, { value, isQuoted }: WrittenTest): Query {
  const isOfContext = field.startsWith('.')
  if (!isQuoted && value.endsWith('*')) {
    const begin = value.slice(0, -1)
    if (begin === '') return { type: 'prefix', field, prefixes: [''] }
    const text = JSON.stringify(begin).slice(0, -1)
    return { type: 'prefix', field, prefixes: isOfContext && bareBegin.test(begin) ? [text, begin] : [text] }
  }
  const values = [JSON.stringify(value)]
  // A field of the context may hold a number, true, false or null.
  if (isOfContext && isNumber(value)) values.push(JSON.stringify(Number(value)))
  else if (isOfContext && ['true', 'false', 'null'].includes(value)) values.push(value)
  return { type: 'value', field, values }
}

function numberQuery(field: FieldName, { operator, value, isQuoted }: WrittenTest): Query | Expected {
  if (isQuoted || !writtenNumber.test(value)) return { expected: 'a number' }
  return { type: 'number', field, is: operator as Comparison, than: Number(value) }
}

function eventQuery(test: WrittenTest): Query | Expected {
  const { operator, value } = test
  if (operator !== ':') return numberQuery('eventId', test)
  if (value === '*') return { type: 'prefix', field: 'eventId', prefixes: [''] }
  if (!isNumber(value)) return { expected: 'a number' }
  return { type: 'value', field: 'eventId', values: [JSON.stringify(Number(value))] }
}

/** JSON has null for a number that is too large: it would be taken for one. */
function isNumber(value: string): boolean {
  return writtenNumber.test(value) && Number.isFinite(Number(value))
}

function levelQuery(test: WrittenTest): Query | Expected {
  const { operator, value } = test
  if (operator === ':') {
    if (!test.isQuoted && value.endsWith('*')) return valueQuery('level', test)
    const written = new Set([value, ...writtenNames(value.toLowerCase())])
    return { type: 'value', field: 'level', values: [...written].map((name) => JSON.stringify(name)) }
  }
  const bound = severityOfName(value)
  if (bound === undefined) return { expected: `one of ${levelNames.join(', ')}` }
  const found = levelNames.filter((name) => compare(severityOfName(name)!, operator, bound))
  return { type: 'value', field: 'level', values: found.flatMap(writtenNames).map((name) => JSON.stringify(name)) }
}

function compare(a: number, operator: Comparison, b: number): boolean {
  if (operator === '<') return a < b
  if (operator === '<=') return a <= b
  return operator === '>' ? a > b : a >= b
}

function timeQuery(
  name: 'since' | 'until',
  { test: { operator, value }, now }: { readonly test: WrittenTest; readonly now: number },
): Query | Expected {
  const ago = msOf(value)
  const isZoned = /Z$|\+/.test(value)
  const ms = ago !== undefined ? now - ago : isoTime.test(value) ? Date.parse(timed(value, isZoned)) : Number.NaN
  if (operator !== ':' || !Number.isSafeInteger(ms)) return { expected: aTime }
  return { type: 'time', [name]: ms }
}

/** A time without a zone is one of UTC. */
function timed(value: string, isZoned: boolean): string {
  return isZoned || !value.includes('T') ? value : `${value}Z`
}
