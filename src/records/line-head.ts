import { hostname } from 'node:os'
import { textOf } from '../errors/text-of.js'
import { type LevelNames, type Severity, severityOfName } from './level.js'
import { parseJson } from './long-numbers.js'
import { withoutColours } from './terminal-text.js'
import { timeOf } from './time.js'

/** A level, as far as it is compared. */
export interface LineLevel {
  /** pino's number; undefined for a level that is a name alone. */
  readonly number: number | undefined
  readonly severity: Severity
}

/** What a line says beside its message and the fields of the application. */
export interface LineHead {
  /** Name of the level, in lower case. */
  readonly level: string
  /** pino's number of the level, where it has one. */
  readonly number: number | undefined
  /** Milliseconds since 1970; undefined where it says none. */
  readonly time: number | undefined
  /** The fields that are not shown again. */
  readonly keys: ReadonlySet<string>
}

/** True for a process number or a host name that is left out, as it says nothing new. */
export type IsOwn = (key: 'pid' | 'hostname', value: unknown) => boolean

type Fields = Record<string, unknown>

const ownHost = hostname()
export const isOfThisProcess: IsOwn = (key, value) => value === (key === 'pid' ? process.pid : ownHost)

interface PinoHeadSetting {
  /** The line: `JSON.parse` gives the last of several fields with one name. */
  readonly text: string
  readonly names: LevelNames
  readonly isOwn: IsOwn
}

/**
 * The head of a pino line. The level is read wherever it stands, under the names that formatters give it: the first one in the line counts.
 * pino writes level and time first, so a later field of the same name is the application's and stays among its fields.
 */
export function pinoHead(line: Fields, { text, names, isOwn }: PinoHeadSetting): LineHead {
  const first = firstValues(text)
  const firstOf = (key: string): unknown => (first.has(key) ? first.get(key) : line[key])
  const keys = new Set<string>()
  const take = (key: string | undefined) => {
    if (key !== undefined && Object.is(firstOf(key), line[key])) keys.add(key)
  }
  const levelAt = (key: string) => levelIn(key, firstOf(key), names)
  const isLevel = (key: string) => levelAt(key) !== undefined
  const levelKey = levelKeyOf(line, { isLevel, isName: (key) => names.knows(firstOf(key)) })
  const written = levelKey === undefined ? undefined : (levelAt(levelKey) ?? firstOf(levelKey))
  if (levelKey !== 'log') take(levelKey)
  else if (isFields(line.log) && line.log.level === written) line.log = withoutLevel(line.log)
  const timeKey = pinoTimes.find((key) => timeOf(firstOf(key)) !== undefined)
  take(timeKey)
  for (const key of ['pid', 'hostname'] as const) if (line[key] !== undefined && isOwn(key, line[key])) keys.add(key)

  const number = typeof written === 'string' ? names.numberOf(written) : (written as number | undefined)
  return {
    level: typeof written === 'string' ? textOf(written).toLowerCase() : names.nameOf(number ?? infoNumber),
    number,
    time: timeKey === undefined ? undefined : timeOf(firstOf(timeKey)),
    keys,
  }
}

/**
 * The head of a winston line.
 *
 * @param told name of the level, where winston tells it beside the line
 */
export function winstonHead(line: Fields, told: string | undefined): LineHead {
  const timeKey = winstonTimes.find((key) => timeOf(line[key]) !== undefined)
  const keys = new Set(['level', ...(timeKey === undefined ? [] : [timeKey])])
  // The record has the time already.
  if (timeKey === undefined && isForPeople(line.timestamp)) keys.add('timestamp')
  return {
    level:
      told ??
      withoutColours(textOf(line.level ?? 'info'))
        .trim()
        .toLowerCase(),
    number: undefined,
    time: timeKey === undefined ? undefined : timeOf(line[timeKey]),
    keys,
  }
}

const infoNumber = 30
const pinoTimes = ['time', '@timestamp', 'timestamp'] as const
const winstonTimes = ['timestamp', '@timestamp'] as const
/** Names of the level with ECS, Google Cloud, Datadog and others. `log` is an object that has it. */
const levelKeys: ReadonlySet<string> = new Set(['level', 'severity', 'lvl', 'status', 'log.level', 'log'])

/** The level that this field says. Under another name than `level`, it must be one of the levels: `status` may be that of HTTP. */
function levelIn(key: string, value: unknown, names: LevelNames): unknown {
  if (!levelKeys.has(key)) return undefined
  if (key === 'level')
    return typeof value === 'number' || (typeof value === 'string' && value !== '') ? value : undefined
  const level = key !== 'log' ? value : isFields(value) ? value.level : undefined
  return names.knows(level) || (typeof level === 'string' && severityOfName(level) !== undefined) ? level : undefined
}

/**
 * The field of the level. pino writes it before all others, maybe under a name that nobody knows: then a later field, such as the `status` of an
 * order, is the application's.
 */
function levelKeyOf(
  line: Fields,
  { isLevel, isName }: Record<'isLevel' | 'isName', (key: string) => boolean>,
): string | undefined {
  const keys = Object.keys(line)
  const mark = keys.findIndex((key) => pinoMarks.has(key))
  const head = keys.slice(0, Math.max(mark, 0))
  return head.find(isLevel) ?? head.slice(0, 1).find(isName) ?? keys.find(isLevel)
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}

const pinoMarks: ReadonlySet<string> = new Set(['time', 'pid', 'hostname'])

function withoutLevel({ level: _, ...others }: Fields): Fields | undefined {
  return Object.keys(others).length === 0 ? undefined : others
}

/** Fields at the beginning of a line that are looked at, and their characters, at most. Formatters of pino write few of them. */
const maxFirst = 16
const maxFirstChars = 8192

/** The first values of the fields at the beginning of a line, by key, up to a value that is more than an object of texts and numbers. */
function firstValues(text: string): ReadonlyMap<string, unknown> {
  const [, level, time] = usualStart.exec(text) ?? []
  const values = new Map<string, unknown>()
  if (time !== undefined) return values.set('level', Number(level)).set('time', Number(time))
  const start = text.slice(0, maxFirstChars)
  field.lastIndex = 0
  for (let count = 0; count < maxFirst; count++) {
    const [, key, value] = field.exec(start) ?? []
    if (key === undefined || value === undefined) break
    const name = JSON.parse(key) as string
    if (!values.has(name)) values.set(name, parseJson(value))
  }
  return values
}

/** pino without a formatter. Nothing behind it can be the level or the time. */
const usualStart = /^\{"level":(\d{1,15}),"time":(\d{13}),/

const field = (() => {
  const written = String.raw`"(?:[^"\\]|\\.)*"`
  return new RegExp(
    String.raw`[{,](${written}):(${written}|-?\d[\d.eE+-]*|true|false|null|\{(?:${written}|[^{}"])*\})(?=[,}])`,
    'y',
  )
})()

/** True for a time in a notation of the application that `timeOf` does not know. */
function isForPeople(timestamp: unknown): boolean {
  return typeof timestamp === 'string' && /^[\d\s:.,/+TZ-]+(?:[ap]m)?$/i.test(timestamp) && /\d/.test(timestamp)
}
