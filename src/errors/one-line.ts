/** Most characters of one line. */
const maxChars = 2000

/**
 * A text as one line that is safe to print, at most 2,000 characters long: words of the service, of errors and of files come into what is
 * printed, and may begin no line of their own, steer no terminal, and change the order of no characters.
 */
export function oneLine(text: string): string {
  // The time this takes must not grow with the text: its rest is left out.
  const line = text.slice(0, 4 * maxChars).replace(unprintable, ' ')
  return line.length > maxChars ? `${line.slice(0, maxChars)}…` : line
}

/** Control characters (C0, DEL, C1), ends of lines and paragraphs, and marks that turn the direction of writing. */
const unprintable = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu
