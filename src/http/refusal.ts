import type { ValidationError } from '../records/wire.js'
import { boundedText, boundedValue } from './bounded-value.js'

/** Of what the service says about one record, so much is kept: enough for a person, and safe for every reader. */
const maxErrors = 20
const maxNameLength = 200
const maxMessageLength = 500
const maxReasonLength = 1000
const attemptedBounds = { depth: 6, entries: 200, characters: 2000 }
const shownBounds = { depth: 3, entries: 20, characters: maxMessageLength }

/** The complaints of an answer about single fields, bounded. A service may put anything where a text is expected. */
export function readValidationErrors(value: unknown): ValidationError[] {
  if (!Array.isArray(value)) return []
  return value
    .filter(isValidationError)
    .slice(0, maxErrors)
    .map(({ name, attemptedValue, message }) => ({
      name: shown(name, maxNameLength),
      attemptedValue: boundedValue(attemptedValue, attemptedBounds),
      message: shown(message, maxMessageLength),
    }))
}

/** The words of the errors of an answer, one text for each, bounded. */
export function readErrors(value: unknown): string[] {
  if (!Array.isArray(value)) return []
  return value
    .slice(0, maxErrors)
    .map((error) => shown((error as { message?: unknown } | null)?.message ?? error, maxMessageLength))
}

/** Several complaints as one text. */
export function reasonOf(words: readonly string[]): string {
  return boundedText(words.join('; '), maxReasonLength)
}

function shown(value: unknown, most: number): string {
  const text = typeof value === 'string' ? value : JSON.stringify(boundedValue(value, shownBounds))
  return boundedText(text, most)
}

function isValidationError(value: unknown): value is { name: unknown; attemptedValue?: unknown; message: unknown } {
  return typeof value === 'object' && value !== null && 'name' in value && 'message' in value
}
