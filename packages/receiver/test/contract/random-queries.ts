import type { NewRecord, StoredRecord } from '../../dist/storage/record-storage.js'
import { timeOf } from './oracle.js'
import { randomRecord } from './random-records.js'

type Random = () => number
type Context = Readonly<Record<string, unknown>>

const levels = ['silly', 'debug', 'info', 'info', 'warn', 'error', 'Warn', 'FATAL', 'wArn', 'audit', '']
const keys = [
  'reqId',
  'req.method',
  'user',
  'a b',
  'a"b',
  'tags',
  'n',
  'a:b',
  'é',
  '__proto__',
  'app',
  '',
  '\ud800',
  'x>y',
]
const texts = [
  'req-21c',
  'req-21',
  'POST',
  'Post',
  '',
  '500',
  'true',
  'a b',
  'a"b\\',
  '(x)',
  '*',
  'é\0',
  '\udc00',
  "'; --",
  'x'.repeat(300),
]
const numbers = [0, -1, 5, 50, 500, 503, 1.5, 1e21, 5e-324, Number.MAX_VALUE]
const words = ['order', 'orders', 'Order', 'caffè', 'caffe', 'e2e', '42', 'NOT', 'OR', 'check', 'checkout', '日本', 'x']

/** A record whose message may have a context. The context is returned beside it: the oracle does not take messages apart. */
export function randomLog(random: Random, { bucket, number }: { bucket: string; number: number }) {
  const { record, ...rest } = randomRecord(random, { kind: 'logs', bucket, number })
  const context = random() < 0.8 ? randomContext(random) : undefined
  const text = Array.from({ length: Math.floor(random() * 4) }, () => oneOf(random, words)).join(
    oneOf(random, [' ', '-', ', ']),
  )
  const stack = random() < 0.2 ? '\nTypeError: order of x\n    at check (file.js:42:1)' : ''
  const json = context === undefined ? '' : JSON.stringify(context)
  const message = `${text}${text === '' || json === '' ? '' : ' '}${json}${stack}`
  const log = { ...rest, record: { ...record, level: oneOf(random, levels), message } } satisfies NewRecord
  return { log, context }
}

function randomContext(random: Random): Context {
  const size = random() < 0.02 ? 80 : 1 + Math.floor(random() * 4)
  const pairs = Array.from({ length: size }, (_, at) => [
    size > 50 ? `k${at}` : oneOf(random, keys),
    randomValue(random, 0),
  ])
  return Object.fromEntries(pairs)
}

function randomValue(random: Random, depth: number): unknown {
  const kind = random()
  if (kind < 0.1 && depth < 3)
    return Object.fromEntries([[oneOf(random, ['id', 'method', '']), randomValue(random, depth + 1)]])
  if (kind < 0.2 && depth < 3)
    return Array.from({ length: Math.floor(random() * 3) }, () => randomValue(random, depth + 1))
  if (kind < 0.3) return oneOf(random, [true, false, null])
  return kind < 0.6 ? oneOf(random, numbers) : oneOf(random, texts)
}

/** A record with what the oracle knows about it. */
export interface KnownLog {
  readonly record: StoredRecord
  readonly words: string
  readonly fields: ReadonlyMap<string, readonly unknown[]>
}

/** What a query of the language means, beside its text. */
export interface RandomQuery {
  readonly written: string
  readonly means: (log: KnownLog) => boolean
}

export function randomQuery(random: Random, depth = 0): RandomQuery {
  const kind = random()
  if (depth < 3 && kind < 0.2) {
    const [a, b] = [randomQuery(random, depth + 1), randomQuery(random, depth + 1)]
    return { written: `(${a.written} OR ${b.written})`, means: (log) => a.means(log) || b.means(log) }
  }
  if (depth < 3 && kind < 0.45) {
    const [a, b] = [randomQuery(random, depth + 1), randomQuery(random, depth + 1)]
    const written = `${a.written}${oneOf(random, [' ', '  ', ' AND '])}${b.written}`
    return { written: depth === 0 ? written : `(${written})`, means: (log) => a.means(log) && b.means(log) }
  }
  if (depth < 3 && kind < 0.6) {
    const left = randomQuery(random, 3)
    return { written: `${oneOf(random, ['-', 'NOT ', 'NOT  '])}${left.written}`, means: (log) => !left.means(log) }
  }
  return oneOf(random, [
    wordQuery,
    wordQuery,
    ownQuery,
    levelQuery,
    contextQuery,
    contextQuery,
    numberQuery,
    timeQuery,
    errorQuery,
  ])(random)
}

