import type { Redaction } from '../records/redactor.js'
import { type PatternName, patternNames } from '../records/secret-patterns.js'
import { ownFields } from '../runtime/own-fields.js'
import type { Kind, OptionVariable } from './option.js'

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
export const defaultRedactedKeys: readonly string[] = `
  authorization proxy-authorization cookie set-cookie credentials *password* passwd pwd passphrase
  *secret* *apikey* *api_key* *api-key* *privatekey* *private_key*
  token *_token *-token *accesstoken* *refreshtoken* *idtoken* *sessionid* *session_id*
  cardnumber card_number cvc cvv iban ssn`
  .trim()
  .split(/\s+/)

const maxKeys = 10_000
/** Each new name of a field is compared with each of them. */
const maxGlobs = 100
const maxKeyChars = 200
const maxMaskChars = 100

const names = patternNames.join(', ')
const globs = `in which * stands for any characters, in ${maxGlobs} of them at most`

/** Keys whose values are hidden, and patterns. */
export const redaction: Kind<RedactOption, Redaction> = {
  expected: `an object with keys (a list of names, ${globs}), patterns (a list of ${names}) or both, and perhaps a mask (1 to ${maxMaskChars} characters)`,
  check: checkRedaction,
  read: () => undefined,
  join: (parts) => ({
    keys: parts.flatMap(({ keys }) => keys),
    patterns: parts.flatMap(({ patterns }) => patterns),
    mask: defaultMask,
  }),
}

/** The variable with the keys. */
export function keysIn(name: string): OptionVariable {
  const expected = `names of keys with commas between them, ${globs}, or default`
  return { name, kind: { ...redaction, expected, read: (text) => checkRedaction({ keys: listed(text) }) } }
}

/** The variable with the patterns. */
export function patternsIn(name: string): OptionVariable {
  const expected = `names of patterns with commas between them: ${names}`
  return { name, kind: { ...redaction, expected, read: (text) => checkRedaction({ patterns: listed(text) }) } }
}

const defaultMask = '[redacted]'

/** The complete settings; undefined for an invalid option. */
function checkRedaction(value: unknown): Redaction | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { keys = [], patterns = [], mask = defaultMask, ...unknown } = ownFields(value as Record<string, unknown>)
  const isComplete = isListOf(keys, isKey) && isListOf(patterns, isPattern) && typeof mask === 'string'
  if (!isComplete || Object.keys(unknown).length > 0 || keys.length + patterns.length === 0) return undefined
  const globbed = keys.filter((key) => key.includes('*'))
  if (keys.length > maxKeys || globbed.length > maxGlobs || mask.length === 0 || mask.length > maxMaskChars)
    return undefined
  return { keys: keys.flatMap((key) => (key === 'default' ? defaultRedactedKeys : key)), patterns, mask }
}

function listed(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim())
  return names.filter((name) => name !== '')
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
