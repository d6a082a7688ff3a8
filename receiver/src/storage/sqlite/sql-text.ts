/** What stands before a text that SQLite would not give back as it was. */
const mark = '\u0001'

/**
 * A text as SQLite can keep and compare it: its bindings end a text at a NUL, and UTF-8 has no half of a surrogate pair. Nearly
 * every text is itself; no two texts become one.
 */
export function toSqlText(text: string): string {
  const isKept = !text.includes('\0') && text.isWellFormed() && !text.startsWith(mark)
  return isKept ? text : mark + JSON.stringify(text)
}

/** The text that `toSqlText` was given. */
export function fromSqlText(kept: string): string {
  return kept.startsWith(mark) ? (JSON.parse(kept.slice(mark.length)) as string) : kept
}