function wordQuery(random: Random): RandomQuery {
  const word = oneOf(
    random,
    words.filter((each) => !['NOT', 'OR'].includes(each)),
  )
  const plain = word.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase()
  const kind = random()
  if (kind < 0.3) {
    const begin = plain.slice(0, 1 + Math.floor(random() * plain.length))
    return { written: `${begin}*`, means: ({ words }) => words.includes(` ${begin}`) }
  }
  if (kind < 0.5) {
    const next = oneOf(random, ['order', 'x', '42', 'check'])
    return { written: `"${word}, ${next}"`, means: ({ words }) => words.includes(` ${plain} ${next} `) }
  }
  return { written: word, means: ({ words }) => words.includes(` ${plain} `) }
}

function ownQuery(random: Random): RandomQuery {
  const [name, field] = oneOf(random, [
    ['app', 'appName'],
    ['env', 'env'],
    ['host', 'machineName'],
    ['version', 'appVersion'],
  ] as const)
  const kind = random()
  if (kind < 0.2) return { written: `${name}:*`, means: ({ record }) => record[field] !== undefined }
  const value = oneOf(random, ['shop', 'Shop', 'shop ', 'a', 'a\0b', 'é', '\udc00', '1.0', '', 'none', 'constructor'])
  if (kind < 0.5 && /^[\w.]+$/.test(value)) {
    return { written: `${name}:${value}*`, means: ({ record }) => String(record[field] ?? '').startsWith(value) }
  }
  return compared(random, { name, value: quoted(value), means: ({ record }) => record[field] === value })
}

function levelQuery(random: Random): RandomQuery {
  const names = ['silly', 'trace', 'debug', 'verbose', 'info', 'warn', 'warning', 'error', 'fatal']
  const ranks: Record<string, number> = {
    silly: 0,
    trace: 0,
    debug: 1,
    verbose: 1,
    info: 2,
    warn: 3,
    warning: 3,
    error: 4,
    fatal: 5,
  }
  const ways = (name: string) => [name, name.toUpperCase(), name[0]!.toUpperCase() + name.slice(1)]
  const level = oneOf(random, names)
  if (random() < 0.5)
    return compared(random, {
      name: 'level',
      value: level,
      means: ({ record }) => ways(level).includes(String(record.level)),
    })
  const [operator, holds] = oneOf(random, comparisons)
  const found = names.filter((name) => holds(ranks[name]!, ranks[level]!)).flatMap(ways)
  return { written: `level${operator}${level}`, means: ({ record }) => found.includes(String(record.level)) }
}

/** A value with one of the signs for it, or the one for every other value. */
function compared(
  random: Random,
  { name, value, means }: { name: string; value: string; means: RandomQuery['means'] },
): RandomQuery {
  const sign = oneOf(random, [':', ':', '=', '!='])
  return { written: `${name}${sign}${value}`, means: (log) => means(log) === (sign !== '!=') }
}

const comparisons = [
  ['<', (a: number, b: number) => a < b],
  ['<=', (a: number, b: number) => a <= b],
  ['>', (a: number, b: number) => a > b],
  ['>=', (a: number, b: number) => a >= b],
] as const

const paths = [
  'reqId',
  'req.method',
  'user',
  'user.id',
  'a b',
  'a"b',
  'tags',
  'tags.id',
  'n',
  'a:b',
  'é',
  'app',
  'k3',
  'k70',
  'x>y',
  'none',
]

