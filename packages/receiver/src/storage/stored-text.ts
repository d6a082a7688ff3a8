/** Prefix of a text that SQLite could not return unchanged. */
const mark = '\u0001'

/**
 * Encodes a text so that SQLite stores and compares it exactly: the bindings cut a text at NUL, and UTF-8 has no lone surrogates. Nearly
 * every text stays as it is. Two texts never get the same encoding.
 */
export function toStoredText(text: string): string {
  const isKept = !text.includes('\0') && text.isWellFormed() && !text.startsWith(mark)
  return isKept ? text : mark + JSON.stringify(text)
}

/** The inverse of `toStoredText`. */
export function fromStoredText(kept: string): string {
  return kept.startsWith(mark) ? (JSON.parse(kept.slice(mark.length)) as string) : kept
}
