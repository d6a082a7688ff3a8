import type { Redaction } from '../records/redactor.js'
import { isPathSegment } from '../records/wire.js'
import { type OptionKind, optionNames } from './defaults.js'
import {
  checkLevelShares,
  type LevelShares,
  levelSharesExpected,
  levelSharesTextExpected,
  readLevelShares,
} from './level-shares.js'
import {
  checkLineWindow,
  type KeepForErrorOption,
  lineWindowExpected,
  lineWindowTextExpected,
  type RepeatOption,
  readLineWindow,
} from './line-window.js'
import type { OptionName, ResolvedOptions, Sources } from './options.js'
import { checkRedaction, redactionExpected } from './redaction.js'
import { isSecretText, Secret } from './secret.js'

type Listener = Extract<ResolvedOptions[OptionName & keyof ResolvedOptions], (...all: never[]) => unknown>
type Value = string | number | boolean | Redaction | RepeatOption | KeepForErrorOption | LevelShares | Listener

/** A checked value, or the description of a valid one. */
export type Checked = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly expected: string }

const yes = new Set(['true', '1', 'yes', 'on'])
const no = new Set(['false', '0', 'no', 'off'])

/** Checks a value that the application gave as an option. */
export function checkOption(kind: OptionKind, value: unknown): Checked {
  return checked(fromValue(kind, value), () => expectation(kind))
}

/** Reads a value from the text of an environment variable. */
export function readVariable(kind: OptionKind, written: string): Checked {
  return checked(fromVariable(kind, written.trim()), () => textExpectation(kind))
}

function checked(value: Value | undefined, expected: () => string): Checked {
  return value === undefined ? { ok: false, expected: expected() } : { ok: true, value }
}

function fromValue(kind: OptionKind, value: unknown): Value | undefined {
  switch (kind.type) {
    case 'integer':
      return typeof value === 'number' ? inRange(value, kind) : undefined
    case 'flag':
      return typeof value === 'boolean' ? value : undefined
    case 'redaction':
      return checkRedaction(value)
    case 'line-window':
      return checkLineWindow(kind, value)
    case 'level-shares':
      return checkLevelShares(value)
    case 'function':
      return typeof value === 'function' ? (value as Listener) : undefined
    default:
      return typeof value === 'string' && isValidText(kind, value) ? value : undefined
  }
}

function fromVariable(kind: OptionKind, text: string): Value | undefined {
  switch (kind.type) {
    case 'integer':
      return /^[+-]?\d+$/.test(text) ? inRange(Number(text), kind) : undefined
    case 'flag': {
      const word = text.toLowerCase()
      return yes.has(word) || (no.has(word) ? false : undefined)
    }
    case 'line-window':
      return readLineWindow(kind, text)
    case 'level-shares':
      return readLevelShares(text)
    default:
      return isValidText(kind, text) ? text : undefined
  }
}

function isValidText(kind: OptionKind, text: string): boolean {
  switch (kind.type) {
    case 'choice':
      return kind.values.includes(text)
    case 'name':
      return isPathSegment(text)
    case 'secret':
      return isSecretText(text)
    case 'url':
      return isBaseUrl(text)
    default:
      return true
  }
}

function isBaseUrl(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text) || /[?#]/.test(text)) return false
  const { username, password } = new URL(text)
  return username === '' && password === ''
}

function inRange(value: number, { min, max }: OptionKind & { type: 'integer' }): number | undefined {
  return Number.isInteger(value) && value >= min && value <= max ? value : undefined
}

function expectation(kind: OptionKind): string {
  switch (kind.type) {
    case 'text':
      return 'a text'
    case 'name':
      return 'a name that can stand in a URL: visible characters, not "." or ".."'
    case 'secret':
      return 'a text of visible ASCII characters'
    case 'url':
      return 'an http: or https: URL without credentials and query'
    case 'flag':
      return 'true or false'
    case 'integer':
      return `a whole number from ${kind.min} to ${kind.max}`
    case 'choice':
      return kind.values.map((value) => `"${value}"`).join(' or ')
    case 'redaction':
      return redactionExpected
    case 'line-window':
      return lineWindowExpected(kind)
    case 'level-shares':
      return levelSharesExpected
    case 'function':
      return 'a function'
  }
}

function textExpectation(kind: OptionKind): string {
  if (kind.type === 'line-window') return lineWindowTextExpected(kind)
  return kind.type === 'level-shares' ? levelSharesTextExpected : expectation(kind)
}

/** An option in the form that people see. Secrets are redacted. */
export interface DescribedOption {
  readonly name: OptionName
  /** The value as JSON; `none` if there is none; `function` for a function. */
  readonly value: string
  /** Origin of the value: see {@link Sources}. */
  readonly source: string
}

/** Every option with its value and its source, in the order of the names. `bucket` is left out: the lanes' buckets show it. */
export function describeOptions(options: ResolvedOptions, sources: Sources): DescribedOption[] {
  const names = [...optionNames].sort().filter((name) => name !== 'bucket') as Exclude<OptionName, 'bucket'>[]
  return names.map((name) => {
    const value = options[name]
    const isNone = value === undefined || value === '' || (value instanceof Secret && value.reveal() === '')
    const shown = isNone ? 'none' : typeof value === 'function' ? 'function' : JSON.stringify(value)
    // A lane without a bucket of its own has the option `bucket`.
    const fallback = name.endsWith('Bucket') ? sources.bucket : undefined
    return { name, value: shown, source: sources[name] ?? fallback ?? 'default' }
  })
}