function contextQuery(random: Random): RandomQuery {
  const path = oneOf(random, paths)
  const values = ({ fields }: KnownLog) => fields.get(path) ?? []
  const kind = random()
  if (kind < 0.2) return { written: `${nameOf(path)}:*`, means: (log) => values(log).length > 0 }
  if (kind < 0.4) {
    const begin = oneOf(random, ['req', 'P', '50', 't', 'a', '-'])
    const means = (log: KnownLog) => values(log).some((value) => isShort(value) && String(value).startsWith(begin))
    return { written: `${nameOf(path)}:${begin}*`, means }
  }
  const value = oneOf(random, [...texts, ...numbers.map(String), 'null'])
  const means = (log: KnownLog) => values(log).some((each) => isShort(each) && String(each) === value)
  return compared(random, { name: nameOf(path), value: quoted(value), means })
}

function numberQuery(random: Random): RandomQuery {
  const [operator, holds] = oneOf(random, comparisons)
  const than = oneOf(random, numbers)
  const written = String(than).replace('+', '')
  if (random() < 0.2) {
    const means = ({ record }: KnownLog) => typeof record.eventId === 'number' && holds(record.eventId, than)
    return { written: `event${operator}${written}`, means }
  }
  const path = oneOf(random, paths)
  const means = ({ fields }: KnownLog) =>
    (fields.get(path) ?? []).some((value) => typeof value === 'number' && holds(value, than))
  return { written: `${nameOf(path)}${operator}${written}`, means }
}

function errorQuery(): RandomQuery {
  const isError = ({ record }: KnownLog) =>
    ['error', 'fatal'].includes(String(record.level).toLowerCase()) || String(record.message).includes('\n    at ')
  return { written: 'error:*', means: isError }
}

function timeQuery(random: Random): RandomQuery {
  const iso = oneOf(random, ['2024-04-01T00:30:00Z', '2024-04-01T00:00Z', '2024-03-31', '2024-04-01T01:10:11.5Z'])
  const ms = Date.parse(iso)
  return random() < 0.5
    ? { written: `since:${iso}`, means: ({ record }) => timeOf(record) >= ms }
    : { written: `until:${iso}`, means: ({ record }) => timeOf(record) < ms }
}

/** What the oracle knows about a record. */
export function knownLog(record: StoredRecord, context: Context | undefined): KnownLog {
  const plain = readText(String(record.message), context).normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase()
  const fields = new Map<string, unknown[]>()
  let left = 64
  const add = (path: string, value: unknown): void => {
    if (left === 0) return
    if (Array.isArray(value)) for (const each of value) add(path, each)
    else if (typeof value === 'object' && value !== null)
      for (const [key, each] of Object.entries(value)) add(`${path}.${key}`, each)
    else {
      left--
      fields.set(path, [...(fields.get(path) ?? []), value])
    }
  }
  for (const [key, value] of Object.entries(context ?? {})) add(key, value)
  return { record, words: ` ${(plain.match(/[\p{L}\p{N}\p{Co}]+/gu) ?? []).join(' ')} `, fields }
}

/** What a person reads in a message: the names and values of its context, without the signs of JSON. */
function readText(message: string, context: Context | undefined): string {
  if (context === undefined) return message
  const read = (value: unknown): string => {
    if (Array.isArray(value)) return value.map(read).join(' ')
    if (typeof value !== 'object' || value === null) return String(value)
    return Object.entries(value)
      .map(([key, each]) => `${key} ${read(each)}`)
      .join(' ')
  }
  const [text, stack] = message.split(JSON.stringify(context))
  return `${text} ${read(context)} ${stack}`
}

function isShort(value: unknown): boolean {
  return JSON.stringify(value).length <= 200
}

/** A key is always one of the context in quotation marks. */
function nameOf(path: string): string {
  return /^[\p{L}][\w.é]*$/u.test(path) && path !== 'app' ? path : inQuotes(path)
}

/** In quotation marks where it would mean something else without. */
function quoted(text: string): string {
  return /^[\w.'-]+$/.test(text) ? text : inQuotes(text)
}

function inQuotes(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`
}

function oneOf<Value>(random: Random, values: readonly Value[]): Value {
  return values[Math.floor(random() * values.length)]!
}
