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
