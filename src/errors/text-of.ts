/** Longest text that is made of a value, in characters: it is read by people. */
const maxChars = 1000

/** A text of any value, at most 1,000 characters long. Never throws, though `String` does for many a value that can be thrown or logged. */
export function textOf(value: unknown): string {
  try {
    const text = String(value)
    return text.length > maxChars ? `${text.slice(0, maxChars)}…` : text
  } catch {
    return 'a value that cannot be shown'
  }
}

/** Why something failed: the message of an error, else the text of what was thrown. Never throws. */
export function reasonOf(thrown: unknown): string {
  try {
    return textOf(thrown instanceof Error ? thrown.message : thrown)
  } catch {
    return textOf(thrown)
  }
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

/** Most characters of one line. */
const maxLineChars = 2000

/**
 * A text as one line that is safe to print, at most 2,000 characters long: words of the service, of errors and of files come into what is
 * printed, and may begin no line of their own, steer no terminal, and change the order of no characters.
 */
export function oneLine(text: string): string {
  // The time this takes must not grow with the text: its rest is left out.
  const line = text.slice(0, 4 * maxLineChars).replace(unprintable, ' ')
  return line.length > maxLineChars ? `${line.slice(0, maxLineChars)}…` : line
}

/** Control characters (C0, DEL, C1), ends of lines and paragraphs, and marks that turn the direction of writing. */
const unprintable = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu
