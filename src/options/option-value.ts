import type { SluiceError } from '../errors/sluice-error.js'
import { isPathSegment } from '../records/wire.js'
import type { OptionKind } from './defaults.js'
import { optionNames } from './defaults.js'
import type { OptionName, ResolvedOptions, Sources } from './options.js'
import { isSecretText, Secret } from './secret.js'

/** A checked value, or the words that say what was expected. */
export type Checked =
  | { readonly ok: true; readonly value: string | number | boolean | ((error: SluiceError) => void) }
  | { readonly ok: false; readonly expected: string }

const yes = new Set(['true', '1', 'yes', 'on'])
const no = new Set(['false', '0', 'no', 'off'])

/** Check a value that the application gave as an option. */
export function checkOption(kind: OptionKind, value: unknown): Checked {
  switch (kind.type) {
    case 'integer':
      return typeof value === 'number' ? inRange(value, kind) : { ok: false, expected: expectation(kind) }
    case 'flag':
      return typeof value === 'boolean' ? { ok: true, value } : { ok: false, expected: expectation(kind) }
    case 'function':
      return typeof value === 'function'
        ? { ok: true, value: value as (error: SluiceError) => void }
        : { ok: false, expected: expectation(kind) }
    default:
      return typeof value === 'string' ? readText(kind, value) : { ok: false, expected: expectation(kind) }
  }
}

/** Read a value from the text of an environment variable. */
export function readVariable(kind: OptionKind, written: string): Checked {
  const trimmed = written.trim()
  switch (kind.type) {
    case 'integer':
      return /^[+-]?\d+$/.test(trimmed) ? inRange(Number(trimmed), kind) : { ok: false, expected: expectation(kind) }
    case 'flag': {
      const word = trimmed.toLowerCase()
      if (yes.has(word)) return { ok: true, value: true }
      if (no.has(word)) return { ok: true, value: false }
      return { ok: false, expected: expectation(kind) }
    }
    default:
      return readText(kind, trimmed)
  }
}

function readText(kind: OptionKind, written: string): Checked {
  if (kind.type === 'choice' && !kind.values.includes(written)) return { ok: false, expected: expectation(kind) }
  if (kind.type === 'name' && !isPathSegment(written)) return { ok: false, expected: expectation(kind) }
  if (kind.type === 'secret' && !isSecretText(written)) return { ok: false, expected: expectation(kind) }
  if (kind.type === 'url') {
    const url = URL.canParse(written) ? new URL(written) : undefined
    if (
      url === undefined ||
      !/^https?:$/.test(url.protocol) ||
      url.username !== '' ||
      url.password !== '' ||
      /[?#]/.test(written)
    ) {
      return { ok: false, expected: expectation(kind) }
    }
  }
  return { ok: true, value: written }
}

function inRange(value: number, kind: OptionKind & { type: 'integer' }): Checked {
  return Number.isInteger(value) && value >= kind.min && value <= kind.max
    ? { ok: true, value }
    : { ok: false, expected: expectation(kind) }
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
    case 'function':
      return 'a function'
  }
}

/** An option as it is shown to people: secrets are redacted. */
export interface DescribedOption {
  readonly name: OptionName
  /** JSON of the value; `none` where there is none, `function` for one. */
  readonly value: string
  /** Where it came from. */
  readonly source: string
}

/** Every option with its value and its source, by name. What `bucket` says is told by the buckets of the lanes. */
export function describeOptions(options: ResolvedOptions, sources: Sources): DescribedOption[] {
  const names = [...optionNames].sort().filter((name) => name !== 'bucket') as Exclude<OptionName, 'bucket'>[]
  return names.map((name) => {
    const value = options[name]
    const isNone = value === undefined || value === '' || (value instanceof Secret && value.reveal() === '')
    const shown = isNone ? 'none' : typeof value === 'function' ? 'function' : JSON.stringify(value)
    // What no row of the table says of a lane comes from the bucket of both.
    const fallback = name.endsWith('Bucket') ? sources.bucket : undefined
    return { name, value: shown, source: sources[name] ?? fallback ?? 'default' }
  })
}
