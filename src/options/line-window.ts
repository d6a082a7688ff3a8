import { ownFields } from '../runtime/own-fields.js'

/** The option `repeat`. */
export interface RepeatOption {
  /** Most lines of one logger, level and message that are sent within a window. 1 to 1000000. */
  readonly most: number
  /** Length of a window in milliseconds. 100 to 3600000. */
  readonly windowMs: number
}

/** The option `keepForError`. */
export interface KeepForErrorOption {
  /** Most lines that are kept for an error. 1 to 100000. */
  readonly lines: number
  /** Longest time in milliseconds that a line is kept. 100 to 3600000. */
  readonly windowMs: number
}

/** The kind of an option with a number of lines and a time. */
export interface LineWindowKind {
  readonly type: 'line-window'
  /** Property with the number of lines. */
  readonly count: 'most' | 'lines'
  /** The most lines. */
  readonly max: number
}

const minWindowMs = 100
const maxWindowMs = 3_600_000
const unitsMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** The complete settings of an object, or of a text such as `10/60s`; undefined for an invalid option. */
export function checkLineWindow(kind: LineWindowKind, value: unknown): RepeatOption | KeepForErrorOption | undefined {
  if (typeof value === 'string') return readLineWindow(kind, value)
  if (typeof value !== 'object' || value === null) return undefined
  const { [kind.count]: count, windowMs, ...unknown } = ownFields(value as Record<string, unknown>)
  if (Object.keys(unknown).length > 0) return undefined
  if (!isWhole(count, 1, kind.max) || !isWhole(windowMs, minWindowMs, maxWindowMs)) return undefined
  return kind.count === 'most' ? { most: count, windowMs } : { lines: count, windowMs }
}

/** The settings of a text such as `10/60s`; undefined for an invalid one. */
export function readLineWindow(kind: LineWindowKind, text: string): RepeatOption | KeepForErrorOption | undefined {
  const [, count, time, unit] = /^(\d{1,9})\/(\d{1,9})(ms|s|m|h)$/.exec(text) ?? []
  if (unit === undefined) return undefined
  return checkLineWindow(kind, {
    [kind.count]: Number(count),
    windowMs: Number(time) * unitsMs[unit as keyof typeof unitsMs],
  })
}

/** The words for a valid option. */
export function lineWindowExpected(kind: LineWindowKind): string {
  const { count, max } = kind
  return `an object with ${count} (a whole number from 1 to ${max}) and windowMs (whole milliseconds from ${minWindowMs} to ${maxWindowMs}), or ${lineWindowTextExpected(kind)}`
}

/** The words for a valid variable. */
export function lineWindowTextExpected({ max }: LineWindowKind): string {
  return `a text such as 10/60s: a number of lines from 1 to ${max}, / and a time from 100ms to 1h, in ms, s, m or h`
}

function isWhole(value: unknown, min: number, max: number): value is number {
  return Number.isInteger(value) && Number(value) >= min && Number(value) <= max
}
