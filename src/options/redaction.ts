import type { Redaction } from '../records/redactor.js'
import { type PatternName, patternNames } from '../records/secret-patterns.js'
import { ownFields } from '../runtime/own-fields.js'

/** The option `redact`. */
export interface RedactOption {
  /**
   * Keys whose values are hidden at any depth of a line's fields, in any case; `*` stands for any characters. `default` stands for a list
   * of usual names. At most 10,000, of 200 characters each, and 100 with `*`.
   * @default none
   */
  readonly keys?: readonly string[] | undefined
  /** Texts that are hidden in message, fields and stack: `card`, `bearer`, `jwt`, `email`, `url-credentials`. @default none */
  readonly patterns?: readonly PatternName[] | undefined
  /** Stands in the place of what is hidden: 1 to 100 characters. @default '[redacted]' */
  readonly mask?: string | undefined
}

/** The keys that `default` stands for. */
export const defaultRedactedKeys: readonly string[] = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'credentials',
  '*password*',
  'passwd',
  'pwd',
  'passphrase',
  '*secret*',
  '*apikey*',
  '*api_key*',
  '*api-key*',
  '*privatekey*',
  '*private_key*',
  'token',
  '*_token',
  '*-token',
  '*accesstoken*',
  '*refreshtoken*',
  '*idtoken*',
  '*sessionid*',
  '*session_id*',
  'cardnumber',
  'card_number',
  'cvc',
  'cvv',
  'iban',
  'ssn',
]

const maxKeys = 10_000
/** Each new name of a field is compared with each of them. */
const maxGlobs = 100
const maxKeyChars = 200
const maxMaskChars = 100

export const redactionExpected = `an object with keys (a list of names, in which * stands for any characters, in ${maxGlobs} of them at most), patterns (a list of ${patternNames.join(', ')}) or both, and perhaps a mask (1 to ${maxMaskChars} characters)`
export const keysExpected = `names of keys with commas between them, in which * stands for any characters, in ${maxGlobs} of them at most, or default`
export const patternsExpected = `names of patterns with commas between them: ${patternNames.join(', ')}`

/** The complete settings; undefined for an invalid option. */
export function checkRedaction(value: unknown): Redaction | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { keys = [], patterns = [], mask = '[redacted]', ...unknown } = ownFields(value as Record<string, unknown>)
  const isComplete = isListOf(keys, isKey) && isListOf(patterns, isPattern) && typeof mask === 'string'
  if (!isComplete || Object.keys(unknown).length > 0 || keys.length + patterns.length === 0) return undefined
  const globs = keys.filter((key) => key.includes('*'))
  if (keys.length > maxKeys || globs.length > maxGlobs || mask.length === 0 || mask.length > maxMaskChars)
    return undefined
  return { keys: keys.flatMap((key) => (key === 'default' ? defaultRedactedKeys : key)), patterns, mask }
}

/** A list in a variable. */
export function listedNames(text: string): readonly string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

function isListOf<Item>(value: unknown, isItem: (item: unknown) => item is Item): value is readonly Item[] {
  return Array.isArray(value) && value.every(isItem)
}

function isKey(item: unknown): item is string {
  return typeof item === 'string' && item !== '' && item.length <= maxKeyChars
}

function isPattern(item: unknown): item is PatternName {
  return (patternNames as readonly unknown[]).includes(item)
}
