import { isError } from './is-error.js'

/** Longest text of one value, in characters. */
const maxChars = 1000

/** A text of any value, at most 1,000 characters long. Never throws, unlike `String`. */
export function textOf(value: unknown): string {
  try {
    const text = String(value)
    return text.length > maxChars ? `${text.slice(0, maxChars)}…` : text
  } catch {
    return 'a value that cannot be shown'
  }
}

/** The reason of a failure: the message of an error, or the text of any other thrown value. Never throws. */
export function reasonOf(thrown: unknown): string {
  try {
    return textOf(isError(thrown) ? thrown.message : thrown)
  } catch {
    return textOf(thrown)
  }
}

/** Why a file or a folder cannot be used, in words. Never throws. */
export function pathFault(
  thrown: unknown,
  { path, kind = 'file' }: { path: string; kind?: 'file' | 'folder' },
): string {
  const { code } = (thrown ?? {}) as { readonly code?: unknown }
  if (code === 'ENOENT' || (code === 'ENOTDIR' && kind === 'file')) return `there is no such ${kind}: ${path}`
  if (code === 'EISDIR') return `${path} is a folder, not a file`
  if (code === 'ENOTDIR' || code === 'EEXIST') return `${path} is not a folder`
  if (code === 'EACCES') return `permission denied: ${path}`
  // The message of the runtime has the path, which may be a secret that its caller does not show.
  return `cannot use ${path}: ${typeof code === 'string' ? code : reasonOf(thrown)}`
}

/** Longest string that an error message shows, in characters. */
const maxQuotedChars = 100

/** A wrong value, as an error message shows it: a string in quotes, a simple value as text, any other value by its type. Never throws. */
export function quoted(value: unknown): string {
  if (typeof value === 'string') {
    return JSON.stringify(value.length > maxQuotedChars ? `${value.slice(0, maxQuotedChars)}…` : value)
  }
  if (value === null || ['undefined', 'boolean', 'number'].includes(typeof value)) return String(value)
  return `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`
}

/** Longest printed line, in characters. */
const maxLineChars = 2000

/**
 * A text as one line that is safe to print, at most 2,000 characters long. Printed texts contain words of the service, of errors and of
 * files. These must not begin a new line, control the terminal or change the direction of writing.
 */
export function oneLine(text: string): string {
  // Cut before the replacement, so that the time does not grow with the text.
  const line = text.slice(0, 4 * maxLineChars).replace(unprintable, ' ')
  return line.length > maxLineChars ? `${line.slice(0, maxLineChars)}…` : line
}

/** Control characters (C0, DEL, C1), ends of lines and paragraphs, and marks that change the direction of writing. */
const unprintable = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu
