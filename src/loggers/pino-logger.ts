import { hostname } from 'node:os'
import { ConfigError } from '../errors/sluice-error.js'
import { severityOfName, severityOfNumber } from '../records/level.js'
import type { IsBase, PinoStyle } from '../records/pino-line.js'
import { ownText } from '../records/plain-fields.js'

/**
 * What pino's target knows of its logger's base: pid and hostname are those of this process. The name it has to learn, for pino tells
 * it to nobody: a logger's name stands in every line and is always the same, so that a line without it, or with another, shows that
 * what stands in its place are fields of the application's.
 */
export function learnedBase(): IsBase {
  const host = hostname()
  let name: unknown
  let isField = false
  return (key, value) => {
    if (key === 'pid') return value === process.pid
    if (key === 'hostname') return value === host
    name ??= typeof value === 'string' ? ownText(value) : value
    if (value === undefined || value !== name) isField = true
    return !isField
  }
}

/**
 * The base of a logger in this thread: pid, hostname and name as its root has bound them. pino keeps them under a symbol of its own, as
 * the text with which its lines begin. Undefined where it is not found.
 */
export function baseOf(logger: object): Readonly<Record<string, unknown>> | undefined {
  let bound: unknown
  for (let each: object | null = logger; each !== null; each = Object.getPrototypeOf(each)) {
    const key = Object.getOwnPropertySymbols(each).find(({ description }) => description === 'pino.chindings')
    if (key !== undefined) bound = (each as Record<symbol, unknown>)[key]
  }
  if (typeof bound !== 'string') return undefined
  try {
    const { pid, hostname, name } = JSON.parse(`{${bound.slice(1)}}`)
    return { pid, hostname, name }
  } catch {
    return undefined
  }
}

/** What pino tells of a logger's levels. */
export interface PinoLevels {
  readonly labels?: Readonly<Record<string, string>>
  readonly values?: Readonly<Record<string, number>>
}

/** Whether a line is severe enough; by its number where it has one. */
export type LevelGate = (line: { readonly number: number | undefined; readonly severity: number }) => boolean

/**
 * What the option `level` lets through. The level is one of the logger's, or the name that another logger gives to it, so that one
 * SLUICE_LEVEL serves all.
 *
 * @throws {ConfigError} for a name that nobody knows
 */
export function levelGate(level: string | undefined, values: PinoLevels['values']): LevelGate {
  if (level === undefined) return () => true
  const lowest = values?.[level]
  const severity = lowest === undefined ? severityOfName(level) : severityOfNumber(lowest)
  if (severity !== undefined) {
    return (line) =>
      lowest !== undefined && line.number !== undefined ? line.number >= lowest : line.severity >= severity
  }
  const message = `option level (SLUICE_LEVEL): expected the name of a level, such as info or warn, got ${JSON.stringify(level)}`
  throw new ConfigError({
    code: 'SLUICE_CONFIG_INVALID',
    option: 'level',
    variable: 'SLUICE_LEVEL',
    value: level,
    message,
  })
}

/** Loggers that may be known by their base: an application that makes one for each request would fill the memory with them. */
const maxStyles = 64
const styles = new Map<string, PinoStyle>()

/** Loggers that are configured alike have one style: the worker is told of it once. */
export function sharedStyle(style: PinoStyle): PinoStyle {
  const text = JSON.stringify(style)
  const known = styles.get(text)
  if (known !== undefined) return known
  if (styles.size >= maxStyles && style.base !== undefined) return sharedStyle({ ...style, base: undefined })
  styles.set(text, style)
  return style
}
