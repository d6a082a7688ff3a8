import { hostname } from 'node:os'
import fc from 'fast-check'
import pino, { type LoggerOptions } from 'pino'
import { sluicePino } from 'sluice/pino'
import { captureSluice } from 'sluice/testing'
import { expect, it } from 'vitest'
import { lineMapper } from '../../src/records/line.js'
import { runs } from '../support/full.js'

const pinoLevels = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, fatal: 60 } as const
type Level = keyof typeof pinoLevels | 'gold'

/** What a formatter may make of the level. */
const levelFormatters: readonly ((label: string, number: number) => object)[] = [
  (_, level) => ({ level }),
  (level) => ({ level }),
  (label) => ({ level: label.toUpperCase() }),
  (severity) => ({ severity: severity.toUpperCase() }),
  (status) => ({ status }),
  (_, lvl) => ({ lvl }),
  (label) => ({ 'log.level': label }),
  (level) => ({ log: { level, logger: 'db' } }),
  (level) => ({ log: { level } }),
  (_, priority) => ({ priority }),
  (label, level) => ({ level, levelName: label }),
  (label, number) => ({ kind: 'log', severity: label, number }),
]
const timestamps: readonly LoggerOptions['timestamp'][] = [
  true,
  false,
  pino.stdTimeFunctions.isoTime,
  pino.stdTimeFunctions.unixTime,
  () => `,"@timestamp":"${new Date().toISOString()}"`,
  () => `,"timestamp":${Date.now()}`,
]
const values = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.integer(),
  fc.boolean(),
  fc.constantFrom(null, 'error', 'warn', 30, 1_700_000_000_000, process.pid, hostname()),
  fc.jsonValue({ maxDepth: 2, noNullPrototype: true } as fc.JsonSharedConstraints),
)
const fields = fc.dictionary(
  fc.constantFrom('a', 'b', 'name', 'status', 'severity', 'lvl', 'pid', 'hostname', 'time', 'level', 'log', 'eventId'),
  values,
  { maxKeys: 4, noNullPrototype: true },
)
const loggers = fc.record({
  formatter: fc.constantFrom(undefined, ...levelFormatters),
  timestamp: fc.constantFrom(...timestamps),
  base: fc.constantFrom(undefined, null, { pid: 1, hostname: 'other' }, { service: 'shop' }),
  name: fc.option(fc.constant('shop'), { nil: undefined }),
  messageKey: fc.constantFrom('msg', 'message', 'event'),
  nestedKey: fc.constantFrom(undefined, 'payload'),
})
const calls = fc.record({
  level: fc.constantFrom<Level>('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'gold'),
  fields,
  bindings: fc.option(fields, { nil: undefined }),
  message: fc.oneof(fc.string(), fc.constantFrom('error', 'info', undefined)),
})

/** The fields of an object of JSON, those with one name one after another. */
function membersOf(line: string): [key: string, value: unknown][] {
  const members: [string, unknown][] = []
  let depth = 0
  let start = 1
  let isText = false
  for (let at = 1; at < line.length; at++) {
    const sign = line[at]
    if (isText) {
      if (sign === '\\') at++
      else if (sign === '"') isText = false
      continue
    }
    if (sign === '"') isText = true
    else if (sign === '{' || sign === '[') depth++
    else if ((sign === ',' && depth === 0) || (at === line.length - 1 && at > start)) {
      const member: Record<string, unknown> = JSON.parse(`{${line.slice(start, at)}}`)
      members.push(...Object.entries(member))
      start = at + 1
    } else if (sign === '}' || sign === ']') depth--
  }
  return members
}

const namesOfLevel = ['level', 'severity', 'lvl', 'status', 'log.level']
const numbers: Readonly<Record<string, number>> = { ...pinoLevels, gold: 35 }
const labels = Object.fromEntries(Object.entries(numbers).map(([label, number]) => [number, label]))
const isKnown = (level: unknown) =>
  typeof level === 'number' ? labels[level] !== undefined : typeof level === 'string' && level.toLowerCase() in numbers

/** The name of a line's level, read from its JSON alone. */
function levelOf(line: string): string {
  const members = membersOf(line)
  const written = (key: string, value: unknown): unknown => {
    if (key === 'log')
      return isKnown((value as { level?: unknown } | null)?.level) ? (value as { level: unknown }).level : undefined
    if (!namesOfLevel.includes(key)) return undefined
    if (key === 'level')
      return typeof value === 'number' || (typeof value === 'string' && value !== '') ? value : undefined
    return isKnown(value) ? value : undefined
  }
  // Of two fields with one name, the first is pino's.
  const first = members.filter(([key], at) => members.findIndex(([other]) => other === key) === at)
  const levelAmong = (some: typeof members) =>
    some.map(([key, value]) => written(key, value)).find((level) => level !== undefined)
  // pino writes its level before time and base.
  const mark = first.findIndex(([key]) => ['time', 'pid', 'hostname'].includes(key))
  const head = first.slice(0, Math.max(mark, 0))
  const unknown = head
    .slice(0, 1)
    .map(([, value]) => value)
    .find(isKnown)
  const level = levelAmong(head) ?? unknown ?? levelAmong(first)
  return level === undefined ? 'info' : nameOf(level)
}

function nameOf(level: unknown): string {
  if (typeof level === 'string') return level.toLowerCase()
  const below = Object.values(numbers).filter((number) => number <= (level as number))
  return labels[Math.max(...below, 10)]!
}

it('pino’s target and sluicePino() make the same record, of the level that the line has, whatever the logger is', {
  timeout: 300_000,
}, () => {
  fc.assert(
    fc.property(loggers, calls, ({ formatter, base, nestedKey, ...setting }, { level, fields, bindings, message }) => {
      const options = {
        ...setting,
        level: 'trace',
        customLevels: { gold: 35 },
        ...(base === undefined ? {} : { base }),
        ...(nestedKey === undefined ? {} : { nestedKey }),
        ...(formatter === undefined ? {} : { formatters: { level: formatter } }),
      } as LoggerOptions<'gold'>
      using captured = captureSluice()
      let line = ''
      const stream = sluicePino()
      const write = stream.write.bind(stream)
      stream.write = (text) => {
        line = String(text).slice(0, -1)
        return write(text)
      }
      const logger = pino(options, stream)
      // Of two fields of the application with one name, JSON has the last.
      const bound = bindings && Object.fromEntries(Object.entries(bindings).filter(([key]) => !(key in fields)))
      const child = bound === undefined ? logger : logger.child(bound)
      child[level](fields, message as string)

      const [{ timeStamp, level: shown, message: text, eventId } = expect.fail('no record')] = captured.logs
      const { messageKey } = setting
      const style = { labels: logger.levels.labels, messageKey, errorKey: 'err' }
      const target = lineMapper({ ...style, context: 'json', maxMessageBytes: 32_768, timestampUnit: 'ms' })
      const { fields: other } = target(line, { arrivedAt: timeStamp })
      expect({ ...other, eventId: other.eventId }).toEqual({ timeStamp, level: shown, message: text, eventId })
      expect(shown).toBe(levelOf(line))
      for (const { name } of [fields, bound ?? {}] as { readonly name?: unknown }[]) {
        if (name !== undefined && nestedKey === undefined) expect(text).toContain(`"name":${JSON.stringify(name)}`)
      }
    }),
    { numRuns: runs({ some: 1000, all: 20_000 }) },
  )
})
